#include "import/chrome_time.h"

#include <string.h>

enum { NS_DIGITS = 3 }; /* decimals of a microsecond */

/* The decimal exponent at p ("e-12"), which must end the text. Returns false if something else is there. */
static bool time_exponent(const char *p, const char *end, int *exponent)
{
    *exponent = 0;
    if (p == end)
        return true;
    if ((*p | 0x20) != 'e')
        return false;
    p++;
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (p == end)
        return false;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        *exponent = *exponent < 1000 ? *exponent * 10 + (*p - '0') : *exponent;
    if (negative)
        *exponent = -*exponent;
    return p == end;
}

/* magnitude × 10^shift, cut off towards zero. */
static bool time_scale(uint64_t magnitude, int shift, uint64_t *result)
{
    for (; shift > 0 && magnitude; shift--)
        if (__builtin_mul_overflow(magnitude, 10u, &magnitude))
            return false;
    for (; shift < 0 && magnitude; shift++)
        magnitude /= 10;
    *result = magnitude;
    return true;
}

/* Takes the eight digits at p, if there are eight. */
static inline bool take_eight(const char *p, const char *end, uint64_t *digits)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t bytes;
    if (end - p < 8 || *digits >= UINT64_C(1000000000))
        return false;
    memcpy(&bytes, p, 8);
    bytes -= UINT64_C(0x3030303030303030);
    if ((bytes | (bytes + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080))
        return false;                  /* a byte below '0' or above '9' */
    bytes = bytes * 10 + (bytes >> 8); /* pairs, in every second byte */
    bytes = ((bytes & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
             (bytes >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
            32;
    *digits = *digits * 100000000 + bytes;
    return true;
#else
    (void)p, (void)end, (void)digits;
    return false;
#endif
}

bool chrome_time_ns(struct json_text text, int64_t *ns)
{
    const char *p = text.at, *end = p + text.length;
    bool negative = p < end && *p == '-';
    p += negative;
    uint64_t digits = 0;
    int shift = NS_DIGITS; /* what the digits must be multiplied with, as a power of ten */
    const char *first = p;
    while (take_eight(p, end, &digits))
        p += 8;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (digits < UINT64_C(1000000000000000000))
            digits = digits * 10 + (uint64_t)(*p - '0');
        else
            shift++;
    }
    size_t seen = (size_t)(p - first);
    if (p < end && *p == '.') {
        for (p++, first = p; p < end && *p >= '0' && *p <= '9'; p++) {
            if (digits < UINT64_C(1000000000000000000)) {
                digits = digits * 10 + (uint64_t)(*p - '0');
                shift--;
            }
        }
        seen += (size_t)(p - first);
    }
    int exponent;
    if (seen == 0 || !time_exponent(p, end, &exponent) || !time_scale(digits, shift + exponent, &digits) ||
        digits > INT64_MAX)
        return false;
    *ns = negative ? -(int64_t)digits : (int64_t)digits;
    return true;
}

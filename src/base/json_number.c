/* Numbers from decimal text, without the C library's locale. */
#include "base/json.h"

bool json_to_uint(struct json_text text, uint64_t *value)
{
    uint64_t sum = 0;
    if (text.length == 0 || text.length > 20)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned char)text.at[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(sum, 10u, &sum) || __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}

bool json_to_int(struct json_text text, int64_t *value)
{
    bool negative = text.length > 1 && *text.at == '-';
    uint64_t magnitude;
    if (!json_to_uint((struct json_text){text.at + negative, text.length - negative}, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *value = negative ? (int64_t)-magnitude : (int64_t)magnitude;
    return true;
}

/* Reads the decimal exponent at *p ("e-12"), if one is there. */
static int read_exponent(const char **p, const char *end)
{
    const char *e = *p;
    if (e == end || (*e | 0x20) != 'e')
        return 0;
    e++;
    bool negative = e < end && *e == '-';
    e += e < end && (*e == '-' || *e == '+');
    int exponent = 0;
    const char *digits = e;
    for (; e < end && *e >= '0' && *e <= '9'; e++)
        exponent = exponent < 10000 ? exponent * 10 + (*e - '0') : exponent;
    if (e > digits)
        *p = e;
    return negative ? -exponent : exponent;
}

/* Nineteen digits fit 64 bits, and with 64 bits of mantissa in a long double one multiplication or division
 * loses at most the last bit. */
bool json_to_double(struct json_text text, double *value)
{
    const char *p = text.at, *end = p + text.length;
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    uint64_t digits = 0;
    int scale = 0, seen = 0;
    bool point = false;
    for (; p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (*p < '0' || *p > '9')
            break;
        seen++;
        if (digits < 1000000000000000000u) {
            digits = digits * 10 + (uint64_t)(*p - '0');
            scale -= point;
        } else {
            scale += !point;
        }
    }
    scale += read_exponent(&p, end);
    if (seen == 0 || p != end)
        return false;
    long double result = (long double)digits, power = 10, factor = 1;
    for (unsigned n = (unsigned)(scale < 0 ? -scale : scale); n; n >>= 1, power *= power)
        factor *= n & 1 ? power : 1;
    if (digits)
        result = scale < 0 ? result / factor : result * factor;
    if (result > 1.7976931348623157e308L)
        return false;
    *value = (double)(negative ? -result : result);
    return true;
}

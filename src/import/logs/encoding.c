#include "import/logs/encoding.h"

#include <string.h>

#include "base/utf8.h"

/* In UTF-16 every other byte of text in Latin letters is zero. */
static void find_by_zeros(struct encoding *e, const char *head, size_t length)
{
    size_t even = 0, odd = 0, units = length / 2;
    for (size_t i = 0; i < 2 * units; i += 2) {
        even += head[i] == 0;
        odd += head[i + 1] == 0;
    }
    if (odd > units / 2 && even == 0)
        e->of = ENCODING_UTF16_LE;
    else if (even > units / 2 && odd == 0)
        e->of = ENCODING_UTF16_BE;
}

void encoding_find(struct encoding *e, const char *head, size_t length)
{
    static const struct {
        const char *mark;
        size_t length;
        int of;
    } marks[] = {{"\xef\xbb\xbf", 3, ENCODING_BYTES},
                 {"\xff\xfe", 2, ENCODING_UTF16_LE},
                 {"\xfe\xff", 2, ENCODING_UTF16_BE}};
    *e = (struct encoding){0};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (length >= marks[i].length && memcmp(head, marks[i].mark, marks[i].length) == 0) {
            e->of = marks[i].of;
            e->mark = marks[i].length;
            return;
        }
    find_by_zeros(e, head, length);
}

/* RFC 2781: 0xd800–0xdbff begin a pair that 0xdc00–0xdfff end; alone they are no character. */
static void add_unit(struct encoding *e, struct str *out, uint16_t unit)
{
    enum { HIGH = 0xd800, LOW = 0xdc00, KIND = 0xfc00, BEYOND = 0x10000 };
    if (e->high && (unit & KIND) == LOW) {
        utf8_add(out, BEYOND + ((uint32_t)(e->high & ~KIND) << 10 | (unit & ~KIND)));
        e->high = 0;
        return;
    }
    if (e->high)
        utf8_add(out, UTF8_REPLACEMENT);
    e->high = (unit & KIND) == HIGH ? unit : 0;
    if (!e->high)
        utf8_add(out, unit);
}

void encoding_decode(struct encoding *e, struct str *out, const char *data, size_t length)
{
    size_t skipped = e->mark < length ? e->mark : length;
    e->mark -= skipped;
    data += skipped;
    length -= skipped;
    if (e->of == ENCODING_BYTES) {
        str_add(out, data, length);
        return;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)data[i];
        if (e->has_half)
            add_unit(e, out,
                     (uint16_t)(e->of == ENCODING_UTF16_LE ? byte << 8 | e->half : e->half << 8 | byte));
        e->half = byte;
        e->has_half = !e->has_half;
    }
}

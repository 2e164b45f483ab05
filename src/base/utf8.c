#include "base/utf8.h"

#include <string.h>

/* The lead byte decides how many bytes follow and what the first of them may be, which rules out overlong
 * forms, surrogates and what lies above U+10FFFF (RFC 3629 section 4). */
struct lead {
    uint8_t following, low, high;
};

static struct lead lead_of(unsigned char byte)
{
    if (byte < 0xc2 || byte > 0xf4)
        return (struct lead){0, 0, 0};
    if (byte < 0xe0)
        return (struct lead){1, 0x80, 0xbf};
    if (byte < 0xf0)
        return (struct lead){2, byte == 0xe0 ? 0xa0 : 0x80, byte == 0xed ? 0x9f : 0xbf};
    return (struct lead){3, byte == 0xf0 ? 0x90 : 0x80, byte == 0xf4 ? 0x8f : 0xbf};
}

/* As utf8_decode(), but says UINT32_MAX for what is invalid, to tell it from a U+FFFD in the text. */
static uint32_t decode(const unsigned char *text, size_t length, size_t *used)
{
    *used = 1;
    if (text[0] < 0x80)
        return text[0];
    struct lead lead = lead_of(text[0]);
    if (lead.following == 0)
        return UINT32_MAX;
    uint32_t code = text[0] & (0x3fu >> lead.following);
    for (size_t i = 1; i <= lead.following; i++) {
        unsigned char low = i == 1 ? lead.low : 0x80, high = i == 1 ? lead.high : 0xbf;
        if (i == length || text[i] < low || text[i] > high)
            return UINT32_MAX;
        code = code << 6 | (text[i] & 0x3fu);
        *used = i + 1;
    }
    return code;
}

uint32_t utf8_decode(const char *text, size_t length, size_t *used)
{
    uint32_t code = decode((const unsigned char *)text, length, used);
    return code == UINT32_MAX ? UTF8_REPLACEMENT : code;
}

static size_t ascii_run(const char *text, size_t length)
{
    size_t at = 0;
    for (uint64_t word; length - at >= sizeof word; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        if (word & 0x8080808080808080u)
            break;
    }
    while (at < length && (unsigned char)text[at] < 0x80)
        at++;
    return at;
}

size_t utf8_valid(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        at += ascii_run(text + at, length - at);
        size_t used = 0;
        if (at < length && decode((const unsigned char *)text + at, length - at, &used) == UINT32_MAX)
            break;
        at += used;
    }
    return at;
}

void utf8_add(struct str *out, uint32_t code)
{
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        code = UTF8_REPLACEMENT;
    if (code < 0x80) {
        str_putc(out, (char)code);
        return;
    }
    int following = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    char bytes[4] = {(char)(0x7f80u >> following | code >> 6 * following)};
    for (int i = 1; i <= following; i++)
        bytes[i] = (char)(0x80 | (code >> 6 * (following - i) & 0x3f));
    str_add(out, bytes, (size_t)following + 1);
}

void utf8_repair(struct str *out, const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        size_t good = utf8_valid(text + at, length - at);
        str_add(out, text + at, good);
        at += good;
        if (at == length)
            break;
        size_t used;
        utf8_decode(text + at, length - at, &used);
        utf8_add(out, UTF8_REPLACEMENT);
        at += used;
    }
}

/* What to show for a code point that a terminal would obey rather than show. */
static uint32_t visible(uint32_t code)
{
    if (code < 0x20)
        return 0x2400 + code; /* the control pictures, in the order of the controls */
    if (code == 0x7f)
        return 0x2421;
    bool c1 = code >= 0x80 && code < 0xa0;
    bool separator = code == 0x2028 || code == 0x2029;
    bool direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return c1 || separator || direction ? UTF8_REPLACEMENT : code;
}

void utf8_visible(struct str *out, const char *text, size_t length)
{
    for (size_t at = 0, used; at < length; at += used)
        utf8_add(out, visible(utf8_decode(text + at, length - at, &used)));
}

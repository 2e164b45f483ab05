#include "import/unit.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

struct spelling {
    const char *text;
    const char *base;
    double factor;
};

static const struct spelling times[] = {
    {"ns", "ns", 1},    {"nsecond", "ns", 1},   {"us", "ns", 1e3},   {"usecond", "ns", 1e3},
    {"ms", "ns", 1e6},  {"msecond", "ns", 1e6}, {"s", "ns", 1e9},    {"second", "ns", 1e9},
    {"sec", "ns", 1e9}, {"msec", "ns", 1e6},    {"usec", "ns", 1e3}, {"nsec", "ns", 1},
};

/* Those that take a prefix. */
static const struct spelling scaled[] = {
    {"byte", "byte", 1}, {"bytes", "byte", 1}, {"hz", "hz", 1}, {"cycle", "cycle", 1}, {"cycles", "cycle", 1},
};

enum { TIMES = sizeof times / sizeof *times, SCALED = sizeof scaled / sizeof *scaled };

static bool is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

static double prefix_factor(char c)
{
    static const char prefixes[] = "KMGTP";
    const char *at = c ? strchr(prefixes, c & ~0x20) : NULL;
    double factor = 1;
    for (; at && at >= prefixes; at--)
        factor *= 1e3;
    return at || factor > 1 ? factor : 0;
}

/* One side of a quotient. Case matters only where a prefix could be meant: "ms" is no megasecond. */
static double part_to_base(const char *text, size_t length, const char **base)
{
    for (int i = 0; i < TIMES; i++) {
        if (is(text, length, times[i].text)) {
            *base = times[i].base;
            return times[i].factor;
        }
    }
    for (int i = 0; i < SCALED; i++) {
        double prefix = is(text, length, scaled[i].text)                         ? 1
                        : length > 1 && is(text + 1, length - 1, scaled[i].text) ? prefix_factor(*text)
                                                                                 : 0;
        if (prefix > 0) {
            *base = scaled[i].base;
            return prefix;
        }
    }
    *base = NULL;
    return 1;
}

static void put(char out[UNIT_TEXT_BYTES], const char *text, size_t length)
{
    size_t used = strlen(out);
    length = length < UNIT_TEXT_BYTES - 1 - used ? length : UNIT_TEXT_BYTES - 1 - used;
    memcpy(out + used, text, length);
    out[used + length] = '\0';
}

double unit_to_base(const char *text, size_t length, char base[UNIT_TEXT_BYTES])
{
    base[0] = '\0';
    if (length == 0 || is(text, length, "-"))
        return 1;
    const char *slash = memchr(text, '/', length);
    size_t over_length = slash ? (size_t)(slash - text) : length;
    const char *over, *under = NULL;
    double factor = part_to_base(text, over_length, &over);
    if (!slash) {
        put(base, over ? over : text, over ? strlen(over) : length);
        return factor;
    }
    size_t under_length = length - over_length - 1;
    factor /= part_to_base(slash + 1, under_length, &under);
    if (under && strcmp(under, "ns") == 0) { /* rates are per second, though times are in ns */
        under = "s";
        factor *= 1e9;
        if (over && strcmp(over, "cycle") == 0) {
            put(base, "hz", 2);
            return factor;
        }
    }
    put(base, over ? over : text, over ? strlen(over) : over_length);
    put(base, "/", 1);
    put(base, under ? under : slash + 1, under ? strlen(under) : under_length);
    return factor;
}

/* What loggers put in front of a kernel message. */
#include <stdio.h>
#include <string.h>

#include "import/logs/readers.h"

#define NS_PER_S INT64_C(1000000000)
enum { PREFIX_MAX = 160 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Two digits at at. */
static int two(const char *at)
{
    return is_digit(at[0]) && is_digit(at[1]) ? (at[0] - '0') * 10 + at[1] - '0' : -1;
}

/* Day of a date within some year: good enough for differences of minutes. 0: no date. */
static int64_t day_of(const char *text, size_t length)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (size_t i = 0; i + 10 <= length; i++)
        if (text[i + 4] == '-' && text[i + 7] == '-' && two(text + i + 5) > 0 && two(text + i + 8) > 0)
            return two(text + i + 5) * 31 + two(text + i + 8);
    for (size_t i = 0; i + 5 < length; i++)
        for (int month = 0; month < 12; month++)
            if (memcmp(text + i, months + (ptrdiff_t)3 * month, 3) == 0 && text[i + 3] == ' ') {
                const char *at = text + i + 4;
                int day = *at == ' ' && is_digit(at[1]) ? at[1] - '0' : two(at);
                return (month + 1) * 31 + (day > 0 ? day : 0);
            }
    return 0;
}

/* The first "HH:MM:SS" of a text, with its date. */
static int64_t clock_ns(const char *text, size_t length)
{
    for (size_t i = 0; i + 8 <= length; i++) {
        if (text[i + 2] != ':' || text[i + 5] != ':')
            continue;
        int h = two(text + i), m = two(text + i + 3), s = two(text + i + 6);
        if (h >= 0 && m >= 0 && s >= 0)
            return (((day_of(text, length) * 24 + h) * 60 + m) * 60 + s) * NS_PER_S;
    }
    return UNKNOWN;
}

/* "  171.620114" → ns; UNKNOWN if it is anything else. */
static int64_t uptime_ns(const char *text, size_t length)
{
    int64_t seconds = 0, fraction = 0, unit = NS_PER_S;
    size_t i = 0;
    while (i < length && text[i] == ' ')
        i++;
    if (i == length || !is_digit(text[i]))
        return UNKNOWN;
    for (int digits = 0; i < length && is_digit(text[i]); i++, digits++) {
        if (digits == 9)
            return UNKNOWN;
        seconds = seconds * 10 + text[i] - '0';
    }
    if (i == length || text[i++] != '.')
        return UNKNOWN;
    for (; i < length && is_digit(text[i]); i++)
        if (unit > 1) {
            unit /= 10;
            fraction += unit * (text[i] - '0');
        }
    return i == length ? seconds * NS_PER_S + fraction : UNKNOWN;
}

static void skip(struct log_line *line, size_t bytes)
{
    line->body += bytes;
    line->body_length -= bytes;
    while (line->body_length > 0 && *line->body == ' ') {
        line->body++;
        line->body_length--;
    }
}

static void set_time(struct log_line *line, const char *text, size_t length, int64_t ns)
{
    while (length > 0 && *text == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    line->time = text;
    line->time_length = length;
    line->time_ns = ns;
}

/* "[ 4909.920112] " or "[Sun Feb 23 16:24:18 2025] ". */
static void take_bracket(struct log_line *line)
{
    enum { BRACKET_MAX = 40 };
    if (line->body_length < 3 || *line->body != '[')
        return;
    size_t room = line->body_length < BRACKET_MAX ? line->body_length : BRACKET_MAX;
    const char *end = memchr(line->body, ']', room);
    if (!end)
        return;
    size_t length = (size_t)(end - line->body) - 1;
    int64_t ns = uptime_ns(line->body + 1, length);
    if (ns == UNKNOWN)
        ns = clock_ns(line->body + 1, length);
    if (ns == UNKNOWN)
        return;
    if (line->time_length == 0)
        set_time(line, line->body + 1, length, ns);
    line->is_kernel = true;
    skip(line, length + 2);
}

/* "kern  :err   : 2025-01-21T04:41:44,283302+00:00 " of dmesg -x. */
static void take_facility(struct log_line *line)
{
    if (line->body_length < 16 || memcmp(line->body, "kern ", 5) != 0 || line->body[6] != ':')
        return;
    const char *colon = memchr(line->body + 7, ':', line->body_length < 20 ? line->body_length - 7 : 13);
    if (!colon)
        return;
    line->is_kernel = true;
    skip(line, (size_t)(colon - line->body) + 1);
    const char *space = memchr(line->body, ' ', line->body_length);
    size_t length = space ? (size_t)(space - line->body) : 0;
    if (length > 0 && clock_ns(line->body, length) != UNKNOWN) {
        set_time(line, line->body, length, clock_ns(line->body, length));
        skip(line, length);
    }
}

/* "May  6 00:38:27 node7 kernel: ", whatever the language of the month. */
static void take_syslog(struct log_line *line)
{
    static const char mark[] = " kernel: ";
    size_t room = line->body_length < PREFIX_MAX ? line->body_length : PREFIX_MAX;
    const char *at = room ? memmem(line->body, room, mark, strlen(mark)) : NULL;
    if (!at)
        return;
    size_t before = (size_t)(at - line->body);
    const char *space = before ? memrchr(line->body, ' ', before) : NULL;
    if (space) {
        line->host = space + 1;
        line->host_length = (size_t)(at - line->host);
        set_time(line, line->body, (size_t)(space - line->body),
                 clock_ns(line->body, (size_t)(space - line->body)));
    }
    line->is_kernel = true;
    skip(line, before + strlen(mark));
}

/* What drivers put in front of their messages, for logs without times (dmesg -t). */
static bool is_kernel_body(const struct log_line *line)
{
    static const char *const drivers[] = {
        "NVRM:", "nvidia ", "nvidia-nvswitch", "pcieport ", "AER:", "[drm", "amdgpu ",
        "i915 ", "xe ",     "nouveau ",        "PM: "};
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        size_t length = strlen(drivers[i]);
        if (line->body_length > length && memcmp(line->body, drivers[i], length) == 0)
            return true;
    }
    return false;
}

/* A number, and the character that ends it. */
static bool take_number(const char **at, const char *end, char stop, int64_t *value)
{
    enum { DIGITS_MAX = 15 };
    const char *start = *at;
    *value = 0;
    for (; *at < end && is_digit(**at); (*at)++) {
        if (*at - start == DIGITS_MAX)
            return false;
        *value = *value * 10 + **at - '0';
    }
    return *at > start && *at < end && *(*at)++ == stop;
}

size_t log_line_from_kmsg(char *out, size_t size, const char *text, size_t length)
{
    enum { HEAD_MAX = 96 };
    const int64_t million = 1000000;
    const char *at = text, *end = text + length;
    int64_t priority, number, us;
    if (!take_number(&at, end, ',', &priority) || !take_number(&at, end, ',', &number) ||
        !take_number(&at, end, ',', &us))
        return 0;
    size_t head = (size_t)(end - at) < HEAD_MAX ? (size_t)(end - at) : HEAD_MAX;
    const char *body = memchr(at, ';', head);
    if (!body)
        return 0;
    body++;
    int written = snprintf(out, size, "[%5lld.%06lld] %.*s", (long long)(us / million),
                           (long long)(us % million), (int)(end - body), body);
    return written < 0 ? 0 : (size_t)written < size ? (size_t)written : size - 1;
}

void log_line_parse(struct log_line *line, const char *text, size_t length)
{
    *line = (struct log_line){
        .text = text, .length = length, .body = text, .body_length = length, .time_ns = UNKNOWN};
    if (length > 3 && text[0] == '<' && is_digit(text[1]) && text[2] == '>')
        skip(line, 3);
    take_facility(line);
    take_syslog(line);
    take_bracket(line);
    line->is_kernel |= is_kernel_body(line);
}

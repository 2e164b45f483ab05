#include "know/xid_line.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 96, CODE_DIGITS = 6, DEVICE_MOST = 60 };

struct cursor {
    const char *at, *end;
};

static bool take(struct cursor *c, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

static bool take_number(struct cursor *c, int64_t *number)
{
    int digits = 0;
    *number = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (++digits > CODE_DIGITS)
            return false;
        *number = *number * 10 + (*c->at - '0');
    }
    return digits > 0;
}

static void copy(char *out, size_t size, const char *text, size_t length)
{
    length = length < size - 1 ? length : size - 1;
    memcpy(out, text, length);
    out[length] = '\0';
}

/* "(PCI:0000:3B:00 GPU-I:05)" → "0000:3b:00 GPU-I:05". The address is lower case everywhere in the answer. */
static bool take_device(struct cursor *c, char *device, size_t size)
{
    struct cursor inner = *c;
    const char *close = memchr(c->at, ')', (size_t)(c->end - c->at));
    if (!close || close - c->at > DEVICE_MOST || !take(&inner, "("))
        return false;
    inner.end = close;
    take(&inner, "PCI:");
    copy(device, size, inner.at, (size_t)(close - inner.at));
    for (char *p = device; *p && *p != ' '; p++)
        if (*p >= 'A' && *p <= 'F')
            *p += 'a' - 'A';
    c->at = close + 1;
    return true;
}

/* "pid=4711, name=python3, "; a name may hold ':', '[' and blanks, and ends at ", ". */
static void take_process(struct cursor *c, char *process, size_t size)
{
    int64_t pid = -1;
    if (take(c, "pid=")) {
        take(c, "'");
        if (!take_number(c, &pid))
            pid = -1;
        const char *comma = memmem(c->at, (size_t)(c->end - c->at), ", ", 2);
        if (comma)
            c->at = comma + 2;
    }
    if (!take(c, "name="))
        return;
    const char *comma = memmem(c->at, (size_t)(c->end - c->at), ", ", 2);
    size_t length = (size_t)((comma ? comma : c->end) - c->at);
    if (length > 0 && *c->at != '<') {
        char name[NAME_BYTES];
        copy(name, sizeof name, c->at, length);
        if (pid >= 0)
            snprintf(process, size, "%s (%lld)", name, (long long)pid);
        else
            snprintf(process, size, "%s", name);
    }
    c->at = comma ? comma + 2 : c->end;
}

static bool holds(struct cursor c, const char *word)
{
    return c.at < c.end && memmem(c.at, (size_t)(c.end - c.at), word, strlen(word)) != NULL;
}

/* Lines two and three of an SXid only describe it. */
static bool is_continuation(struct cursor c)
{
    return take(&c, "Severity ") || take(&c, "Data {");
}

/* "Graphics SM Warp Exception on (GPC 0, TPC 2, SM 0): …", "Graphics SM Global Exception on …" and "Graphics
 * Exception: ESR 0x…=…" come before "Graphics Exception: channel …" (or "ChID …"). */
static bool is_part(int64_t code, struct cursor c)
{
    return code == XID_GRAPHICS_EXCEPTION && (holds(c, " Exception on (GPC") || holds(c, "Exception: ESR "));
}

bool xid_line_parse(const char *text, size_t length, struct xid_line *out)
{
    enum { SHORTEST = 8 };
    *out = (struct xid_line){0};
    if (!text || length < SHORTEST)
        return false;
    const char *at = memmem(text, length, "Xid", 3);
    if (!at)
        return false;
    bool is_driver = memmem(text, (size_t)(at - text), "NVRM", 4) != NULL;
    struct cursor c = {at + 3, text + length};
    out->is_switch = at > text && at[-1] == 'S';
    take(&c, " ");
    bool has_device = take_device(&c, out->device, sizeof out->device);
    if ((!has_device && !is_driver) || !take(&c, ": ") || !take_number(&c, &out->code) ||
        (has_device && !strchr(out->device, ':')))
        return false;
    take(&c, ", ");
    out->is_continuation = out->is_switch && is_continuation(c);
    take_process(&c, out->process, sizeof out->process);
    out->is_part = !out->is_switch && is_part(out->code, c);
    out->is_mild = holds(c, "Nonfatal");
    out->is_consequence = holds(c, "caused by previous Xid");
    return true;
}

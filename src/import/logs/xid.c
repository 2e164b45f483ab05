/* Xid and SXid lines, from "NVRM: Xid (0000:02:00): 13, …" of 2013 to MIG suffixes:
 *
 *     NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 94, pid=7194, name=python3, Contained: …
 *     nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 …
 */
#include <stdio.h>
#include <string.h>

#include "import/logs/readers.h"

enum { ID_MAX = 32, NAME_MAX_BYTES = 96, CODE_DIGITS = 6 };

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
    if (!close || close - c->at > 60 || !take(&inner, "("))
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
        char name[NAME_MAX_BYTES];
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

static void add(struct logs *logs, const struct log_line *line, struct sighting *found, const char *follows)
{
    char time[64];
    copy(time, sizeof time, line->time_length ? line->time : "", line->time_length);
    found->first = line->time_length ? time : NULL;
    found->first_ns = line->time_ns;
    found->in_kernel_log = true;
    found->source = logs->source;
    found->is_consequence = logs_is_explained(logs, follows, found->id, found->device, line->time_ns);
    char text[LOGBOOK_TEXT_MAX];
    copy(text, sizeof text, line->text, line->length);
    logbook_add(logs->book, found, &(struct place){logs->file, line->number, text});
    logs->kinds |= 1u << KIND_KERNEL;
}

bool logs_xid(struct logs *logs, const struct log_line *line)
{
    if (line->body_length < 8)
        return false;
    const char *at = memmem(line->body, line->body_length, "Xid", 3);
    if (!at)
        return false;
    bool is_switch = at > line->body && at[-1] == 'S';
    bool is_driver = memmem(line->body, (size_t)(at - line->body), "NVRM", 4) != NULL;
    struct cursor c = {at + 3, line->body + line->body_length};
    char device[64] = "", process[128] = "", id[ID_MAX];
    take(&c, " ");
    bool has_device = take_device(&c, device, sizeof device);
    int64_t code;
    if ((!has_device && !is_driver) || !take(&c, ": ") || !take_number(&c, &code) ||
        (has_device && !strchr(device, ':')))
        return false;
    take(&c, ", ");
    if (is_switch && is_continuation(c))
        return true;
    take_process(&c, process, sizeof process);
    snprintf(id, sizeof id, "%s-%lld", is_switch ? "sxid" : "xid", (long long)code);
    const struct know_xid *known = is_switch ? NULL : know_xid_find(code);
    struct sighting found = {
        .kind = is_switch ? SIGHTING_SXID : SIGHTING_XID,
        .id = id,
        .code = code,
        .device = *device ? device : NULL,
        .process = *process ? process : NULL,
        .is_mild = holds(c, "Nonfatal"),
    };
    bool says_so = holds(c, "caused by previous Xid");
    add(logs, line, &found, says_so ? "*" : known ? known->follows : "");
    return true;
}

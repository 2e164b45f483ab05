/* Xid and SXid lines as sightings. */
#include <stdio.h>
#include <string.h>

#include "import/logs/readers.h"
#include "know/xid_line.h"

enum { ID_MAX = 32 };

static void copy(char *out, size_t size, const char *text, size_t length)
{
    length = length < size - 1 ? length : size - 1;
    memcpy(out, text, length);
    out[length] = '\0';
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
    struct xid_line xid;
    char id[ID_MAX];
    if (!xid_line_parse(line->body, line->body_length, &xid))
        return false;
    if (xid.is_continuation)
        return true;
    snprintf(id, sizeof id, "%s-%lld", xid.is_switch ? "sxid" : "xid", (long long)xid.code);
    const struct know_xid *known = xid.is_switch ? NULL : know_xid_find(xid.code);
    struct sighting found = {
        .kind = xid.is_switch ? SIGHTING_SXID : SIGHTING_XID,
        .id = id,
        .code = xid.code,
        .device = *xid.device ? xid.device : NULL,
        .process = *xid.process ? xid.process : NULL,
        .is_mild = xid.is_mild,
        .is_part = xid.is_part,
    };
    add(logs, line, &found, xid.is_consequence ? "*" : known ? known->follows : "");
    return true;
}

#include "know/xid_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "know/know.h"

static const char prefix[] = "Xid ";

void xid_text_add(struct str *out, int64_t code, const char *process)
{
    const struct know_xid *known = know_xid_find(code);
    str_addf(out, "%s%" PRId64 "%s%s%s%s", prefix, code, known ? ": " : "", known ? known->en : "",
             process[0] ? ", " : "", process);
}

bool xid_text_parse(const char *text, int64_t *code, const char **process)
{
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *number = text + sizeof prefix - 1;
    char *end;
    long long value = strtoll(number, &end, 10);
    if (end == number || value < 0 || (*end && *end != ':' && *end != ','))
        return false;
    const char *comma = strrchr(end, ',');
    bool has_process = comma && comma[1] == ' ' && text_ends_with(comma, strlen(comma), ")");
    *code = value;
    *process = has_process ? comma + 2 : "";
    return true;
}

/* nvidia-smi -q as text and as XML: values with a path of keys, judged by data/know/smi.tsv. Keys are told
 * apart by their whole path (the same names stand in several sections), never by column; renames over the
 * years are rows of the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/logs/readers.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

void smi_normalise(char *out, size_t size, const char *text, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < size && text[i] != '['; i++) {
        char c = lower(text[i]);
        bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (c == '.')
            c = '/'; /* of query names */
        else if (!word)
            c = '_';
        if (c == '_' && (used == 0 || out[used - 1] == '_'))
            continue;
        out[used++] = c;
    }
    while (used > 0 && out[used - 1] == '_')
        used--;
    out[used] = '\0';
}

/* ---- rules --------------------------------------------------------------------------------------------- */

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), size = strlen(end);
    return length >= size && strcmp(path + length - size, end) == 0 &&
           (length == size || path[length - size - 1] == '/');
}

/* "Not Active" and "not_active" are the same. */
static bool same_value(const char *value, const char *wanted)
{
    char normal[64];
    smi_normalise(normal, sizeof normal, value, strlen(value));
    return strcmp(normal, wanted) == 0;
}

/* The path of which this one's last part differs as the rule says. */
static const struct smi_value *other_value(const struct smi_state *smi, const char *path)
{
    for (size_t i = smi->recent_count; i > 0; i--)
        if (ends_with(smi->recent[i - 1].path, path))
            return &smi->recent[i - 1];
    return NULL;
}

static bool is_number(const char *value)
{
    return (*value >= '0' && *value <= '9') || (*value == '-' && value[1] >= '0' && value[1] <= '9');
}

static bool rule_fires(const struct smi_state *smi, const struct know_smi *rule, const char *value)
{
    const struct smi_value *other;
    switch (rule->test[0]) {
    case 'i': /* is */
        return same_value(value, rule->value);
    case 'n': /* not */
        return !same_value(value, rule->value);
    case 'o': /* over */
        return is_number(value) && strtoll(value, NULL, 10) > strtoll(rule->value, NULL, 10);
    case 'u': /* under */
        return is_number(value) && strtoll(value, NULL, 10) < strtoll(rule->value, NULL, 10);
    case 'l': /* less */
        other = other_value(smi, rule->value);
        return other && is_number(value) && is_number(other->value) &&
               strtoll(value, NULL, 10) < strtoll(other->value, NULL, 10);
    case 'd': /* differs */
        other = other_value(smi, rule->value);
        return other && strcmp(value, other->value) != 0;
    default:
        return false;
    }
}

static void judge_bits(struct logs *logs, const struct log_line *line, const char *value, const char *shown)
{
    uint64_t bits = value[0] == '0' && lower(value[1]) == 'x' ? strtoull(value, NULL, 16) : 0;
    for (size_t i = 0; i < know_throttle_count; i++)
        if (bits & (uint64_t)know_throttles[i].bit && *know_throttles[i].sign)
            logs_add_sign(logs, line, know_throttles[i].sign, logs->smi.device, shown);
}

static void remember(struct smi_state *smi, const char *path, const char *value)
{
    enum { HALF = SMI_RECENT / 2 };
    if (smi->recent_count == SMI_RECENT) { /* the older half goes */
        memcpy(smi->recent, smi->recent + HALF, HALF * sizeof *smi->recent);
        smi->recent_count = HALF;
    }
    struct smi_value *slot = &smi->recent[smi->recent_count++];
    snprintf(slot->path, sizeof slot->path, "%s", path);
    snprintf(slot->value, sizeof slot->value, "%s", value);
}

void smi_judge(struct logs *logs, const struct log_line *line, const char *path, const char *value)
{
    bool absent = !*value || *value == '[' || strncmp(value, "N/A", 3) == 0 || strcmp(value, "-") == 0;
    remember(&logs->smi, path, value);
    if (absent)
        return;
    char shown[LOGBOOK_TEXT_MAX];
    const char *device = logs->smi.device;
    snprintf(shown, sizeof shown, "%s%s%s: %s", device, *device ? " " : "", path, value);
    for (size_t i = 0; i < know_smi_count; i++) {
        const struct know_smi *rule = &know_smis[i];
        if (!ends_with(path, rule->path))
            continue;
        if (rule->test[0] == 'b')
            judge_bits(logs, line, value, shown);
        else if (rule_fires(&logs->smi, rule, value))
            logs_add_sign(logs, line, rule->sign, device, shown);
    }
}

/* ---- the path ------------------------------------------------------------------------------------------ */

static void push(struct smi_state *smi, int indent, const char *key, size_t length)
{
    while (smi->depth > 0 && smi->stack[smi->depth - 1].indent >= indent)
        smi->depth--;
    if (smi->depth == SMI_DEPTH)
        return;
    smi->stack[smi->depth].indent = indent;
    smi_normalise(smi->stack[smi->depth].key, sizeof smi->stack[0].key, key, length);
    smi->depth++;
}

static void join_path(const struct smi_state *smi, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < smi->depth && used + 1 < size; i++) {
        int written = snprintf(out + used, size - used, "%s%s", i ? "/" : "", smi->stack[i].key);
        used += written > 0 ? (size_t)written : 0;
    }
}

static void take_value(struct logs *logs, const struct log_line *line, const char *text, size_t length)
{
    char path[SMI_PATH], value[64];
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\r'))
        length--;
    length = length < sizeof value - 1 ? length : sizeof value - 1;
    memcpy(value, text, length);
    value[length] = '\0';
    join_path(&logs->smi, path, sizeof path);
    smi_judge(logs, line, path, value);
}

static void begin_gpu(struct smi_state *smi, const char *id, size_t length)
{
    length = length < sizeof smi->device - 1 ? length : sizeof smi->device - 1;
    memcpy(smi->device, id, length);
    smi->device[length] = '\0';
    smi->depth = 0;
    smi->recent_count = 0;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static bool begins(const struct log_line *line, const char *word)
{
    size_t length = strlen(word);
    return line->length >= length && memcmp(line->text, word, length) == 0;
}

/* "GPU 00000000:3B:00.0" */
static bool is_gpu_header(const struct log_line *line)
{
    enum { LONGEST = 24 };
    return begins(line, "GPU ") && line->length <= LONGEST && memchr(line->text, ':', line->length) &&
           memchr(line->text, '.', line->length);
}

static void text_line(struct logs *logs, const struct log_line *line)
{
    struct smi_state *smi = &logs->smi;
    size_t length = line->length;
    while (length > 0 && (line->text[length - 1] == '\r' || line->text[length - 1] == ' '))
        length--;
    if (length == 0)
        return;
    if (is_gpu_header(line)) {
        begin_gpu(smi, line->text + 4, length - 4);
        return;
    }
    int indent = 0;
    while ((size_t)indent < length && line->text[indent] == ' ')
        indent++;
    const char *key = line->text + indent;
    size_t rest = length - (size_t)indent;
    const char *colon = memmem(key, rest, " : ", 3);
    if (!colon && indent == 0) {
        smi->mode = SMI_NONE; /* something else follows */
        return;
    }
    push(smi, indent, key, colon ? (size_t)(colon - key) : rest);
    if (colon)
        take_value(logs, line, colon + 3, rest - (size_t)(colon + 3 - key));
}

/* ---- XML ----------------------------------------------------------------------------------------------- */

static void xml_open(struct smi_state *smi, const char *tag, size_t length)
{
    size_t name = 0;
    while (name < length && tag[name] != ' ' && tag[name] != '/')
        name++;
    if (name == 3 && memcmp(tag, "gpu", 3) == 0) {
        const char *id = memmem(tag, length, "id=\"", 4);
        const char *quote = id ? memchr(id + 4, '"', length - (size_t)(id + 4 - tag)) : NULL;
        begin_gpu(smi, id ? id + 4 : "", quote ? (size_t)(quote - id - 4) : 0);
    } else {
        push(smi, smi->depth + 1, tag, name);
    }
}

static void xml_line(struct logs *logs, const struct log_line *line)
{
    struct smi_state *smi = &logs->smi;
    const char *at = line->text, *end = line->text + line->length;
    while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        const char *close = memchr(at, '>', (size_t)(end - at));
        if (!close)
            break;
        const char *tag = at + 1;
        size_t length = (size_t)(close - tag);
        at = close + 1;
        if (length == 0 || *tag == '?' || *tag == '!')
            continue;
        if (*tag == '/') {
            smi->depth -= smi->depth > 0;
            if (length > 14 && memcmp(tag, "/nvidia_smi_log", 15) == 0)
                smi->mode = SMI_NONE;
            continue;
        }
        xml_open(smi, tag, length);
        const char *next = at < end ? memchr(at, '<', (size_t)(end - at)) : NULL;
        if (close[-1] == '/')
            smi->depth -= smi->depth > 0;
        else if (next && next > at && next + 1 < end && next[1] == '/')
            take_value(logs, line, at, (size_t)(next - at));
    }
}

void logs_smi(struct logs *logs, const struct log_line *line)
{
    struct smi_state *smi = &logs->smi;
    if (begins(line, "==============NVSMI LOG")) {
        *smi = (struct smi_state){.mode = SMI_TEXT};
        logs->kinds |= 1u << KIND_SMI_TEXT;
        return;
    }
    if (line->length >= 15 && memmem(line->text, line->length, "<nvidia_smi_log>", 16)) {
        *smi = (struct smi_state){.mode = SMI_XML};
        logs->kinds |= 1u << KIND_SMI_XML;
    }
    if (smi->mode == SMI_NONE && is_gpu_header(line)) {
        *smi = (struct smi_state){.mode = SMI_TEXT};
        logs->kinds |= 1u << KIND_SMI_TEXT;
    }
    if (smi->mode == SMI_TEXT)
        text_line(logs, line);
    else if (smi->mode == SMI_XML)
        xml_line(logs, line);
    else
        logs_smi_rows(logs, line);
}

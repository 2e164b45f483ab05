/* Texts that identify a problem (data/know/signs.tsv and the names in cuda_errors.tsv), wherever they stand.
 */
#include <string.h>

#include "base/mem.h"
#include "import/logs/readers.h"

#define EXPLAINED_NS (INT64_C(300) * 1000000000)
enum { STARS_PER_LINE = 64 }; /* patterns with a gap that are tried: each looks REACH bytes ahead */
enum { PATTERNS_MAX = 1024, HEADS = 65536, SIGNS_PER_LINE = 8, NO_PATTERN = UINT16_MAX, REACH = 1024 };

struct pattern {
    const char *text;
    size_t length;
    const char *sign;
    uint16_t next; /* with the same two first bytes */
};

struct sign_index {
    struct pattern patterns[PATTERNS_MAX];
    uint16_t count;
    uint16_t heads[HEADS];
};

static size_t head_of(const char *text)
{
    return (size_t)(unsigned char)text[0] << 8 | (unsigned char)text[1];
}

static void add_pattern(struct sign_index *index, const char *text, size_t length, const char *sign)
{
    if (length < 2 || index->count >= PATTERNS_MAX)
        return;
    uint16_t *head = &index->heads[head_of(text)];
    index->patterns[index->count] = (struct pattern){text, length, sign, *head};
    *head = index->count++;
}

struct sign_index *sign_index_new(void)
{
    struct sign_index *index = mem_alloc(sizeof *index);
    index->count = 0;
    memset(index->heads, 0xff, sizeof index->heads);
    for (size_t i = 0; i < know_sign_count; i++) {
        const char *list = know_signs[i].patterns, *pattern;
        size_t length;
        while (know_pattern_next(&list, &pattern, &length))
            add_pattern(index, pattern, length, know_signs[i].id);
    }
    for (size_t i = 0; i < know_error_count; i++)
        if (*know_errors[i].sign)
            add_pattern(index, know_errors[i].runtime_name, strlen(know_errors[i].runtime_name),
                        know_errors[i].sign);
    return index;
}

void sign_index_free(struct sign_index *index)
{
    free(index);
}

/* Events of parts of one GPU, and an event that names no GPU, belong together. */
static bool same_device(const char *a, const char *b)
{
    return !a || !b || strncmp(a, b, strcspn(a, " .")) == 0;
}

bool logs_is_explained(const struct logs *logs, const char *follows, const char *id, const char *device,
                       int64_t time_ns)
{
    const char *asked = ""; /* events of one kind on many devices follow each other: they have one answer */
    bool listed = false;
    if (!*follows)
        return false;
    vec_each (&logs->book->sightings, before) {
        if (!before->in_kernel_log || before->source != logs->source)
            continue;
        if (strcmp(before->id, asked) != 0) {
            asked = before->id;
            listed = *follows == '*' ? before->kind == SIGHTING_XID && strcmp(before->id, id) != 0
                                     : know_list_has(follows, before->id);
        }
        if (!listed)
            continue;
        /* Ports and switches have addresses of their own. */
        bool here = before->kind != SIGHTING_XID || same_device(before->device, device);
        bool recent = before->last_ns == UNKNOWN || time_ns == UNKNOWN ||
                      (time_ns >= before->last_ns && time_ns - before->last_ns <= EXPLAINED_NS);
        if (here && recent)
            return true;
    }
    return false;
}

void logs_add_sign(struct logs *logs, const struct log_line *line, const char *id, const char *device,
                   const char *text)
{
    const struct know_sign *sign = know_sign_find(id);
    char time[64] = "", shown[LOGBOOK_TEXT_MAX];
    size_t length = line->length < sizeof shown - 1 ? line->length : sizeof shown - 1;
    memcpy(shown, line->text, length);
    shown[length] = '\0';
    length = line->time_length < sizeof time - 1 ? line->time_length : sizeof time - 1;
    if (length > 0)
        memcpy(time, line->time, length);
    struct sighting found = {
        .kind = SIGHTING_SIGN,
        .id = id,
        .device = device && *device ? device : NULL,
        .in_kernel_log = line->is_kernel,
        .first = *time ? time : NULL,
        .first_ns = line->time_ns,
        .source = logs->source,
    };
    if (sign && line->is_kernel)
        found.is_consequence = logs_is_explained(logs, sign->follows, id, NULL, line->time_ns);
    logbook_add(logs->book, &found, &(struct place){logs->file, line->number, text ? text : shown});
}

void logs_signs(struct logs *logs, const struct log_line *line)
{
    const char *seen[SIGNS_PER_LINE];
    int count = 0, stars = 0;
    for (size_t i = 0; i + 1 < line->body_length && count < SIGNS_PER_LINE; i++) {
        const char *at = line->body + i;
        size_t rest = line->body_length - i < REACH ? line->body_length - i : REACH; /* of a '*' */
        for (uint16_t p = logs->index->heads[head_of(at)]; p != NO_PATTERN;
             p = logs->index->patterns[p].next) {
            const struct pattern *pattern = &logs->index->patterns[p];
            const char *star = memchr(pattern->text, '*', pattern->length);
            size_t first = star ? (size_t)(star - pattern->text) : pattern->length;
            if (first > rest || memcmp(at, pattern->text, first) != 0 ||
                (star && stars++ >= STARS_PER_LINE) ||
                !know_pattern_matches(pattern->text, pattern->length, at, rest))
                continue;
            bool again = count >= SIGNS_PER_LINE;
            for (int s = 0; s < count; s++)
                again |= strcmp(seen[s], pattern->sign) == 0;
            if (again)
                continue;
            seen[count++] = pattern->sign;
            logs_add_sign(logs, line, pattern->sign, NULL, NULL);
        }
    }
    logs_oom(logs, line);
    if (line->is_kernel)
        logs->kinds |= 1u << KIND_KERNEL;
}

/* What nsys itself had to say about the recording. */
#include <ctype.h>
#include <string.h>

#include "base/i18n.h"
#include "import/nsys.h"

static const char *const loss_words[] = {"dropped", "lost", "discarded", "overwritten"};
/* What must be lost for it to matter: not a connection. */
static const char *const data_words[] = {"event", "record",  "sample", "buffer",
                                         "data",  "activit", "trace",  "packet"};

static bool holds_any(const char *text, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcasestr(text, words[i]))
            return true;
    return false;
}

/* A number that stands alone, from at on; -1 if none. "12.4%" and "libcupti.so.12" are none. */
static int64_t number_at(const char *text, const char *at)
{
    if (at > text && !isspace((unsigned char)at[-1]) && !strchr("(:=[", at[-1]))
        return -1;
    int64_t value = 0;
    const char *p = at;
    for (; isdigit((unsigned char)*p); p++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p - '0', &value))
            return -1;
    if (p == at || (*p == '.' && isdigit((unsigned char)p[1])) || isalpha((unsigned char)*p) || *p == '%')
        return -1;
    return value;
}

/* How many records a message says were lost: the number nearest to the word, 1 if it gives none; -1 if it
 * does not speak of loss. */
static int64_t records_lost(const char *text)
{
    const char *word = NULL;
    for (int i = 0; !word && i < NSYS_COUNT(loss_words); i++)
        word = strcasestr(text, loss_words[i]);
    if (!word || !holds_any(text, data_words, NSYS_COUNT(data_words)))
        return -1;
    int64_t best = 1;
    size_t best_distance = SIZE_MAX;
    for (const char *at = text; *at; at++) {
        int64_t value = number_at(text, at);
        size_t distance = (size_t)(at < word ? word - at : at - word);
        if (value >= 0 && distance < best_distance) {
            best = value;
            best_distance = distance;
        }
    }
    return best;
}

void nsys_read_diagnostics(struct nsys *n)
{
    static const char *const columns[] = {"timestamp", "text"};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "DIAGNOSTIC_EVENT", columns, NSYS_COUNT(columns)))
        return;
    while (nsys_scan_next(&scan)) {
        struct mark mark = {.kind = MARK_DIAGNOSTIC, .thread = NONE, .device = NONE};
        mark.text = nsys_name(n, &scan, 1);
        if (!nsys_time(n, &scan, 0, &mark.time))
            continue;
        int64_t lost = records_lost(run_text(n->run, mark.text));
        if (lost > 0) {
            mark.kind = MARK_LOST;
            int64_t *dropped = &n->run->losses.dropped;
            *dropped = lost > INT64_MAX - *dropped ? INT64_MAX : *dropped + lost;
        }
        vec_push(&n->run->marks, mark);
    }
}

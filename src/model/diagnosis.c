#include "model/diagnosis.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

void diagnosis_release(struct diagnosis *d)
{
    vec_each (&d->checks, check)
        vec_release(&check->evidence);
    vec_release(&d->checks);
    vec_release(&d->events);
    vec_release(&d->sources);
    arena_release(&d->arena);
}

struct words diagnosis_words(struct diagnosis *d, const char *msgid, ...)
{
    struct str plain = {0}, local = {0};
    va_list args;
    va_start(args, msgid);
    str_vaddf(&plain, msgid, args);
    va_end(args);
    va_start(args, msgid);
    str_vaddf(&local, _(msgid), args);
    va_end(args);
    struct words words = {arena_text(&d->arena, str_text(&plain), plain.len),
                          arena_text(&d->arena, str_text(&local), local.len)};
    str_release(&plain);
    str_release(&local);
    return words;
}

struct words diagnosis_plain(struct diagnosis *d, const char *msgid)
{
    return (struct words){diagnosis_text(d, msgid), diagnosis_text(d, _(msgid))};
}

const char *diagnosis_text(struct diagnosis *d, const char *text)
{
    return arena_text(&d->arena, text, strlen(text));
}

struct check *diagnosis_check(struct diagnosis *d, const char *id, enum check_status status,
                              double confidence_ratio)
{
    struct check *check = vec_new(&d->checks);
    check->id = id;
    check->status = status;
    check->confidence_ratio = confidence_ratio;
    return check;
}

void diagnosis_evidence(struct diagnosis *d, struct check *check, const char *where, const char *text)
{
    if (check->evidence.count >= CHECK_EVIDENCE_MAX) {
        check->evidence_left_out++;
        return;
    }
    struct evidence *evidence = vec_new(&check->evidence);
    evidence->where = where ? diagnosis_text(d, where) : NULL;
    evidence->text = diagnosis_text(d, text);
}

static int rank(const struct check *check)
{
    static const int ranks[] = {[CHECK_FAIL] = 0, [CHECK_WARN] = 1, [CHECK_UNKNOWN] = 2, [CHECK_OK] = 3};
    return ranks[check->status];
}

/* Stable, and the lists are short. */
void diagnosis_sort(struct diagnosis *d)
{
    for (size_t i = 1; i < d->checks.count; i++) {
        struct check moved = d->checks.at[i];
        size_t to = i;
        for (; to > 0; to--) {
            const struct check *before = &d->checks.at[to - 1];
            bool goes_first =
                rank(&moved) < rank(before) ||
                (rank(&moved) == rank(before) && moved.confidence_ratio > before->confidence_ratio);
            if (!goes_first)
                break;
            d->checks.at[to] = *before;
        }
        d->checks.at[to] = moved;
    }
}

size_t diagnosis_count(const struct diagnosis *d, enum check_status status)
{
    size_t count = 0;
    vec_each (&d->checks, check)
        count += check->status == status;
    return count;
}

int64_t event_since_boot(const char *time)
{
    enum { SECONDS_MAX = 9, FRACTION = 6 };
    const int64_t second = 1000000000, microsecond = 1000;
    char *end;
    if (!time)
        return UNKNOWN;
    size_t whole = strspn(time, "0123456789"), fraction = 0;
    if (whole == 0 || whole > SECONDS_MAX || time[whole] != '.')
        return UNKNOWN;
    fraction = strspn(time + whole + 1, "0123456789");
    if (fraction != FRACTION || time[whole + 1 + fraction] != '\0')
        return UNKNOWN;
    int64_t seconds = strtoll(time, &end, 10);
    return seconds * second + strtoll(end + 1, NULL, 10) * microsecond;
}

const char *check_status_name(enum check_status status)
{
    static const char *const names[] = {"ok", "warn", "fail", "unknown"};
    return names[status];
}

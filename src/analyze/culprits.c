#include <ctype.h>
#include <string.h>

#include "analyze/gaps.h"
#include "model/native_name.h"
#include "model/sampled.h"

void culprit_index_init(struct culprit_index *index, struct report *report)
{
    *index = (struct culprit_index){.report = report};
    index->generic = mem_zalloc(report->run->strings.count, sizeof *index->generic);
}

/* "step 12" and "step 13" are one culprit: digits become '*'. */
static const char *generic_name(struct culprit_index *index, uint32_t name)
{
    if (index->generic[name])
        return index->generic[name];
    struct str text = {0};
    for (const char *c = run_text(index->report->run, name); *c;) {
        if (isdigit((unsigned char)*c)) {
            str_putc(&text, '*');
            c += strspn(c, "0123456789");
        } else {
            str_putc(&text, *c++);
        }
    }
    uint64_t hash = hash_bytes(str_text(&text), text.len);
    uint32_t first = map_get(&index->generic_ids, hash);
    if (first == MAP_ABSENT) {
        index->generic[name] = arena_text(&index->report->arena, str_text(&text), text.len);
        map_set(&index->generic_ids, hash, name);
    } else {
        index->generic[name] = index->generic[first];
    }
    str_release(&text);
    return index->generic[name];
}

static uint32_t name_of(const struct run *run, uint32_t span)
{
    return span == NONE ? 0 : run->spans.name[span];
}

static bool same_part(const struct culprit_part *a, const struct culprit_part *b)
{
    return a->row == b->row && a->kind == b->kind && a->value == b->value;
}

static bool same_culprit(const struct culprit_row *a, const struct culprit_row *b)
{
    return a->device == b->device && a->cause == b->cause && a->thread == b->thread && a->call == b->call &&
           a->operator_ == b->operator_ && a->frame == b->frame && a->annotation == b->annotation;
}

/* ---- what a culprit spent its time on ------------------------------------------------------------------ */

/* Every sum is kept, as the one that is largest in the end need not have half of the time. */
static void add_part(struct culprit_index *index, uint32_t row, size_t kind, uint32_t value, int64_t ns)
{
    struct culprit_part part = {.row = row, .kind = (uint32_t)kind, .value = value};
    uint64_t key = hash_pair((uint64_t)part.kind << 32 | row, value);
    uint32_t at;
    while ((at = map_get(&index->part_of, key)) != MAP_ABSENT && !same_part(&index->parts.at[at], &part))
        key++;
    if (at == MAP_ABSENT) {
        at = (uint32_t)index->parts.count;
        map_set(&index->part_of, key, at);
        vec_push(&index->parts, part);
    }
    struct culprit_part *found = &index->parts.at[at];
    struct most_of *most = (struct most_of *)((char *)&index->report->culprits.at[row] + kind);
    found->ns += ns;
    if (found->ns > most->ns)
        *most = (struct most_of){value, found->ns};
}

static uint32_t library_of(struct culprit_index *index, uint32_t function)
{
    const char *name = run_text(index->report->run, function);
    uint64_t hash = hash_bytes(name, native_name_object(name));
    uint32_t first = map_get(&index->library_ids, hash);
    if (first != MAP_ABSENT)
        return first;
    map_set(&index->library_ids, hash, function);
    return function;
}

/* The native function that ran within the frame; 0 if that is all that is known. */
static uint32_t inside_of(const struct run *run, const struct gap_piece *piece)
{
    if (piece->native == NONE)
        return 0;
    uint32_t inside = run->spans.detail[piece->native];
    return inside ? inside : piece->native != piece->frame ? run->spans.name[piece->native] : 0;
}

static void add_parts(struct culprit_index *index, uint32_t row, const struct gap_piece *piece)
{
    const struct run *run = index->report->run;
    int64_t length = piece->end - piece->start;
    uint32_t inside = inside_of(run, piece);
    if (piece->line)
        add_part(index, row, offsetof(struct culprit_row, line), piece->line, length);
    if (piece->call != NONE && span_is_sampled(&run->spans, piece->call))
        add_part(index, row, offsetof(struct culprit_row, file), run->spans.detail[piece->call], length);
    if (inside) {
        add_part(index, row, offsetof(struct culprit_row, inside), inside, length);
        add_part(index, row, offsetof(struct culprit_row, library), library_of(index, inside), length);
    }
}

/* ---- adding -------------------------------------------------------------------------------------------- */

/* Pieces come in the order of time, and what follows on another of its row is of the same stretch. */
static void add_stretch(struct culprit_index *index, uint32_t at, struct interval piece)
{
    struct culprit_row *row = &index->report->culprits.at[at];
    bool goes_on = row->count && index->last_row == at && index->last.end == piece.start;
    index->last = (struct interval){goes_on ? index->last.start : piece.start, piece.end};
    index->last_row = at;
    row->count += !goes_on;
    row->total_ns += piece.end - piece.start;
    if (index->last.end - index->last.start > row->longest_ns) {
        row->longest_ns = index->last.end - index->last.start;
        row->longest_at = index->last.start;
    }
}

void culprit_add(struct culprit_index *index, const struct gap_piece *piece)
{
    struct report *report = index->report;
    const struct run *run = report->run;
    struct culprit_row row = {.device = piece->device,
                              .cause = piece->cause,
                              .thread = piece->thread,
                              .call = name_of(run, piece->call),
                              .operator_ = name_of(run, piece->operator_),
                              .frame = name_of(run, piece->frame)};
    if (piece->annotation != NONE)
        row.annotation = generic_name(index, run->spans.name[piece->annotation]);
    uint64_t key = hash_pair(
        hash_pair((uint64_t)row.device << 8 | row.cause, row.thread),
        hash_pair((uint64_t)row.call << 32 | row.operator_, hash_pair(row.frame, (uintptr_t)row.annotation)));
    uint32_t at;
    while ((at = map_get(&index->rows, key)) != MAP_ABSENT && !same_culprit(&report->culprits.at[at], &row))
        key++;
    if (at == MAP_ABSENT) {
        at = (uint32_t)report->culprits.count;
        map_set(&index->rows, key, at);
        vec_push(&report->culprits, row);
    }
    add_stretch(index, at, (struct interval){piece->start, piece->end});
    add_parts(index, at, piece);
}

int culprit_by_total(const void *a, const void *b)
{
    const struct culprit_row *left = a, *right = b;
    if (left->total_ns != right->total_ns)
        return left->total_ns < right->total_ns ? 1 : -1;
    return (left->longest_at > right->longest_at) - (left->longest_at < right->longest_at);
}

/* Python frames are named "train.py(30): main", with the line that the function begins at. */
static void find_code(struct report *report, struct culprit_row *row)
{
    const char *frame = run_text(report->run, row->frame), *end = strstr(frame, "): "), *digits = end;
    int64_t line = 0;
    while (digits && digits > frame && isdigit((unsigned char)digits[-1]))
        digits--;
    if (!digits || digits == end || end - digits > 9 || digits < frame + 2 || digits[-1] != '(')
        return;
    for (const char *c = digits; c < end; c++)
        line = line * 10 + (*c - '0');
    row->code_file = arena_text(&report->arena, frame, (size_t)(digits - 1 - frame));
    row->code_line = row->line.value ? row->line.value : line;
}

/* Of a function, the name; of functions that have none or share the time, the library. */
static void find_mostly_in(struct report *report, struct culprit_row *row)
{
    const char *function = run_text(report->run, row->inside.value),
               *any = run_text(report->run, row->library.value);
    if (row->inside.ns > row->total_ns / 2 && native_name_function(function))
        row->mostly_in = function;
    else if (row->library.ns > row->total_ns / 2)
        row->mostly_in = arena_text(&report->arena, any, native_name_object(any));
}

void culprit_index_finish(struct culprit_index *index)
{
    struct report *report = index->report;
    vec_each (&report->culprits, row) {
        find_code(report, row);
        find_mostly_in(report, row);
    }
    if (report->culprits.count)
        qsort(report->culprits.at, report->culprits.count, sizeof *report->culprits.at, culprit_by_total);
    map_release(&index->rows);
    map_release(&index->generic_ids);
    vec_release(&index->parts);
    map_release(&index->part_of);
    map_release(&index->library_ids);
    free(index->generic);
}

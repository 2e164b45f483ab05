/* Call stacks: one row a frame, in any order. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "import/nsys.h"

enum { FRAMES_MAX = 512, FRAME_BYTES_MAX = 1024, STACK_BYTES_MAX = 64 * 1024 };

struct frame {
    int64_t stack, depth;
    uint32_t text;
};

static int by_stack_and_depth(const void *a, const void *b)
{
    const struct frame *left = a, *right = b;
    if (left->stack != right->stack)
        return left->stack < right->stack ? -1 : 1;
    return (left->depth > right->depth) - (left->depth < right->depth);
}

/* Appends text, made safe for a list that ';' separates. */
static void add_escaped(struct str *out, const char *text)
{
    for (; *text && out->len < FRAME_BYTES_MAX; text++)
        str_putc(out, *text == ';' ? ',' : *text);
}

/* A frame as text: the function; for an address without a symbol library!0xADDRESS. */
static uint32_t frame_text(struct nsys *n, struct nsys_scan *scan, struct str *scratch)
{
    enum { SYMBOL = 1, MODULE, UNRESOLVED, ADDRESS };
    int64_t symbol;
    str_cut(scratch, 0);
    bool named = nsys_scan_int(scan, SYMBOL, &symbol) == CELL_INT &&
                 map_get(&n->strings, (uint64_t)symbol) != MAP_ABSENT;
    bool resolved = named && nsys_scan_int_or(scan, UNRESOLVED, 0) == 0;
    if (!resolved) {
        const char *module = run_text(n->run, nsys_name(n, scan, MODULE));
        const char *slash = strrchr(module, '/');
        add_escaped(scratch, slash ? slash + 1 : module);
        if (scratch->len)
            str_putc(scratch, '!');
    }
    if (named)
        add_escaped(scratch, run_text(n->run, nsys_name(n, scan, SYMBOL)));
    else
        str_addf(scratch, "0x%llx", (unsigned long long)nsys_scan_int_or(scan, ADDRESS, 0));
    size_t length = scratch->len < FRAME_BYTES_MAX ? scratch->len : FRAME_BYTES_MAX;
    return intern_add(&n->run->strings, str_text(scratch), length);
}

struct map nsys_read_stacks(struct nsys *n, const char *table)
{
    static const char *const columns[] = {"id", "symbol", "module", "unresolved", "originalIP", "stackDepth"};
    struct map stacks = {0};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, table, columns, NSYS_COUNT(columns)))
        return stacks;
    VEC(struct frame) frames = {0};
    struct str text = {0};
    while (nsys_scan_next(&scan)) {
        struct frame frame = {.depth = nsys_scan_int_or(&scan, 5, 0)};
        if (nsys_scan_int(&scan, 0, &frame.stack) != CELL_INT)
            continue;
        frame.text = frame_text(n, &scan, &text);
        vec_push(&frames, frame);
    }
    if (frames.count)
        qsort(frames.at, frames.count, sizeof *frames.at, by_stack_and_depth);
    for (size_t first = 0, next; first < frames.count; first = next) {
        str_cut(&text, 0);
        for (next = first; next < frames.count && frames.at[next].stack == frames.at[first].stack; next++) {
            if (next - first >= FRAMES_MAX || text.len >= STACK_BYTES_MAX)
                continue;
            if (next > first)
                str_putc(&text, ';');
            str_puts(&text, run_text(n->run, frames.at[next].text));
        }
        map_set(&stacks, (uint64_t)frames.at[first].stack,
                intern_add(&n->run->strings, str_text(&text), text.len));
    }
    str_release(&text);
    vec_release(&frames);
    return stacks;
}

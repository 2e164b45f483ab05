#include "analyze/sweep.h"

/* Ops are sorted by start, so whether some op of a class runs at t is whether t lies before the latest end of
 * the class seen so far: three running maxima take the place of interval lists. */
enum op_class { CLASS_COMPUTE, CLASS_COMM, CLASS_COPY, CLASS_COUNT };

void comm_names_init(struct comm_names *names, const struct run *run)
{
    *names = (struct comm_names){.run = run, .known = mem_zalloc(run->strings.count, sizeof *names->known)};
}

void comm_names_release(struct comm_names *names)
{
    free(names->known);
    *names = (struct comm_names){0};
}

bool op_is_comm(struct comm_names *names, uint32_t op)
{
    const struct op_table *ops = &names->run->ops;
    if (ops->kind[op] == OP_COPY || ops->kind[op] == OP_MEMSET)
        return false;
    if (ops->comm[op] != NONE)
        return true;
    uint8_t *known = &names->known[ops->name[op]];
    if (ops->kind[op] == OP_KERNEL && *known == 0)
        *known = kernel_classify(run_text(names->run, ops->name[op])).is_comm ? 2 : 1;
    return ops->kind[op] == OP_KERNEL && *known == 2;
}

static enum op_class class_of(struct comm_names *names, uint32_t op)
{
    uint8_t kind = names->run->ops.kind[op];
    return kind == OP_COPY || kind == OP_MEMSET ? CLASS_COPY
           : op_is_comm(names, op)              ? CLASS_COMM
                                                : CLASS_COMPUTE;
}

static enum account account_of(const bool runs[CLASS_COUNT])
{
    if (!runs[CLASS_COMPUTE])
        return runs[CLASS_COMM] ? ACCOUNT_COMM : ACCOUNT_COPY;
    return runs[CLASS_COMM]   ? ACCOUNT_COMPUTE_COMM
           : runs[CLASS_COPY] ? ACCOUNT_COMPUTE_COPY
                              : ACCOUNT_COMPUTE;
}

void sweep_device(struct comm_names *names, uint32_t device, struct interval window,
                  void (*emit)(void *context, const struct sweep_stretch *stretch), void *context)
{
    const struct run *run = names->run;
    struct op_range range = ops_in_window(run, device, window);
    int64_t now = window.start, busy_until[CLASS_COUNT];
    for (int c = 0; c < CLASS_COUNT; c++)
        busy_until[c] = window.start;
    for (uint32_t op = range.first; op <= range.end; op++) {
        bool last = op == range.end;
        if (!last && !op_in_window(run->ops.start[op], run->ops.end[op], window))
            continue;
        struct interval part = last ? (struct interval){window.end, window.end} : op_clip(run, op, window);
        while (now < part.start) { /* nothing starts before part.start */
            struct sweep_stretch stretch = {.start = now, .end = part.start, .next_op = last ? NONE : op};
            bool runs[CLASS_COUNT];
            for (int c = 0; c < CLASS_COUNT; c++) {
                runs[c] = busy_until[c] > now;
                stretch.busy |= runs[c];
                stretch.end = runs[c] ? min_ns(stretch.end, busy_until[c]) : stretch.end;
            }
            if (stretch.busy)
                stretch.account = account_of(runs);
            emit(context, &stretch);
            now = stretch.end;
        }
        if (!last) {
            enum op_class class = class_of(names, op);
            busy_until[class] = max_ns(busy_until[class], part.end);
        }
    }
}

#include "model/graphs.h"

#include <stdlib.h>

enum { LAUNCH_WHOLE, LAUNCH_TWICE };

static uint64_t launch_key(const struct run *run, size_t op)
{
    return hash_pair(run->streams.at[run->ops.stream[op]].process, run->ops.correlation[op]);
}

/* Every launch that was recorded as one. */
static struct map find_whole(const struct run *run)
{
    struct map launches = {0};
    for (size_t i = 0; i < run->ops.count; i++)
        if (run->ops.kind[i] == OP_GRAPH && run->ops.correlation[i] != 0)
            map_set(&launches, launch_key(run, i), LAUNCH_WHOLE);
    return launches;
}

void graphs_drop_doubles(struct run *run)
{
    struct op_table *ops = &run->ops;
    struct map launches = find_whole(run);
    bool any = false;
    for (size_t i = 0; i < ops->count && launches.count; i++) {
        if (ops->kind[i] == OP_GRAPH || ops->graph[i] == 0 ||
            map_get(&launches, launch_key(run, i)) == MAP_ABSENT)
            continue;
        map_set(&launches, launch_key(run, i), LAUNCH_TWICE);
        any = true;
    }
    if (any) {
        uint32_t *order = mem_resize(NULL, ops->count, sizeof *order);
        size_t kept = 0;
        for (size_t i = 0; i < ops->count; i++)
            if (ops->kind[i] != OP_GRAPH || map_get(&launches, launch_key(run, i)) != LAUNCH_TWICE)
                order[kept++] = (uint32_t)i;
        ops->count = kept;
        op_table_permute(ops, order);
        free(order);
    }
    map_release(&launches);
}

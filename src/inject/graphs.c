/* How launches of CUDA graphs are recorded: each of their nodes, which costs the program some hundred
 * nanoseconds a node, or a launch as one, which costs next to nothing but says nothing about what runs in it.
 *
 * Unless told otherwise, nodes first, so that it is known what the graphs are made of; whole graphs after
 * that. There is no way back: where whole graphs have been selected, CUPTI does not return to nodes.
 *
 * Source: CUPTI_ACTIVITY_KIND_GRAPH_TRACE in cupti_activity.h of CUDA 13.5. */
#include <time.h>

#include "capture/activity.h"
#include "inject/recorder.h"

/* From the first node seen on: enough launches of what a program repeats. */
static const int64_t nodes_ns = 2000 * INT64_C(1000000);
enum { MOST_NODES = 500 * 1000 };

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void select_whole(struct recorder *r)
{
    if (r->cupti.ActivityEnable(ACTIVITY_GRAPH) == CUPTI_OK) /* else nodes go on: CUPTI before 11.7 */
        atomic_store_explicit(&r->ring->whole_graphs_ns, clock_ns(CLOCK_REALTIME), memory_order_release);
}

static bool are_whole(const struct recorder *r)
{
    return atomic_load_explicit(&r->ring->whole_graphs_ns, memory_order_acquire) != 0;
}

void graphs_enable(struct recorder *r)
{
    if (are_whole(r))
        r->cupti.ActivityEnable(ACTIVITY_GRAPH);
    else if (r->options.graph_whole)
        select_whole(r);
}

void graphs_disable(struct recorder *r)
{
    if (are_whole(r))
        r->cupti.ActivityDisable(ACTIVITY_GRAPH);
}

void graphs_saw(struct recorder *r, uint64_t nodes)
{
    int64_t never = 0;
    if (nodes == 0)
        return;
    atomic_fetch_add_explicit(&r->graph_nodes, nodes, memory_order_relaxed);
    atomic_compare_exchange_strong_explicit(&r->graphs_ns, &never, clock_ns(CLOCK_MONOTONIC),
                                            memory_order_relaxed, memory_order_relaxed);
}

void graphs_look(struct recorder *r)
{
    int64_t since = atomic_load_explicit(&r->graphs_ns, memory_order_relaxed);
    if (since == 0 || r->options.graph_nodes || are_whole(r))
        return;
    if (clock_ns(CLOCK_MONOTONIC) - since < nodes_ns &&
        atomic_load_explicit(&r->graph_nodes, memory_order_relaxed) < MOST_NODES)
        return;
    atomic_store_explicit(&r->graphs_ns, 0, memory_order_relaxed); /* tried once, whatever comes of it */
    select_whole(r);
}

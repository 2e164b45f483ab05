#include "inject/graphs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { GRAPHS = 1 << 12, TRIES = 16 }; /* that are remembered; a power of two */
enum { NODES = 1 << 20, DEEPEST = 8 }; /* of a graph, and of graphs in it, that are looked at */

static struct {
    pthread_mutex_t lock;
    uint32_t count; /* made so far */
    _Atomic bool excluded;
    struct {
        const void *executable; /* NULL: free */
        struct graph graph;
    } known[GRAPHS];
} graphs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t count_kernels(const struct driver *d, void *graph, int depth)
{
    size_t count = 0;
    uint32_t kernels = 0;
    if (depth == DEEPEST || d->GraphGetNodes(graph, NULL, &count) != 0 || count == 0 || count > NODES)
        return 0;
    void **nodes = calloc(count, sizeof *nodes);
    if (!nodes || d->GraphGetNodes(graph, nodes, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        int type = -1;
        void *child = NULL;
        if (d->GraphNodeGetType(nodes[i], &type) != 0)
            continue;
        kernels += type == DRIVER_NODE_KERNEL;
        if (type == DRIVER_NODE_GRAPH && d->GraphChildGraphNodeGetGraph(nodes[i], &child) == 0)
            kernels += count_kernels(d, child, depth + 1);
    }
    free(nodes);
    return kernels;
}

/* Where a handle is or should go, -1: it is not there, and there is no room. The caller holds the lock. */
static int place_of(const void *executable)
{
    uint32_t at = (uint32_t)((uintptr_t)executable * 0x9e3779b97f4a7c15u >> 40);
    for (int i = 0; i < TRIES; i++, at++) {
        const void *there = graphs.known[at & (GRAPHS - 1)].executable;
        if (there == executable || !there)
            return (int)(at & (GRAPHS - 1));
    }
    return -1;
}

void graphs_add(const struct driver *driver, const struct callback_instantiate_params *params)
{
    const void *executable = params->executable ? *params->executable : NULL;
    bool countable = driver->GraphGetNodes && driver->GraphNodeGetType && driver->GraphChildGraphNodeGetGraph;
    if (!executable)
        return;
    uint32_t kernels = countable ? count_kernels(driver, params->graph, 0) : 0;
    pthread_mutex_lock(&graphs.lock);
    int at = place_of(executable);
    graphs.count++;
    if (at >= 0) {
        graphs.known[at].executable = executable; /* or another one's, which is gone */
        graphs.known[at].graph = (struct graph){.number = graphs.count, .kernels = kernels};
    }
    pthread_mutex_unlock(&graphs.lock);
}

struct graph graphs_find(const void *executable)
{
    struct graph found = {0};
    pthread_mutex_lock(&graphs.lock);
    int at = executable ? place_of(executable) : -1;
    if (at >= 0 && graphs.known[at].executable == executable)
        found = graphs.known[at].graph;
    pthread_mutex_unlock(&graphs.lock);
    return found;
}

void graphs_exclude(void)
{
    atomic_store_explicit(&graphs.excluded, true, memory_order_relaxed);
}

bool graphs_are_excluded(void)
{
    return atomic_load_explicit(&graphs.excluded, memory_order_relaxed);
}

void graphs_forget(void)
{
    pthread_mutex_init(&graphs.lock, NULL);
    memset(graphs.known, 0, sizeof graphs.known);
    graphs.count = 0;
    atomic_store_explicit(&graphs.excluded, false, memory_order_relaxed);
}

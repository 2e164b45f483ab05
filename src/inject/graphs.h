/* CUDA graphs that the program can launch: what number they have, and how many kernels are in them. */
#ifndef WARPLIGHT_INJECT_GRAPHS_H
#define WARPLIGHT_INJECT_GRAPHS_H

#include "capture/profiler.h"
#include "inject/driver.h"

struct graph {
    uint32_t number;  /* in the order of their making in the process, from 1; 0: not known */
    uint32_t kernels; /* 0 not known */
};

/* A graph was made ready for launches, by a call with those parameters that has returned. Thread-safe, as the
 * rest. */
void graphs_add(const struct driver *driver, const struct callback_instantiate_params *params);
/* What is launched when that handle is. */
struct graph graphs_find(const void *executable);
/* A kernel that waits for other GPUs becomes part of a graph: from now on none is measured. */
void graphs_exclude(void);
bool graphs_are_excluded(void);
/* In the child of a fork. */
void graphs_forget(void);

#endif

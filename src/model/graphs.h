/* Launches of graphs that were recorded twice: as one, and node by node. */
#ifndef WARPLIGHT_MODEL_GRAPHS_H
#define WARPLIGHT_MODEL_GRAPHS_H

#include "model/run.h"

/* Takes out the whole launch (OP_GRAPH) where nodes of the same launch are in the run, by (process,
 * correlation): they say the same, and more. Part of run_seal(), before anything is sorted. */
void graphs_drop_doubles(struct run *run);

#endif

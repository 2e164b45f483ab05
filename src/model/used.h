/* Which strings of a run some row refers to. */
#ifndef WARPLIGHT_MODEL_USED_H
#define WARPLIGHT_MODEL_USED_H

#include "model/run.h"

/* Tables of struct run whose rows have texts, besides ops and spans (columns) and the repairs of sources. */
#define RUN_TEXT_TABLES(X)                                                                                   \
    X(WLT_SOURCES, sources)                                                                                  \
    X(WLT_FACTS, facts)                                                                                      \
    X(WLT_DEVICES, devices)                                                                                  \
    X(WLT_PROCESSES, processes)                                                                              \
    X(WLT_THREADS, threads)                                                                                  \
    X(WLT_STREAMS, streams)                                                                                  \
    X(WLT_COMMS, comms)                                                                                      \
    X(WLT_SERIES, series)                                                                                    \
    X(WLT_MARKS, marks)                                                                                      \
    X(WLT_WAITS, waits)

/* By string id; run->strings.count entries, free() them. The run may be sealed or not. */
bool *used_strings(const struct run *run);

#endif

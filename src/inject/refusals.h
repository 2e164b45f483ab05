/* Why counters cannot be measured, and what to do about it. */
#ifndef WARPLIGHT_INJECT_REFUSALS_H
#define WARPLIGHT_INJECT_REFUSALS_H

#include "inject/cupti.h"

struct refusal {
    cupti_result result; /* of CUPTI's call; -1: it is a cause of our own */
    const char *why;     /* a sentence marked with N_() */
    char detail[320];    /* what stands for {0} in it */
};

/* Cause and remedy of what CUPTI's call returned. */
void refusal_explain(struct refusal *refusal, cupti_result result, const char *call);
/* A cause that we know ourselves. */
void refusal_set(struct refusal *refusal, const char *why, const char *detail, ...)
    __attribute__((format(printf, 3, 4)));

#endif

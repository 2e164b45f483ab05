/* What of a setup (model/setup.h) keeps programs from using a GPU, makes them use another one, slows them
 * down or keeps them from being measured. Pure: facts in, checks out. Ids of the checks and the rules behind
 * them: doc/internals/doctor.md. */
#ifndef WARPLIGHT_ANALYZE_SETUP_H
#define WARPLIGHT_ANALYZE_SETUP_H

#include "model/diagnosis.h"
#include "model/logbook.h"
#include "model/setup.h"

/* Adds a check for each question that the setup answers or leaves open; those that do not apply are left
 * out. */
void setup_diagnose(struct diagnosis *d, const struct setup *s);
/* Marks the Xids that are a program's fault and are over: the GPU answers and asks for no recovery. What is
 * left of them is a warning, but for the program that is examined. */
void setup_settle_faults(const struct setup *s, struct logbook *book);
/* Whether no further code of the file can change the answer, as the GPUs stand. */
bool setup_image_is_settled(const struct setup *s, const struct setup_image *image);

#endif

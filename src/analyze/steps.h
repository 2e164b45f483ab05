/* The steps of one device, for analyses that compare devices. */
#ifndef WARPLIGHT_ANALYZE_STEPS_H
#define WARPLIGHT_ANALYZE_STEPS_H

#include "analyze/sweep.h"

/* Fills steps (zeroed by the caller, who releases its rows) for one device of the report; origin STEPS_NONE
 * if it has none. Needs ledger and gaps, as steps_build() does. */
void steps_of_device(const struct report *report, struct comm_names *names,
                     const struct device_report *device, struct step_report *steps);

#endif

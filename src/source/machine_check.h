/* Values that cannot be true beside each other. */
#ifndef WARPLIGHT_SOURCE_MACHINE_CHECK_H
#define WARPLIGHT_SOURCE_MACHINE_CHECK_H

#include "model/machine.h"

/* Marks as implausible what no device can have: more memory in use than there is, twice the highest power
 * limit, a clock half as high again as the highest one, more over PCIe than its lanes can carry. */
void machine_check(struct machine_sample *sample);

#endif

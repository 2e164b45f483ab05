/* The families of checks of a setup; analyze/setup.c asks them in this order. */
#ifndef WARPLIGHT_ANALYZE_SETUP_CHECKS_H
#define WARPLIGHT_ANALYZE_SETUP_CHECKS_H

#include "base/i18n.h"
#include "analyze/setup.h"

void setup_check_gpus(struct diagnosis *d, const struct setup *s);      /* what is there, and who drives it */
void setup_check_driver(struct diagnosis *d, const struct setup *s);    /* module, libraries, device files */
void setup_check_sharing(struct diagnosis *d, const struct setup *s);   /* containers, MIG, slices, fabric */
void setup_check_container(struct diagnosis *d, const struct setup *s); /* of sharing */
void setup_check_program(struct diagnosis *d, const struct setup *s);   /* visibility, versions, limits */
void setup_check_code(struct diagnosis *d, const struct setup *s);      /* does it run on these GPUs? */
void setup_check_health(struct diagnosis *d, const struct setup *s);    /* what the driver says of the GPUs */
void setup_check_measuring(struct diagnosis *d, const struct setup *s);

/* Whether CUDA programs are what is asked about: an NVIDIA GPU, or a layer that stands for one. */
bool setup_has_nvidia(const struct setup *s);
/* Whether the driver's kernel module works here: it is loaded, or the host of a container loaded it. */
bool setup_has_module(const struct setup *s);
/* Whether a device file is one GPU's: /dev/nvidia0. */
bool setup_is_gpu_node(const struct setup_node *node);

#endif

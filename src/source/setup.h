/* Fills a struct setup by looking at files of /sys, /proc, /dev and of the driver: as any user, within a
 * moment, and without opening a device, so that no GPU is woken. */
#ifndef WARPLIGHT_SOURCE_SETUP_H
#define WARPLIGHT_SOURCE_SETUP_H

#include "model/setup.h"

struct setup_question {
    const char *root;    /* a folder that stands for /; NULL: the machine itself */
    int64_t pid;         /* of the process to examine; 0: a program that this one would start */
    const char *program; /* what it would start; NULL: any */
};

/* Fills an initialised setup. What cannot be looked at stays unknown. Asks the management library, in a
 * process of its own (source/gpu_look.h), unless root is set and WARPLIGHT_NVML is not. */
void setup_read(struct setup *s, const struct setup_question *question);

/* The parts of it. */
void setup_read_pci(struct setup *s);
void setup_read_kernel(struct setup *s);   /* kernel, modules, limits on measuring */
void setup_read_nodes(struct setup *s);    /* device files */
void setup_read_process(struct setup *s);  /* environment, limits, container, mapped files */
void setup_read_owners(struct setup *s);   /* who has device files open; the driver's helpers */
void setup_read_software(struct setup *s); /* driver libraries, toolkit, PyTorch */

#endif

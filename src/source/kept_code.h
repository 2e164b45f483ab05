/* The machine code of a measured program, as its processes left it in the folder of the recording: images of
 * the run (run->images), known by the CRC that CUPTI gives to their code. */
#ifndef WARPLIGHT_SOURCE_KEPT_CODE_H
#define WARPLIGHT_SOURCE_KEPT_CODE_H

#include "model/run.h"
#include "source/folder.h"

/* The image with that CRC, still without its bytes if it is new; NONE: there are too many. */
uint32_t kept_code_image(struct run *run, uint32_t source, uint64_t crc);
/* Reads the bytes of the images that have none and lie in the folder. What cannot be read, or is too much,
 * stays without. */
void kept_code_read(const struct folder *folder, struct run *run, uint32_t source);

#endif

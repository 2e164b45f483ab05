/* Values of model/gpu.h's units as people read them. */
#ifndef WARPLIGHT_VIEW_GPU_TEXT_H
#define WARPLIGHT_VIEW_GPU_TEXT_H

#include "model/gpu.h"

/* Appends a known value: "1980 MHz", "699 W", "12.3 GiB", "power limit". */
void gpu_text_add(struct str *out, enum gpu_unit unit, int64_t value);
/* Appends the names of GPU_REASONS as they stand in a recording ("power-cap,idle"), each translated. */
void gpu_text_add_reasons(struct str *out, const char *list);

#endif

/* What viewers show as the name of a process, thread, device or stream. English, as all that machines may
 * read. */
#ifndef WARPLIGHT_EXPORT_LABEL_H
#define WARPLIGHT_EXPORT_LABEL_H

#include "base/str.h"
#include "model/run.h"

/* Each appends to out. */
void label_process(struct str *out, const struct run *run, uint32_t process); /* "python3 (pid 1454)" */
void label_thread(struct str *out, const struct run *run, uint32_t thread);   /* "MainThread (tid 1454)" */
void label_device(struct str *out, const struct run *run, uint32_t device);   /* "GPU 0: NVIDIA H200" */
/* "stream 7"; with the process or context too where the device has streams of several. */
void label_stream(struct str *out, const struct run *run, uint32_t stream);

#endif

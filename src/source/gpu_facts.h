/* GPU readings as facts of a run. Names: doc/internals/recording.md. */
#ifndef WARPLIGHT_SOURCE_GPU_FACTS_H
#define WARPLIGHT_SOURCE_GPU_FACTS_H

#include "model/gpu.h"
#include "model/run.h"

/* "nvml.driver_version", "nvml.cuda_version"; or "nvml_why". */
void gpu_facts_library(struct run *run, uint32_t source, enum reading_state state, const char *driver,
                       struct reading cuda);
/* "gpu.UUID.KEY", or "gpu.UUID.KEY_why", of what does not change. */
void gpu_facts_static(struct run *run, uint32_t source, const struct gpu_facts *facts);
/* "gpu.UUID.MOMENT.KEY" of the levels of a sample; "gpu.UUID.MOMENT_why" alone where one reason covers all.
 */
void gpu_facts_moment(struct run *run, uint32_t source, const char *uuid, const char *moment,
                      const struct gpu_sample *sample);
/* "gpu.UUID.recorded.KEY": what the counters gained from first to last, and "gpu.UUID.recorded.observed_ns",
 * the time between the two. */
void gpu_facts_gains(struct run *run, uint32_t source, const char *uuid, const struct gpu_sample *first,
                     const struct gpu_sample *last);
/* "gpu.UUID.PART_why"; part NULL: "gpu.UUID.why". */
void gpu_facts_why(struct run *run, uint32_t source, const char *uuid, const char *part,
                   enum reading_state why);

#endif

/* Kernel dispatches and copies as rocprofv3 writes them: slices of the categories kernel_dispatch and
 * memory_copy on tracks of an agent. Source of names and meanings: rocprofiler-sdk,
 * lib/output/generatePerfetto.cpp. */
#include <stdlib.h>
#include <string.h>

#include "import/perfetto_import.h"

/* The number that ends an agent's label ("Agent 4", "GPU 0", "4"). */
static int64_t agent_number(const struct perfetto_import *in, const struct perfetto_value *value)
{
    if (value->type == VALUE_INT)
        return value->number;
    if (value->type != VALUE_TEXT)
        return UNKNOWN;
    const char *text = run_text(in->run, value->text);
    const char *at = text + strlen(text);
    while (at > text && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return *at ? strtoll(at, NULL, 10) : UNKNOWN;
}

/* "COMPUTE AGENT [1] STREAM [2] (GPU)" and "… QUEUE [2] GPU": the number in the brackets after the word. */
static int64_t bracketed(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    at = at ? strchr(at, '[') : NULL;
    return at && at[1] >= '0' && at[1] <= '9' ? strtoll(at + 1, NULL, 10) : UNKNOWN;
}

static uint32_t stream_of(struct perfetto_import *in, const struct perfetto_event *event,
                          const struct track *track, int64_t agent)
{
    const char *name = run_text(in->run, track->name);
    int64_t id = bracketed(name, "STREAM");
    if (id == UNKNOWN)
        id = perfetto_int_or(event, in->key_queue, bracketed(name, "QUEUE"));
    uint32_t device = run_device(in->run, in->source, agent);
    in->run->devices.at[device].vendor = VENDOR_AMD;
    return run_stream(in->run, in->process, device, UNKNOWN, id == UNKNOWN ? 0 : id);
}

static bool fits_32_bits(int64_t value)
{
    return value >= 0 && value <= UINT32_MAX;
}

/* Sizes are products of the three dimensions, the grid's in work-items. */
static void add_shape(struct perfetto_import *in, const struct perfetto_event *event, size_t op)
{
    int64_t block = perfetto_int_or(event, in->key_workgroup_size, 0);
    int64_t items = perfetto_int_or(event, in->key_grid_size, 0);
    int64_t shared = perfetto_int_or(event, in->key_group_size, 0),
            local = perfetto_int_or(event, in->key_private_size, 0);
    if (block <= 0 || items < block || !fits_32_bits(block) || !fits_32_bits(items / block) ||
        !fits_32_bits(shared) || !fits_32_bits(local))
        return;
    struct shape shape = {.grid = {(uint32_t)(items / block), 1, 1},
                          .block = {(uint32_t)block, 1, 1},
                          .shared_dynamic_bytes = (uint32_t)shared,
                          .local_bytes_per_thread = (uint32_t)local,
                          .occupancy_percent = -1};
    in->run->ops.shape[op] = run_shape(in->run, &shape);
}

static bool take_kernel(struct perfetto_import *in, const struct perfetto_event *event,
                        const struct track *track)
{
    int64_t agent = agent_number(in, &event->values[in->key_agent]);
    if (agent == UNKNOWN)
        return false;
    struct op_row row = {.kind = OP_KERNEL,
                         .bytes = UNKNOWN,
                         .correlation = (uint64_t)perfetto_int_or(event, in->key_corr_id, 0)};
    add_shape(in, event, perfetto_add_op(in, event, track, stream_of(in, event, track, agent), &row));
    return true;
}

static bool take_copy(struct perfetto_import *in, const struct perfetto_event *event,
                      const struct track *track)
{
    static const struct {
        const char *name;
        enum copy_dir dir;
        enum mem_kind src, dst;
    } directions[] = {
        {"HOST_TO_DEVICE", COPY_H2D, MEM_UNKNOWN, MEM_DEVICE},
        {"DEVICE_TO_HOST", COPY_D2H, MEM_DEVICE, MEM_UNKNOWN},
        {"DEVICE_TO_DEVICE", COPY_D2D, MEM_DEVICE, MEM_DEVICE},
        {"HOST_TO_HOST", COPY_H2H, MEM_UNKNOWN, MEM_UNKNOWN},
    };
    struct op_row row = {.kind = OP_COPY,
                         .bytes = perfetto_int_or(event, in->key_copy_bytes, UNKNOWN),
                         .correlation = (uint64_t)perfetto_int_or(event, in->key_corr_id, 0)};
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++) {
        if (!strstr(run_text(in->run, event->name), directions[i].name))
            continue;
        row.dir = directions[i].dir;
        row.src = directions[i].src;
        row.dst = directions[i].dst;
    }
    uint32_t key = row.dir == COPY_D2H ? in->key_src_agent : in->key_dst_agent;
    int64_t agent = agent_number(in, &event->values[key]);
    if (agent == UNKNOWN)
        return false;
    perfetto_add_op(in, event, track, stream_of(in, event, track, agent), &row);
    return true;
}

bool perfetto_rocprof_slice(struct perfetto_import *in, const struct perfetto_event *event,
                            const struct track *track, const char *category)
{
    if (strcmp(category, "kernel_dispatch") == 0)
        return take_kernel(in, event, track);
    if (strcmp(category, "memory_copy") == 0)
        return take_copy(in, event, track);
    return false;
}

void perfetto_rocprof_init(struct perfetto_import *in)
{
    struct perfetto_packets *p = &in->packets;
    in->key_agent = perfetto_key(p, "agent");
    in->key_queue = perfetto_key(p, "queue");
    in->key_workgroup_size = perfetto_key(p, "workgroup_size");
    in->key_grid_size = perfetto_key(p, "grid_size");
    in->key_private_size = perfetto_key(p, "private_segment_size");
    in->key_group_size = perfetto_key(p, "group_segment_size");
    in->key_copy_bytes = perfetto_key(p, "copy_bytes");
    in->key_src_agent = perfetto_key(p, "src_agent");
    in->key_dst_agent = perfetto_key(p, "dst_agent");
}

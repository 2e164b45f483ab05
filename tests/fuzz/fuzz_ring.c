/* What a target shows the collector: lengths of records (a byte for each kind, 0 for the usual one), the
 * length of its log of texts, the log, and a slot. */
#include <string.h>

#include "capture/activity.h"
#include "fuzz.h"
#include "source/cupti_records.h"

enum { HEAD = RING_KINDS + sizeof(uint32_t) };

static const struct {
    uint32_t kind, bytes;
} usual[] = {{ACTIVITY_KERNEL, 216},
             {ACTIVITY_MEMCPY, 96},
             {ACTIVITY_MEMCPY_P2P, 96},
             {ACTIVITY_MEMSET, 88},
             {ACTIVITY_RUNTIME, 40},
             {ACTIVITY_DRIVER, 40},
             {ACTIVITY_OVERHEAD, 56},
             {ACTIVITY_SYNCHRONIZATION, 56},
             {ACTIVITY_DEVICE, 192},
             {ACTIVITY_GRAPH, 56},
             {ACTIVITY_MEMORY, 128},
             {ACTIVITY_MEMORY_POOL, 80},
             {ACTIVITY_MANAGED, 104},
             {RING_RANGE, sizeof(struct ring_range)},
             {RING_MARK, sizeof(struct ring_range)},
             {RING_PAYLOAD_RANGE, sizeof(struct ring_payload_range)},
             {RING_OP, sizeof(struct ring_op)}};

static void check(const struct run *run)
{
    for (size_t i = 0; i < run->ops.count; i++) {
        FUZZ_CHECK(run->ops.stream[i] < run->streams.count && run->ops.start[i] <= run->ops.end[i]);
        FUZZ_CHECK(run->ops.comm[i] == NONE || run->ops.comm[i] < run->comms.count);
    }
    for (size_t i = 0; i < run->spans.count; i++) {
        FUZZ_CHECK(run->spans.thread[i] < run->threads.count && run->spans.start[i] <= run->spans.end[i]);
        FUZZ_CHECK(run->spans.comm[i] == NONE || run->spans.comm[i] < run->comms.count);
    }
    for (size_t i = 0; i < run->samples.count; i++)
        FUZZ_CHECK(run->samples.series[i] < run->series.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _Atomic uint32_t lengths[RING_KINDS] = {0};
    uint32_t log_bytes;
    struct run run;
    if (size < HEAD || size > RING_SLOT_BYTES)
        return 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        lengths[usual[i].kind] = usual[i].bytes;
    for (int kind = 0; kind < RING_KINDS; kind++)
        if (data[kind])
            lengths[kind] = data[kind];
    memcpy(&log_bytes, data + RING_KINDS, sizeof log_bytes);
    log_bytes = log_bytes % (uint32_t)(size - HEAD + 1);
    char *log = mem_alloc(log_bytes + 1); /* as aligned as in the ring */
    memcpy(log, data + HEAD, log_bytes);
    run_init(&run);
    uint32_t source = run_add_source(&run, "ring", "ring");
    struct cupti_records r = {.source = source,
                              .process = run_process(&run, source, 1),
                              .last_thread = NONE,
                              .shift_ns = 0,
                              .log_length = log_bytes};
    cupti_texts_read(&r.texts, log, log_bytes, &run);
    cupti_records_decode(&r, &run, data + HEAD + log_bytes, size - HEAD - log_bytes, lengths);
    cupti_records_settle(&r, &run);
    run_seal(&run);
    check(&run);
    cupti_records_release(&r);
    run_release(&run);
    free(log);
    return 0;
}

/* A run by hand that has something in every table and column, and the shapes that exports must not lose:
 * overlaps on a stream and on a thread, several processes, devices and sources with colliding numbers, names
 * that break formats. */
#ifndef WARPLIGHT_TESTS_UNIT_RICH_RUN_H
#define WARPLIGHT_TESTS_UNIT_RICH_RUN_H

#include "make_run.h"

#define RICH_NAME "void k<\"quoted\", '\\', 1>(a; b)\n\t\x01 \xe4\xb8\xad"

static inline void rich_devices(struct run *run, uint32_t source, uint32_t other)
{
    uint32_t first = run_device(run, source, 0);
    run_device(run, other, 0); /* the same number in another file */
    uint32_t third = run_device(run, other, 1);
    struct device *d = &run->devices.at[first];
    d->name = intern_puts(&run->strings, "NVIDIA H200");
    d->uuid = intern_puts(&run->strings, "GPU-01");
    d->vendor = VENDOR_NVIDIA;
    d->cc_major = 9;
    d->sm_count = 132;
    d->warp_size = 32;
    d->max_threads_per_sm = 2048;
    d->max_blocks_per_sm = 32;
    d->max_warps_per_sm = 64;
    d->regs_per_sm = 65536;
    d->shared_bytes_per_sm = 233472;
    d->shared_bytes_per_block_optin = 232448;
    d->memory_bytes = 150109880320;
    d->memory_bandwidth_bytes_per_s = 4800000000000;
    d->l2_bytes = 62914560;
    d->clock_hz = 1980000000;
    d = &run->devices.at[third];
    d->vendor = VENDOR_AMD;
    d->cc_minor = 4;
}

static inline void rich_ops(struct run *run, uint32_t process, uint32_t other_process)
{
    struct op_table *ops = &run->ops;
    uint32_t seven = run_stream(run, process, 0, 1, 7), other_context = run_stream(run, process, 0, 2, 7);
    uint32_t foreign = run_stream(run, other_process, 1, UNKNOWN, 7);
    uint32_t unowned = run_stream(run, NONE, 2, UNKNOWN, 0);
    run->streams.at[seven].name = intern_puts(&run->strings, "main stream");
    struct shape shape = {.grid = {1024, 2, 3},
                          .block = {128, 4, 1},
                          .cluster = {2, 1, 1},
                          .regs_per_thread = 255,
                          .shared_static_bytes = 1024,
                          .shared_dynamic_bytes = 98304,
                          .local_bytes_per_thread = 16,
                          .occupancy_percent = 37};
    uint32_t op = make_kernel(run, seven, RICH_NAME, 1000, 2000, 1);
    ops->shape[op] = run_shape(run, &shape);
    ops->external[op] = 77;
    ops->graph[op] = 5;
    make_kernel(run, seven, "overlaps the one before", 1500, 2500, 2);
    make_kernel(run, seven, "inside both", 1600, 1700, 3);
    make_kernel(run, seven, "no length", 1700, 1700, 4);
    make_kernel(run, other_context, "", 1650, 1660, UINT64_MAX);
    make_copy(run, seven, COPY_H2D, MEM_PAGEABLE, MEM_DEVICE, INT64_C(5000000000), 3000, 4000, 5);
    make_copy(run, seven, COPY_MANAGED_D2H, MEM_MANAGED, MEM_PINNED, UNKNOWN, 4000, 4100, 6);
    op = make_op(run, seven, OP_MEMSET, "Memset (Device)", 4100, 4150, 7);
    ops->bytes[op] = 0;
    make_op(run, seven, OP_GRAPH, "graph", 4200, 4900, 8);
    make_kernel(run, seven, "node of one launch", 5000, 5100, 9);
    make_kernel(run, seven, "node of one launch", 5100, 5200, 9);
    op = make_kernel(run, foreign, "ncclDevKernel_AllReduce", 1000, 3000, 1);
    vec_push(&run->comms, ((struct comm){.collective = intern_puts(&run->strings, "allreduce"),
                                         .group = intern_puts(&run->strings, "default_pg"),
                                         .ranks = intern_puts(&run->strings, "[0, 1]"),
                                         .dtype = intern_puts(&run->strings, "BFloat16"),
                                         .in_elements = 1 << 20,
                                         .out_elements = UNKNOWN,
                                         .group_size = 2,
                                         .seq = 12}));
    ops->comm[op] = 0;
    make_kernel(run, unowned, "launched by nobody", 6000, 6001, 0);
}

static inline void rich_spans(struct run *run, uint32_t main, uint32_t other_main, uint32_t worker)
{
    struct span_table *spans = &run->spans;
    make_span(run, main, SPAN_ANNOTATION, "step", 0, 9000, 3);
    make_span(run, main, SPAN_PYTHON, "train.py(12): step", 0, 9000, 4);
    uint32_t op = make_span(run, main, SPAN_OP, "aten::mm", 10, 400, 77);
    spans->detail[op] = intern_puts(&run->strings, "train.py(12): step;model.py(3): forward");
    for (uint64_t i = 1; i <= 9; i++)
        make_span(run, main, SPAN_API, i < 9 ? "cudaLaunchKernel" : "cuGraphLaunch", (int64_t)i * 20,
                  (int64_t)i * 20 + 10, i);
    make_span(run, main, SPAN_OS, "read", 450, 500, 0);
    make_span(run, main, SPAN_OVERHEAD, "Activity Buffer Request", 500, 500, 0);
    op = make_span(run, main, SPAN_OTHER, "mystery", 500, 600, 0);
    spans->detail[op] = intern_puts(&run->strings, "a category");
    make_span(run, main, SPAN_ANNOTATION, "outlives what it began in", 8990, 9500, 0);
    make_span(run, main, SPAN_API, "late", 8995, 9001, 44);
    make_span(run, other_main, SPAN_API, "cudaLaunchKernelExC", 20, 30, 1);
    make_span(run, worker, SPAN_API, "cuLaunchKernel", 40, 45, UINT64_MAX);
}

static inline void rich_rest(struct run *run, uint32_t process, uint32_t thread)
{
    static const struct {
        const char *name;
        uint32_t device, process;
        enum counter_unit unit;
        double value;
    } samples[] = {
        {"memory allocated", 0, 0, UNIT_BYTES, 150109880320.0},
        {"memory reserved", 0, 0, UNIT_BYTES, 0},
        {"SM active", 0, NONE, UNIT_RATIO, 0.1},
        {"power", 1, NONE, UNIT_WATTS, 699.5},
        {"load", NONE, NONE, UNIT_NONE, -1e300},
        {"resident", NONE, 0, UNIT_BYTES, 4096},
        {"temperature", 2, NONE, UNIT_CELSIUS, 61},
        {"clock", 2, NONE, UNIT_HZ, 1.98e9},
        {"PCIe receive", 2, NONE, UNIT_BYTES_PER_S, 1.5e10},
    };
    for (size_t i = 0; i < 3 * sizeof samples / sizeof *samples; i++) {
        size_t s = i % (sizeof samples / sizeof *samples), row = sample_table_add(&run->samples);
        run->samples.time[row] = 100 + (int64_t)i;
        run->samples.value[row] = samples[s].value;
        run->samples.series[row] = run_series(run, samples[s].name, samples[s].device,
                                              samples[s].process == NONE ? NONE : process, samples[s].unit);
    }
    for (int kind = MARK_INSTANT; kind <= MARK_LOST; kind++)
        vec_push(&run->marks, ((struct mark){.time = 200 + kind,
                                             .kind = (enum mark_kind)kind,
                                             .text = intern_puts(&run->strings, "something happened"),
                                             .thread = kind % 2 ? thread : NONE,
                                             .device = kind % 3 ? 1 : NONE}));
    vec_push(&run->waits, ((struct wait){2000, 3000, intern_puts(&run->strings, "Stream Wait Event"), 0, 1}));
    vec_push(&run->waits,
             ((struct wait){2500, 3500, intern_puts(&run->strings, "Stream Wait Event"), 0, NONE}));
    vec_push(&run->waits,
             ((struct wait){2600, 3600, intern_puts(&run->strings, "Context Sync"), NONE, NONE}));
}

static inline void rich_run(struct run *run)
{
    run_init(run);
    uint32_t a = run_add_source(run, "rank0.json.gz", "torch.profiler JSON");
    uint32_t b = run_add_source(run, "rank1.json.gz", "torch.profiler JSON");
    run->sources.at[a].rank = 0;
    run->sources.at[a].world_size = 2;
    run->sources.at[b].rank = 1;
    run->sources.at[b].world_size = 2;
    run->sources.at[b].tool = intern_puts(&run->strings, "a tool 1.2");
    run_repair(run, b, "negative durations taken as zero", 3, 1234);
    run_fact(run, a, "cuda_driver_version", "13000", 5);
    run_fact(run, b, "host_name", "node\"1\"", 7);
    run->losses = (struct losses){.dropped = 1, .untimed = 2, .malformed = 3, .truncated_bytes = 4};
    rich_devices(run, a, b);
    uint32_t first = run_process(run, a, 1454), second = run_process(run, b, 1454); /* both in containers */
    run->processes.at[first].name = intern_puts(&run->strings, "python3");
    run->processes.at[first].rank = 0;
    run->processes.at[first].world_size = 2;
    uint32_t zero = run_process(run, a, 0);
    uint32_t main = run_thread(run, first, 1454), other_main = run_thread(run, second, 1454);
    uint32_t worker = run_thread(run, first, -3);
    run->threads.at[main].name = intern_puts(&run->strings, "MainThread");
    run_thread(run, zero, 0);
    rich_ops(run, first, second);
    rich_spans(run, main, other_main, worker);
    rich_rest(run, first, main);
    run_seal(run);
}

#endif

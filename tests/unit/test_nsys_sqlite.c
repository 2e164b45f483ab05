/* The nsys importer on databases made here: one SQL script a schema generation, and every way to get at one.
 */
#include <sys/stat.h>
#include <zlib.h>

#include "nsys_case.h"

/* ---- schema 2.9 (2022) --------------------------------------------------------------------------------- */

static void schema_2_9_gives_kernels_copies_and_their_calls(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-2.9");
    assert_int_equal(run.ops.count, 5);
    size_t kernel = op_at(&run, 5000);
    assert_int_equal(run.ops.kind[kernel], OP_KERNEL);
    assert_int_equal(run.ops.end[kernel], INT64_C(1700000000000009000));
    assert_string_equal(run_text(&run, run.ops.name[kernel]), "step(int *, int *, int)");
    assert_string_equal(call_of(&run, kernel), "cudaLaunchKernel");
    assert_int_equal(run.ops.correlation[kernel], 210);
    assert_int_equal(run.ops.bytes[kernel], UNKNOWN);
    const struct shape *shape = &run.shapes.at[run.ops.shape[kernel]];
    assert_int_equal(shape->grid[0] * 100 + shape->grid[1] * 10 + shape->grid[2], 561);
    assert_int_equal(shape->block[0] * shape->block[1] * shape->block[2], 256);
    assert_int_equal(shape->regs_per_thread, 24);
    assert_int_equal(shape->shared_static_bytes, 128);
    assert_int_equal(shape->shared_dynamic_bytes, 1296);
    assert_int_equal(shape->local_bytes_per_thread, 40);
    assert_int_equal(shape->cluster[0], 0);
    assert_int_equal(shape->occupancy_percent, -1);
    assert_int_equal(run.shapes.count, 1);
    assert_string_equal(run_text(&run, stream_of(&run, kernel)->name), "default stream");
    size_t upload = op_at(&run, 1000);
    assert_int_equal(run.ops.dir[upload], COPY_H2D);
    assert_int_equal(run.ops.src[upload], MEM_PAGEABLE);
    assert_int_equal(run.ops.dst[upload], MEM_DEVICE);
    assert_int_equal(run.ops.bytes[upload], 26896);
    assert_int_equal(run.ops.shape[upload], NONE);
    assert_int_equal(run.ops.call[upload], NONE);
    size_t download = op_at(&run, 10000);
    assert_int_equal(run.ops.dir[download], COPY_D2H);
    assert_int_equal(run.ops.dst[download], MEM_PINNED);
    size_t migration = op_at(&run, -900);
    assert_int_equal(run.ops.dir[migration], COPY_MANAGED_H2D);
    assert_int_equal(run.ops.dst[migration], MEM_MANAGED);
    assert_int_equal(stream_of(&run, migration)->id, -1);
    assert_int_equal(run.losses.unlinked, 2); /* migrations have no call to miss */
    assert_no_losses(&run);
    run_release(&run);
}

static void schema_2_9_gives_host_spans_with_stacks_innermost_first(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-2.9");
    assert_int_equal(run.spans.count, 8);
    assert_span(&run, 100, 400, SPAN_API, "cudaMalloc", "");
    assert_span(&run, 150, 390, SPAN_API, "cuMemAlloc_v2", "");
    assert_int_equal(run.spans.parent[span_at(&run, 150)], span_at(&run, 100));
    assert_int_equal(run.spans.id[span_at(&run, 150)], 207);
    assert_span(&run, 12000, 15000, SPAN_OS, "poll", "poll;operator,wait(Grid&);life!0x401a60");
    assert_span(&run, 16000, 17000, SPAN_OS, "poll", "");
    assert_span(&run, -5000, 50, SPAN_OVERHEAD, "CUDA profiling initialization", "");
    assert_int_equal(run.threads.count, 1);
    assert_int_equal(run.threads.at[0].tid, 1000);
    assert_string_equal(run_text(&run, run.threads.at[0].name), "life"); /* the name of higher priority */
    assert_int_equal(run.processes.count, 1);
    assert_string_equal(run_text(&run, run.processes.at[0].name), "/opt/life/life");
    run_release(&run);
}

static void schema_2_9_gives_devices_waits_memory_and_facts(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-2.9");
    assert_int_equal(run.devices.count, 1);
    const struct device *d = &run.devices.at[0];
    assert_string_equal(run_text(&run, d->name), "NVIDIA A100-SXM4-40GB");
    assert_string_equal(run_text(&run, d->uuid), "GPU-01234567-89ab-cdef-0123-456789abcdef");
    assert_int_equal(d->cc_major * 10 + d->cc_minor, 80); /* the compute capability, not the SM's 8.2 */
    assert_int_equal(d->sm_count, 108);
    assert_int_equal(d->max_threads_per_sm, 2048);
    assert_int_equal(d->max_blocks_per_sm, 32);
    assert_int_equal(d->regs_per_sm, 65536);
    assert_int_equal(d->shared_bytes_per_sm, 167936);
    assert_int_equal(d->shared_bytes_per_block_optin, 166912);
    assert_int_equal(d->memory_bytes, 42409000960);
    assert_int_equal(d->memory_bandwidth_bytes_per_s, 1555200000000);
    assert_int_equal(d->l2_bytes, 41943040);
    assert_int_equal(d->clock_hz, 1410000000);
    assert_string_equal(fact(&run, "display_adapter_without_cuda"), "Microsoft Basic Render Driver");
    assert_string_equal(fact(&run, "driver_version"), "560.28.03");
    assert_string_equal(fact(&run, "cuda_driver_version"), "12060");
    assert_string_equal(fact(&run, "nsys_schema_version"), "2.9.1");
    assert_string_equal(fact(&run, "exported_as"), "life.sqlite");
    assert_string_equal(fact(&run, "tables_not_read"), "SCHED_EVENTS");
    assert_string_equal(run_text(&run, run.sources.at[0].tool), "nsys 2022.1.3.3");
    assert_int_equal(run.sources.at[0].base_ns, INT64_C(1700000000000000000));
    assert_int_equal(run.waits.count, 2);
    assert_string_equal(run_text(&run, run.waits.at[0].kind), "Context Sync");
    assert_int_equal(run.waits.at[0].stream, NONE);
    assert_string_equal(run_text(&run, run.waits.at[1].kind), "Stream Sync");
    assert_int_equal(run.streams.at[run.waits.at[1].stream].id, 7);
    const double curve[] = {40000, 41000, 4096, 1000};
    assert_int_equal(run.samples.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(run.samples.value[i] == curve[i]);
    assert_string_equal(run_text(&run, run.series.at[0].name), "memory allocated");
    assert_int_equal(run.series.at[run.samples.series[2]].device, NONE); /* pinned memory is the host's */
    assert_int_equal(repair_count(&run, "memory was freed whose allocation"), 1);
    run_release(&run);
}

/* ---- schema 3.1 (2023) --------------------------------------------------------------------------------- */

static void schema_3_1_names_nvtx_ranges_domains_and_threads(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-3.1");
    assert_span(&run, 1000, 8000, SPAN_ANNOTATION, "training step", "");
    assert_span(&run, 1100, 1900, SPAN_ANNOTATION, "forward", "PyTorch / model");
    assert_span(&run, 1300, 9000, SPAN_ANNOTATION, "request", "PyTorch, ends on thread 501");
    assert_span(&run, 1400, 90000, SPAN_ANNOTATION, "never popped",
                ""); /* open: to the end of the recording */
    assert_span(&run, 1450, 90000, SPAN_ANNOTATION, "never ended", "");
    assert_int_equal(repair_count(&run, "NVTX ranges that never ended"), 2);
    assert_int_equal(repair_count(&run, "NVTX events of an unknown type"), 1);
    assert_int_equal(run.marks.count, 1);
    assert_int_equal(run.marks.at[0].kind, MARK_INSTANT);
    assert_int_equal(run.marks.at[0].time, 2200);
    assert_string_equal(run_text(&run, run.marks.at[0].text), "loss is NaN");
    const struct thread *other = &run.threads.at[run.spans.thread[span_at(&run, 1400)]];
    assert_int_equal(other->tid, 501);
    assert_string_equal(run_text(&run, other->name), "loader");
    assert_span(&run, 1120, 1480, SPAN_OTHER, "cudnnConvolutionForward", "cuDNN");
    assert_span(&run, 7000, 7500, SPAN_OTHER, "MPI_Allreduce", "MPI collective");
    assert_int_equal(run.losses.untimed, 1); /* MPI_Send has no end */
    run_release(&run);
}

static void schema_3_1_follows_events_to_the_stream_that_recorded_them(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-3.1");
    assert_int_equal(run.waits.count, 3);
    const struct wait *host = &run.waits.at[0], *stream = &run.waits.at[1], *early = &run.waits.at[2];
    assert_string_equal(run_text(&run, host->kind), "Event Sync");
    assert_int_equal(host->stream, NONE);
    assert_int_equal(run.streams.at[host->on_stream].id, 13); /* the last record before the wait */
    assert_string_equal(run_text(&run, stream->kind), "Stream Wait Event");
    assert_int_equal(run.streams.at[stream->stream].id, 7);
    assert_int_equal(run.streams.at[stream->on_stream].id, 13);
    assert_int_equal(early->on_stream, NONE); /* nothing was recorded before it */
    run_release(&run);
}

static void schema_3_1_numbers_devices_by_cuda_ordinal(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-3.1");
    size_t kernel = op_at(&run, 2000);
    assert_int_equal(run.devices.count, 3);
    assert_int_equal(device_of(&run, kernel), 0);
    assert_string_equal(run_text(&run, run.devices.at[run_op_device(&run, kernel)].name), "NVIDIA A100");
    assert_string_equal(run_text(&run, run.ops.name[op_at(&run, 3000)]), "StringIds[99]");
    assert_int_equal(repair_count(&run, "names refer to strings"), 1);
    assert_int_equal(run.processes.at[0].rank, 3);
    assert_int_equal(run.processes.at[0].world_size, 8);
    assert_int_equal(run.sources.at[0].rank, 3);
    run_release(&run);
}

/* ---- schema 3.16 (2024) -------------------------------------------------------------------------------- */

static void schema_3_16_links_all_nodes_of_a_graph_to_its_launch(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-3.16");
    for (int64_t start = 1000; start < 1300; start += 100) {
        size_t node = op_at(&run, start);
        assert_string_equal(call_of(&run, node), "cudaGraphLaunch");
        assert_int_equal(run.ops.graph[node], 12);
    }
    assert_span(&run, 800, 990, SPAN_API, "cudaGraphLaunch", "launch_all;main;app!0x1002");
    assert_span(&run, 700, 710, SPAN_API, "cudaGetDeviceProperties_v2", "");
    assert_span(&run, 720, 730, SPAN_API, "cudaFree", "");
    assert_span(&run, 805, 850, SPAN_OVERHEAD, "lazy loading", "");
    assert_span(&run, 860, 880, SPAN_OVERHEAD, "compile", "JIT");
    assert_span(&run, 881, 882, SPAN_OVERHEAD, "JIT", "JIT");
    size_t memset = op_at(&run, 900);
    assert_int_equal(run.ops.kind[memset], OP_MEMSET);
    assert_int_equal(run.ops.bytes[memset], 4096);
    assert_int_equal(run.ops.dst[memset], MEM_DEVICE);
    assert_int_equal(run.ops.graph[memset], 0);
    run_release(&run);
}

static void schema_3_16_counts_what_the_messages_say_was_lost(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-3.16");
    const enum mark_kind kinds[] = {MARK_DIAGNOSTIC, MARK_DIAGNOSTIC, MARK_LOST,
                                    MARK_LOST,       MARK_DIAGNOSTIC, MARK_DIAGNOSTIC};
    assert_int_equal(run.losses.dropped, 1235);
    assert_int_equal(run.marks.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(run.marks.at[i].kind, kinds[i]);
    assert_string_equal(run_text(&run, run.marks.at[0].text), "Profiling has started.");
    run_release(&run);
}

static void schema_3_16_gives_metrics_with_units_and_the_command(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-3.16");
    assert_int_equal(run.samples.count, 4);
    bool seen_sm = false, seen_clock = false;
    for (size_t i = 0; i < run.samples.count; i++) {
        const struct counter_series *series = &run.series.at[run.samples.series[i]];
        if (strcmp(run_text(&run, series->name), "SM Active") == 0 && run.samples.time[i] == 1600) {
            seen_sm =
                series->unit == UNIT_RATIO && run.samples.value[i] > 0.869 && run.samples.value[i] < 0.871;
            assert_int_equal(run.devices.at[series->device].id, 0);
        }
        if (strcmp(run_text(&run, series->name), "GPC Clock Frequency") == 0)
            seen_clock = series->unit == UNIT_HZ && run.samples.value[i] == 1650e6;
    }
    assert_true(seen_sm && seen_clock);
    assert_int_equal(repair_count(&run, "GPU metrics without a name"), 1);
    assert_string_equal(fact(&run, "command_line"), "python3 train.py '--note=it'\\''s slow' last");
    assert_string_equal(fact(&run, "working_directory"), "/srv/job");
    assert_string_equal(fact(&run, "cuda_graph_trace"), "Node");
    assert_null(fact(&run, "session_start_utc"));
    run_release(&run);
}

/* ---- schema 3.28 (2026) -------------------------------------------------------------------------------- */

static void schema_3_28_keeps_processes_with_equal_correlation_ids_apart(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-3.28");
    size_t first = op_at(&run, 5000), second = op_at(&run, 7000);
    assert_int_equal(run.ops.correlation[first], run.ops.correlation[second]);
    assert_int_equal(pid_of(&run, first), 10);
    assert_int_equal(pid_of(&run, second), 20);
    assert_int_equal(run.ops.call[first],
                     span_at(&run, 4000)); /* the runtime call, not the driver's inside it */
    assert_int_equal(run.ops.call[second], span_at(&run, 6000));
    assert_int_equal(run.spans.parent[span_at(&run, 4010)], span_at(&run, 4000));
    const struct shape *shape = &run.shapes.at[run.ops.shape[first]];
    assert_int_equal(shape->cluster[0], 2);
    assert_int_equal(shape->shared_dynamic_bytes, 200000);
    run_release(&run);
}

static void schema_3_28_finds_the_gpu_that_each_process_means(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-3.28");
    assert_int_equal(run.devices.count, 2);
    assert_int_equal(device_of(&run, op_at(&run, 5000)), 0);
    assert_int_equal(device_of(&run, op_at(&run, 7000)), 1);
    assert_int_equal(device_of(&run, op_at(&run, 8100)), 1); /* known by its UUID alone */
    assert_int_equal(run_op_device(&run, op_at(&run, 7000)), run_op_device(&run, op_at(&run, 8100)));
    run_release(&run);
}

static void schema_3_28_counts_whole_graphs_as_gpu_work(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-3.28");
    size_t graph = op_at(&run, 9000), from_host = op_at(&run, 9500), node = op_at(&run, 8100);
    assert_int_equal(run.ops.kind[graph], OP_GRAPH);
    assert_string_equal(run_text(&run, run.ops.name[graph]), "CUDA graph 6");
    assert_int_equal(run.ops.graph[graph], 8);
    assert_string_equal(call_of(&run, graph), "cudaGraphLaunch");
    assert_int_equal(run.ops.stream[from_host], run.ops.stream[graph]); /* "device" INT_MAX is no device */
    assert_int_equal(run.ops.graph[node], 44);
    size_t decompress = op_at(&run, 400);
    assert_int_equal(run.ops.kind[decompress], OP_COPY);
    assert_int_equal(run.ops.dir[decompress], COPY_D2D);
    assert_int_equal(run.ops.bytes[decompress], 12345);
    assert_int_equal(run.ops.count, 6);
    assert_int_equal(run.losses.untimed, 2); /* no time, and an end before the start */
    assert_int_equal(run.waits.count, 1);
    assert_int_equal(run.streams.at[run.waits.at[0].on_stream].id, 7); /* by sync id */
    run_release(&run);
}

/* ---- very old ------------------------------------------------------------------------------------------ */

static void schema_1_is_read_without_the_columns_that_came_later(void **state)
{
    (void)state;
    struct run run;
    load(&run, "schema-1");
    size_t kernel = op_at(&run, 200), copy = op_at(&run, 100);
    assert_string_equal(run_text(&run, run.ops.name[kernel]), "saxpy");
    assert_int_equal(run.ops.shape[kernel], NONE);
    assert_int_equal(pid_of(&run, kernel), 9); /* the only process there is */
    assert_string_equal(call_of(&run, kernel), "cudaLaunch");
    assert_int_equal(run.ops.bytes[copy], UNKNOWN); /* unknown is not zero */
    assert_int_equal(run.ops.src[copy], MEM_UNKNOWN);
    assert_int_equal(stream_of(&run, copy)->context, UNKNOWN);
    assert_span(&run, 165, 185, SPAN_API, "cuLaunchKernel", "");
    assert_span(&run, 90, 310, SPAN_ANNOTATION, "iteration", "");
    assert_int_equal(run.marks.count, 1);
    assert_int_equal(run.sources.at[0].base_ns, 0);
    assert_int_equal(run.devices.count, 1);
    const struct device *d = &run.devices.at[run_op_device(&run, kernel)];
    assert_string_equal(run_text(&run, d->name), "Tesla V100");
    assert_int_equal(d->sm_count, 80);
    assert_int_equal(d->max_threads_per_sm, 2048);
    assert_int_equal(d->cc_major, 7);
    assert_int_equal(d->memory_bytes, 16945512448);
    assert_int_equal(run.sources.at[0].repairs.count, 0);
    assert_no_losses(&run);
    run_release(&run);
}

/* ---- clocks -------------------------------------------------------------------------------------------- */

static void two_files_of_one_run_share_the_clock_of_the_world(void **state)
{
    (void)state;
    struct run run;
    struct err err;
    run_init(&run);
    const char *const samples[] = {"schema-2.9", "schema-3.28"};
    for (int i = 0; i < 2; i++) {
        struct place p;
        place_sample(&p, samples[i]);
        assert_int_equal(import_path(&run, p.path, NULL, &err), 0);
        place_remove(&p);
    }
    run_seal(&run);
    assert_int_equal(run.sources.count, 2);
    assert_int_equal(run.ops.count, 11);
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < run.ops.count; i++) {
        first = min_ns(first, run.ops.start[i]);
        last = max_ns(last, run.ops.start[i]);
    }
    assert_int_equal(first, INT64_C(1700000000000000000) - 900);
    assert_int_equal(last, INT64_C(1785534046000000000) + 9500);
    assert_int_equal(run.devices.count, 3);
    run_release(&run);
}

static void times_exported_as_unix_time_are_not_shifted_again(void **state)
{
    (void)state;
    struct place p;
    struct run run;
    struct err err;
    place_sample(&p, "schema-2.9");
    run_sql(p.path, "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PARAM_TIME_NORMALIZE', 'true')");
    run_init(&run);
    assert_int_equal(import_path(&run, p.path, NULL, &err), 0);
    assert_int_equal(run.sources.at[0].base_ns, 0);
    assert_int_equal(run.ops.start[op_at(&run, 5000)], 5000);
    run_release(&run);
    place_remove(&p);
}

/* ---- files, pipes, compression ------------------------------------------------------------------------- */

static void reading_leaves_the_file_and_its_directory_untouched(void **state)
{
    (void)state;
    struct place p;
    struct run run;
    struct err err;
    struct str before = {0}, after = {0};
    place_sample(&p, "schema-2.9");
    read_file(p.path, &before);
    chmod(p.path, 0400);
    chmod(p.dir, 0500);
    run_init(&run);
    assert_int_equal(import_path(&run, p.path, NULL, &err), 0);
    assert_int_equal(run.ops.count, 5);
    assert_int_equal(count_files(p.dir), 1);
    read_file(p.path, &after);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.ptr, after.ptr, after.len);
    assert_int_equal(run.sources.at[0].bytes, before.len);
    chmod(p.dir, 0700);
    place_remove(&p);
    run_release(&run);
    str_release(&before);
    str_release(&after);
}

static void gzip_bytes(const struct str *plain, struct str *out)
{
    z_stream z = {0};
    char chunk[65536];
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)plain->ptr;
    z.avail_in = (unsigned)plain->len;
    int code;
    do {
        z.next_out = (unsigned char *)chunk;
        z.avail_out = sizeof chunk;
        code = deflate(&z, Z_FINISH);
        str_add(out, chunk, sizeof chunk - z.avail_out);
    } while (code == Z_OK);
    assert_int_equal(code, Z_STREAM_END);
    deflateEnd(&z);
}

static void compressed_and_piped_databases_read_like_files(void **state)
{
    (void)state;
    struct place p;
    struct err err;
    struct str plain = {0}, packed = {0};
    place_sample(&p, "schema-3.28");
    read_file(p.path, &plain);
    gzip_bytes(&plain, &packed);
    place_remove(&p);
    const struct str *const inputs[] = {&plain, &packed};
    for (int i = 0; i < 2; i++) {
        struct run run;
        run_init(&run);
        assert_int_equal(import_bytes(&run, inputs[i]->ptr, inputs[i]->len, &err), 0);
        run_seal(&run);
        assert_int_equal(run.ops.count, 6);
        assert_string_equal(call_of(&run, op_at(&run, 5000)), "cudaLaunchKernelExC");
        run_release(&run);
    }
    str_release(&plain);
    str_release(&packed);
}

static void a_full_temporary_directory_is_an_error_that_says_what_to_do(void **state)
{
    (void)state;
    struct run run;
    struct err err;
    char bytes[1024] = "SQLite format 3";
    char *kept = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    setenv("TMPDIR", "/nonexistent/place", 1);
    run_init(&run);
    assert_int_equal(import_bytes(&run, bytes, sizeof bytes, &err), ERR_ENV);
    assert_non_null(strstr(err.hint, "TMPDIR"));
    assert_non_null(strstr(err.what, "/nonexistent/place"));
    assert_int_equal(run.sources.count, 0);
    run_release(&run);
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
}

static void databases_with_a_write_ahead_log_are_read_and_the_log_is_mentioned(void **state)
{
    (void)state;
    struct place p;
    struct run run;
    struct err err;
    struct str bytes = {0};
    char log[128];
    place_sample(&p, "schema-2.9");
    run_sql(p.path, "PRAGMA journal_mode=WAL");
    snprintf(log, sizeof log, "%s-wal", p.path);
    FILE *file = fopen(log, "wb");
    assert_non_null(file);
    fputs("not a log", file);
    fclose(file);
    read_file(p.path, &bytes);
    assert_int_equal(bytes.ptr[18], 2);
    run_init(&run);
    assert_int_equal(import_path(&run, p.path, NULL, &err), 0);
    assert_int_equal(run.ops.count, 5);
    assert_int_equal(repair_count(&run, "changes that lie in a -wal file"), 1);
    run_release(&run);
    run_init(&run);
    assert_int_equal(import_bytes(&run, bytes.ptr, bytes.len, &err), 0);
    assert_int_equal(run.ops.count, 5);
    run_release(&run);
    str_release(&bytes);
    place_remove(&p);
}

/* ---- what is no export of nsys ------------------------------------------------------------------------- */

static void expect_refusal(const char *sql, const char *what, const char *hint)
{
    struct place p;
    struct run run;
    struct err err;
    place_make(&p);
    run_sql(p.path, sql);
    run_init(&run);
    assert_int_equal(import_path(&run, p.path, NULL, &err), ERR_INPUT);
    if (!strstr(err.what, what) || !strstr(err.hint, hint))
        fail_msg("%s (%s)", err.what, err.hint);
    assert_int_equal(run.sources.count, 0);
    run_release(&run);
    place_remove(&p);
}

static void databases_of_other_programs_are_named_and_refused(void **state)
{
    (void)state;
    expect_refusal("CREATE TABLE StringTable (_id_ INTEGER, value TEXT);"
                   "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, cbid INT)",
                   "nvprof", "--csv");
    expect_refusal("CREATE TABLE rocpd_string_0000 (id INTEGER); CREATE TABLE rocpd_event_0000 (id INTEGER)",
                   "rocpd", "csv");
    expect_refusal("CREATE TABLE moz_places (url TEXT); CREATE TABLE \"a\nb\" (x)", "moz_places, a?b",
                   "nsys export");
    expect_refusal("VACUUM", "no tables", "nsys export");
}

static void what_only_begins_like_sqlite_is_refused(void **state)
{
    (void)state;
    struct run run;
    struct err err;
    char bytes[4096] = "SQLite format 3";
    run_init(&run);
    assert_int_equal(import_bytes(&run, bytes, sizeof bytes, &err), ERR_INPUT);
    assert_non_null(strstr(err.what, "cannot be read"));
    assert_int_equal(import_bytes(&run, bytes, 30, &err), ERR_INPUT);
    assert_non_null(strstr(err.what, "within its header"));
    run_release(&run);
}

static void the_first_bytes_tell_how_sure_we_are(void **state)
{
    (void)state;
    char head[4096] = "SQLite format 3";
    assert_int_equal(import_nsys_sqlite.sniff(head, sizeof head), 50);
    memcpy(head + 2000, "CREATE TABLE StringIds", 22);
    assert_true(import_nsys_sqlite.sniff(head, sizeof head) > 90);
    assert_int_equal(import_nsys_sqlite.sniff(head, 15), 0);
    head[15] = 'x';
    assert_int_equal(import_nsys_sqlite.sniff(head, sizeof head), 0);
}

/* ---- progress ------------------------------------------------------------------------------------------ */

struct seen {
    int calls;
    int64_t last;
    bool in_order;
};

static void see(void *context, const char *path, int64_t done, int64_t total)
{
    struct seen *seen = context;
    seen->calls++;
    seen->in_order &= done > seen->last && done <= total && strstr(path, ".sqlite");
    seen->last = done;
}

static void progress_rises_and_never_passes_the_size_of_the_file(void **state)
{
    (void)state;
    struct place p;
    struct run run;
    struct err err;
    struct seen seen = {.in_order = true};
    place_many(&p);
    run_sql(p.path, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT k.* FROM CUPTI_ACTIVITY_KIND_KERNEL k, "
                    "(SELECT rowid FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 29)");
    run_init(&run);
    struct import_options options = {.progress = see, .context = &seen};
    assert_int_equal(import_path(&run, p.path, &options, &err), 0);
    assert_int_equal(run.ops.count, 30 * MANY);
    assert_true(seen.calls >= 2);
    assert_true(seen.in_order);
    run_release(&run);
    place_remove(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema_2_9_gives_kernels_copies_and_their_calls),
        cmocka_unit_test(schema_2_9_gives_host_spans_with_stacks_innermost_first),
        cmocka_unit_test(schema_2_9_gives_devices_waits_memory_and_facts),
        cmocka_unit_test(schema_3_1_names_nvtx_ranges_domains_and_threads),
        cmocka_unit_test(schema_3_1_follows_events_to_the_stream_that_recorded_them),
        cmocka_unit_test(schema_3_1_numbers_devices_by_cuda_ordinal),
        cmocka_unit_test(schema_3_16_links_all_nodes_of_a_graph_to_its_launch),
        cmocka_unit_test(schema_3_16_counts_what_the_messages_say_was_lost),
        cmocka_unit_test(schema_3_16_gives_metrics_with_units_and_the_command),
        cmocka_unit_test(schema_3_28_keeps_processes_with_equal_correlation_ids_apart),
        cmocka_unit_test(schema_3_28_finds_the_gpu_that_each_process_means),
        cmocka_unit_test(schema_3_28_counts_whole_graphs_as_gpu_work),
        cmocka_unit_test(schema_1_is_read_without_the_columns_that_came_later),
        cmocka_unit_test(two_files_of_one_run_share_the_clock_of_the_world),
        cmocka_unit_test(times_exported_as_unix_time_are_not_shifted_again),
        cmocka_unit_test(reading_leaves_the_file_and_its_directory_untouched),
        cmocka_unit_test(compressed_and_piped_databases_read_like_files),
        cmocka_unit_test(a_full_temporary_directory_is_an_error_that_says_what_to_do),
        cmocka_unit_test(databases_with_a_write_ahead_log_are_read_and_the_log_is_mentioned),
        cmocka_unit_test(databases_of_other_programs_are_named_and_refused),
        cmocka_unit_test(what_only_begins_like_sqlite_is_refused),
        cmocka_unit_test(the_first_bytes_tell_how_sure_we_are),
        cmocka_unit_test(progress_rises_and_never_passes_the_size_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

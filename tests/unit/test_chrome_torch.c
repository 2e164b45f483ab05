/* Events of torch.profiler, vintage by vintage and quirk by quirk. */
#include "chrome_trace.h"

/* ---- torch.profiler: GPU work ------------------------------------------------------------------------ */

static void test_a_kernel_has_all_that_the_profiler_said(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, KERNEL "," CALL);
    run_seal(&run);
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.ops.kind[0], OP_KERNEL);
    assert_name(&run, run.ops.name[0], "k");
    assert_int_equal(run.ops.start[0], 10001);
    assert_int_equal(run.ops.end[0], 12501);
    assert_int_equal(run.ops.correlation[0], 5);
    assert_int_equal(run.ops.external[0], 3);
    assert_true(run.ops.bytes[0] == UNKNOWN);
    const struct shape *shape = &run.shapes.at[run.ops.shape[0]];
    assert_int_equal(shape->grid[0], 4);
    assert_int_equal(shape->grid[2], 6);
    assert_int_equal(shape->block[0], 128);
    assert_int_equal(shape->block[1], 2);
    assert_int_equal(shape->regs_per_thread, 32);
    assert_int_equal(shape->shared_static_bytes, 0);
    assert_int_equal(shape->shared_dynamic_bytes, 1024);
    assert_int_equal(shape->occupancy_percent, 37);
    assert_int_equal(run.ops.call[0], 0);
    assert_name(&run, run.spans.name[0], "cudaLaunchKernel");
    assert_int_equal(run.losses.unlinked, 0);
    assert_nothing_lost(&run);
    assert_name(&run, run.sources.at[0].format, "torch.profiler JSON");
    run_release(&run);
}

static void test_the_queue_of_an_op_belongs_to_the_process_that_launched(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, KERNEL "," CALL);
    assert_int_equal(run.streams.count, 1);
    assert_int_equal(run.streams.at[0].id, 7);
    assert_int_equal(run.streams.at[0].context, 1);
    assert_int_equal(run.devices.at[run.streams.at[0].device].id, 0);
    assert_int_equal(run.processes.at[run.streams.at[0].process].pid, 100);
    run_release(&run);
}

static void test_processes_of_one_file_keep_their_correlations_apart(void **state)
{
    (void)state;
    struct run run;
    import_events(&run,
                  KERNEL "," CALL
                         ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"other\",\"pid\":200,\"tid\":201,"
                         "\"ts\":2,\"dur\":1,\"args\":{\"correlation\":6}},"
                         "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k2\",\"pid\":0,\"tid\":7,\"ts\":20,"
                         "\"dur\":1,\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":6}}");
    run_seal(&run);
    assert_int_equal(run.ops.count, 2);
    assert_int_equal(run.processes.at[run.streams.at[run.ops.stream[0]].process].pid, 100);
    assert_int_equal(run.processes.at[run.streams.at[run.ops.stream[1]].process].pid, 200);
    assert_name(&run, run.spans.name[run.ops.call[1]], "other");
    run_release(&run);
}

static void test_a_process_with_the_number_of_a_device_stays_a_process(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, KERNEL
                  ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":0,\"tid\":0,\"ts\":1,"
                  "\"dur\":9,\"args\":{\"External id\":3}},"
                  "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":0,"
                  "\"tid\":0,\"ts\":2,\"dur\":1,\"args\":{\"correlation\":5}}");
    run_seal(&run);
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.spans.count, 2);
    assert_int_equal(run.spans.kind[0], SPAN_OP);
    assert_int_equal(run.spans.id[0], 3);
    assert_int_equal(run.ops.call[0], 1);
    run_release(&run);
}

static void test_members_may_come_in_any_order(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, "{\"args\":{\"block\":[1,1,1],\"stream\":9,\"grid\":[2,1,1],\"device\":3},\"dur\":1,"
                        "\"tid\":9,\"name\":\"k\",\"ts\":4,\"pid\":3,\"cat\":\"kernel\",\"ph\":\"X\"}");
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.ops.start[0], 4000);
    assert_int_equal(run.shapes.at[run.ops.shape[0]].grid[0], 2);
    assert_int_equal(run.streams.at[run.ops.stream[0]].id, 9);
    assert_non_null(device_of(&run, 3));
    run_release(&run);
}

static void test_copies_know_direction_memory_and_size(void **state)
{
    (void)state;
    static const struct {
        const char *name, *more;
        int dir, src, dst;
        int64_t bytes;
    } cases[] = {
        {"Memcpy HtoD (Pageable -> Device)", ",\"bytes\":128", COPY_H2D, MEM_PAGEABLE, MEM_DEVICE, 128},
        {"Memcpy DtoH (Device -> Pinned)", ",\"bytes\":5000000000", COPY_D2H, MEM_DEVICE, MEM_PINNED,
         5000000000},
        {"Memcpy DtoD (Device -> Device)", "", COPY_D2D, MEM_DEVICE, MEM_DEVICE, UNKNOWN},
        {"Memcpy PtoP (Device -> Device)", ",\"bytes\":1", COPY_P2P, MEM_DEVICE, MEM_DEVICE, 1},
        {"Memcpy HtoD (Host -> Device)", ",\"bytes\":2", COPY_H2D, MEM_UNKNOWN, MEM_DEVICE, 2},
        {"CopyHostToDevice", ",\"bytes\":3", COPY_H2D, MEM_UNKNOWN, MEM_UNKNOWN, 3},
        {"something", ",\"kind\":\"DtoH\"", COPY_D2H, MEM_UNKNOWN, MEM_UNKNOWN, UNKNOWN},
        {"something", ",\"bytes\":\"N/A\"", COPY_UNKNOWN, MEM_UNKNOWN, MEM_UNKNOWN, UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        struct str event = {0};
        str_addf(
            &event,
            "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"%s\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1,"
            "\"args\":{\"device\":0,\"stream\":7,\"memory bandwidth (GB/s)\":inf%s}}",
            cases[i].name, cases[i].more);
        import_events(&run, event.ptr);
        assert_int_equal(run.ops.count, 1);
        assert_int_equal(run.ops.kind[0], OP_COPY);
        assert_int_equal(run.ops.dir[0], cases[i].dir);
        assert_int_equal(run.ops.src[0], cases[i].src);
        assert_int_equal(run.ops.dst[0], cases[i].dst);
        assert_true(run.ops.bytes[0] == cases[i].bytes);
        assert_int_equal(run.ops.shape[0], NONE);
        assert_int_equal(repairs(&run, "JSON does not know"), 1);
        str_release(&event);
        run_release(&run);
    }
}

static void test_memsets_and_graph_nodes(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":\"Memset (Device)\",\"pid\":0,\"tid\":7,\"ts\":1,"
        "\"dur\":1,\"args\":{\"device\":0,\"stream\":7,\"bytes\":64}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":3,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":7,\"graph id\":12,\"graph node id\":5,"
        "\"occupancy\":{\"blockLimitRegs\":2147483647,\"limitingFactors\":\"BLOCKS\"}}}");
    assert_int_equal(run.ops.kind[0], OP_MEMSET);
    assert_int_equal(run.ops.dst[0], MEM_DEVICE);
    assert_int_equal(run.ops.bytes[0], 64);
    assert_int_equal(run.ops.graph[0], 0);
    assert_int_equal(run.ops.graph[1], 12);
    run_release(&run);
}

static void test_collectives_keep_what_nccl_said(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":7,\"Collective name\":\"allreduce\",\"In msg nelems\":6563840,"
        "\"Out msg nelems\":6563841,\"Group size\":2,\"dtype\":\"Float\",\"Process Group Name\":\"0\","
        "\"Process Group Description\":\"default_pg\",\"Process Group Ranks\":\"[0, 1]\",\"Seq\":44}}");
    const struct comm *comm = &run.comms.at[run.ops.comm[0]];
    assert_name(&run, comm->collective, "allreduce");
    assert_name(&run, comm->group, "default_pg");
    assert_name(&run, comm->ranks, "[0, 1]");
    assert_name(&run, comm->dtype, "Float");
    assert_int_equal(comm->in_elements, 6563840);
    assert_int_equal(comm->out_elements, 6563841);
    assert_int_equal(comm->group_size, 2);
    assert_int_equal(comm->seq, 44);
    run_release(&run);
}

static void test_collectives_are_linked_through_their_operator(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":7,\"External id\":9}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"other\",\"pid\":0,\"tid\":7,\"ts\":7,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":7,\"External id\":10}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\",\"pid\":1,\"tid\":1,\"ts\":1,"
        "\"dur\":1,"
        "\"args\":{\"External id\":9,\"Collective name\":\"broadcast\",\"Group size\":8}}");
    assert_name(&run, run.comms.at[run.ops.comm[0]].collective, "broadcast");
    assert_true(run.comms.at[run.ops.comm[0]].in_elements == UNKNOWN);
    assert_int_equal(run.ops.comm[1], NONE);
    run_release(&run);
}

static void test_waits_are_no_work(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, KERNEL
                  "," CALL
                  ",{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream Wait Event\",\"pid\":0,\"tid\":7,"
                  "\"ts\":30,\"dur\":3,\"args\":{\"cuda_sync_kind\":\"Stream Wait Event\",\"stream\":7,"
                  "\"wait_on_stream\":28,\"device\":0,\"context\":1,\"correlation\":77}},"
                  "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Context Sync\",\"pid\":0,\"tid\":-1,"
                  "\"ts\":40,\"dur\":3,\"args\":{\"cuda_sync_kind\":\"Context Sync\","
                  "\"stream\":4294967295,\"device\":0,\"context\":1}}");
    run_seal(&run);
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.waits.count, 2);
    const struct wait *wait = run.waits.at;
    assert_name(&run, wait[0].kind, "Stream Wait Event");
    assert_int_equal(wait[0].start, 30000);
    assert_int_equal(wait[0].end, 33000);
    assert_int_equal(wait[0].stream, run.ops.stream[0]);
    assert_int_equal(run.streams.at[wait[0].on_stream].id, 28);
    assert_int_equal(wait[1].stream, NONE);
    assert_int_equal(wait[1].on_stream, NONE);
    run_release(&run);
}

/* ---- torch.profiler: the host ------------------------------------------------------------------------ */

static void test_host_rows_by_category(void **state)
{
    (void)state;
    static const struct {
        const char *category, *args;
        enum span_kind kind;
        uint64_t id;
    } cases[] = {
        {"cpu_op", "\"External id\":4", SPAN_OP, 4},
        {"Operator", "\"External id\":4", SPAN_OP, 4},
        {"user_annotation", "\"External id\":6", SPAN_ANNOTATION, 6},
        {"python_function", "\"Python id\":8,\"Python parent id\":7", SPAN_PYTHON, 8},
        {"cuda_runtime", "\"correlation\":9,\"External id\":1", SPAN_API, 9},
        {"cuda_driver", "\"correlation\":9", SPAN_API, 9},
        {"Runtime", "\"correlation\":9,\"external id\":9", SPAN_API, 9},
        {"hip_runtime", "\"correlation\":9", SPAN_API, 9},
        {"xpu_runtime", "\"correlation\":9", SPAN_API, 9},
        {"xpu_driver", "\"correlation\":9", SPAN_API, 9},
        {"mtia_runtime", "\"correlation\":9", SPAN_API, 9},
        {"hpu_op", "\"correlation\":9", SPAN_API, 9},
        {"privateuse1_runtime", "\"correlation\":9", SPAN_API, 9},
        {"privateuse1_driver", "\"correlation\":9", SPAN_API, 9},
        {"glow_runtime", "\"correlation\":9", SPAN_API, 9},
        {"overhead", "", SPAN_OVERHEAD, 0},
        {"a category of tomorrow", "\"External id\":4", SPAN_OTHER, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        struct str event = {0};
        str_addf(&event,
                 "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"n\",\"pid\":5,\"tid\":6,\"ts\":1,\"dur\":2,"
                 "\"args\":{%s}}",
                 cases[i].category, cases[i].args);
        import_events(&run, event.ptr);
        assert_int_equal(run.spans.count, 1);
        assert_int_equal(run.spans.kind[0], cases[i].kind);
        assert_int_equal(run.spans.id[0], cases[i].id);
        assert_int_equal(run.threads.at[run.spans.thread[0]].tid, 6);
        assert_int_equal(run.processes.at[run.threads.at[run.spans.thread[0]].process].pid, 5);
        assert_int_equal(run.ops.count, 0);
        str_release(&event);
        run_release(&run);
    }
}

static void test_device_rows_of_other_back_ends(void **state)
{
    (void)state;
    static const char *const categories[] = {"kernel", "Kernel", "concurrent_kernel", "mtia_ccp_events",
                                             "collective_comm"};
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        struct run run;
        struct str event = {0};
        str_addf(&event,
                 "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"n\",\"pid\":2,\"tid\":6,\"ts\":1,\"dur\":2,"
                 "\"args\":{\"device\":2,\"stream\":6}}",
                 categories[i]);
        import_events(&run, event.ptr);
        assert_int_equal(run.ops.count, 1);
        assert_int_equal(run.ops.kind[0], OP_KERNEL);
        str_release(&event);
        run_release(&run);
    }
}

static void test_a_kernel_category_without_a_device_is_a_host_span(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"vfs_read\",\"pid\":2,\"tid\":6,\"ts\":1,\"dur\":2}");
    assert_int_equal(run.ops.count, 0);
    assert_int_equal(run.spans.kind[0], SPAN_OTHER);
    assert_name(&run, run.sources.at[0].format, "Chrome trace JSON");
    run_release(&run);
}

static void test_derived_rows_are_left_out(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":1,"
              "\"dur\":2},"
              "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":\"Spans\","
              "\"tid\":\"PyTorch Profiler\",\"ts\":1,\"dur\":2},"
              "{\"ph\":\"s\",\"id\":1,\"pid\":5,\"tid\":6,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\"},"
              "{\"ph\":\"f\",\"id\":1,\"pid\":0,\"tid\":7,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":"
              "\"e\"},"
              "{\"name\":\"Iteration Start: PyTorch Profiler\",\"ph\":\"i\",\"s\":\"g\",\"pid\":\"Traces\","
              "\"tid\":\"Trace\",\"ts\":1},"
              "{\"name\":\"Record Window End\",\"ph\":\"i\",\"s\":\"g\",\"pid\":\"\",\"tid\":\"\","
              "\"ts\":9000000000000000}");
    assert_int_equal(run.spans.count + run.ops.count + run.marks.count + run.threads.count, 0);
    assert_nothing_lost(&run);
    run_release(&run);
}

static void test_call_stacks_become_the_detail(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"
              "\"args\":{\"Call stack\":\"a.py(1): f;b.py(2): g\"}}");
    assert_name(&run, run.spans.detail[0], "a.py(1): f;b.py(2): g");
    run_release(&run);
}

static void test_early_annotations_are_told_from_operators(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum span_kind kind;
    } cases[] = {{"ProfilerStep#3", SPAN_ANNOTATION},
                 {"Optimizer.step#SGD.step", SPAN_ANNOTATION},
                 {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", SPAN_ANNOTATION},
                 {"aten::add", SPAN_OP},
                 {"AddmmBackward", SPAN_OP}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        struct str event = {0};
        str_addf(
            &event,
            "{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"%s\",\"pid\":1,\"tid\":\"1\",\"ts\":1,\"dur\":1}",
            cases[i].name);
        import_events(&run, event.ptr);
        assert_int_equal(run.spans.kind[0], cases[i].kind);
        str_release(&event);
        run_release(&run);
    }
}

static void test_overhead_without_a_process_goes_to_the_profiled_one(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"Activity Buffer Request\",\"pid\":-1,\"tid\":0,"
              "\"ts\":2,\"dur\":1},"
              "{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"Lazy Function Loading\",\"pid\":-1,\"tid\":101,"
              "\"ts\":4,\"dur\":1}," CALL);
    assert_int_equal(run.processes.count, 1);
    assert_int_equal(run.processes.at[0].pid, 100);
    assert_int_equal(run.spans.kind[0], SPAN_OVERHEAD);
    assert_int_equal(run.threads.at[run.spans.thread[0]].tid, 0);
    assert_int_equal(run.threads.at[run.spans.thread[1]].tid, 101);
    assert_int_equal(run.spans.thread[1], run.spans.thread[2]);
    run_seal(&run);
    run_release(&run);
}

static void test_allocator_events_become_curves(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,"
        "\"ts\":5,\"args\":{\"Total Reserved\":20,\"Total Allocated\":10,\"Bytes\":10,\"Device Id\":3,"
        "\"Device Type\":1,\"Addr\":1}},"
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,"
        "\"ts\":6,\"args\":{\"Total Reserved\":0,\"Total Allocated\":7,\"Bytes\":7,\"Device Id\":-1,"
        "\"Device Type\":0}}");
    assert_int_equal(run.samples.count, 4);
    assert_int_equal(run.series.count, 4);
    const struct counter_series *series = &run.series.at[run.samples.series[0]];
    assert_name(&run, series->name, "memory allocated");
    assert_int_equal(series->unit, UNIT_BYTES);
    assert_int_equal(run.devices.at[series->device].id, 3);
    assert_int_equal(run.processes.at[series->process].pid, 1);
    assert_true(run.samples.value[0] == 10);
    assert_int_equal(run.samples.time[0], 5000);
    assert_name(&run, run.series.at[run.samples.series[1]].name, "memory reserved");
    assert_true(run.samples.value[1] == 20);
    assert_int_equal(run.series.at[run.samples.series[2]].device, NONE);
    assert_true(run.samples.value[2] == 7);
    run_release(&run);
}

static void test_changes_without_totals_are_summed_under_another_name(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":5,"
                        "\"args\":{\"Bytes\":10,\"Device Id\":0,\"Device Type\":1}},"
                        "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":6,"
                        "\"args\":{\"Bytes\":-4,\"Device Id\":0,\"Device Type\":1}}");
    assert_int_equal(run.samples.count, 2);
    assert_name(&run, run.series.at[0].name, "memory change");
    assert_true(run.samples.value[1] == 6);
    run_release(&run);
}

static void test_running_out_of_memory_is_marked(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[OutOfMemory]\",\"pid\":1,\"tid\":2,"
              "\"ts\":5}");
    assert_int_equal(run.marks.count, 1);
    assert_int_equal(run.marks.at[0].kind, MARK_OOM);
    assert_int_equal(run.marks.at[0].time, 5000);
    run_release(&run);
}

/* ---- torch.profiler: what a file says about itself --------------------------------------------------- */

static void test_device_properties_fill_the_device(void **state)
{
    (void)state;
    struct run run;
    import_text(
        &run, "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H200\","
              "\"totalGlobalMem\":150109880320,\"computeMajor\":9,\"computeMinor\":0,"
              "\"maxThreadsPerBlock\":1024,\"maxThreadsPerMultiprocessor\":2048,\"regsPerBlock\":65536,"
              "\"warpSize\":32,\"sharedMemPerBlock\":49152,\"numSms\":132\n,\"regsPerMultiprocessor\":65536,"
              "\"sharedMemPerBlockOptin\":232448,\"sharedMemPerMultiprocessor\":233472}],"
              "\"cuda_driver_version\":13000,\"with_stack\":1,\"host_name\":\"h\",\"traceEvents\":[]}");
    const struct device *device = device_of(&run, 0);
    assert_name(&run, device->name, "NVIDIA H200");
    assert_int_equal(device->vendor, VENDOR_NVIDIA);
    assert_int_equal(device->memory_bytes, 150109880320);
    assert_int_equal(device->cc_major, 9);
    assert_int_equal(device->sm_count, 132);
    assert_int_equal(device->warp_size, 32);
    assert_int_equal(device->max_threads_per_sm, 2048);
    assert_int_equal(device->max_warps_per_sm, 64);
    assert_int_equal(device->regs_per_sm, 65536);
    assert_int_equal(device->shared_bytes_per_sm, 233472);
    assert_int_equal(device->shared_bytes_per_block_optin, 232448);
    assert_string_equal(fact(&run, "cuda_driver_version"), "13000");
    assert_string_equal(fact(&run, "with_stack"), "1");
    assert_string_equal(fact(&run, "host_name"), "h");
    run_release(&run);
}

static void test_the_first_spelling_of_device_properties_is_read_too(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "{\"computeProperties\":[{\"id\":2,\"name\":\"Tesla V100\",\"major\":7,\"minor\":0}],"
                      "\"traceEvents\":[]}");
    assert_int_equal(device_of(&run, 2)->cc_major, 7);
    assert_int_equal(device_of(&run, 2)->vendor, VENDOR_NVIDIA);
    run_release(&run);
}

static void test_vendors_are_told_by_whole_words(void **state)
{
    (void)state;
    static const struct {
        const char *metadata;
        enum vendor vendor;
    } cases[] = {
        {"\"cuda_driver_version\":1,\"x\":\"\"", VENDOR_NVIDIA},
        {"\"roctracer_version\":4.1", VENDOR_AMD},
        {"\"hip_runtime_version\":1", VENDOR_AMD},
        {"\"lambda\":1", VENDOR_UNKNOWN},
        {"\"xpu_driver\":1", VENDOR_INTEL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        struct str json = {0};
        str_addf(&json, "{%s,\"deviceProperties\":[{\"id\":0,\"name\":\"\"}],\"traceEvents\":[]}",
                 cases[i].metadata);
        import_text(&run, json.ptr);
        assert_int_equal(device_of(&run, 0)->vendor, cases[i].vendor);
        str_release(&json);
        run_release(&run);
    }
}

static void test_unlisted_devices_borrow_from_a_list_of_one_model(void **state)
{
    (void)state;
    struct run run;
    static const char kernel[] =
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":9,\"tid\":0,\"ts\":1,\"dur\":1,"
        "\"args\":{\"device\":9,\"stream\":0}}";
    struct str json = {0};
    str_addf(
        &json,
        "{\"hip_driver_version\":70226015,\"deviceProperties\":[{\"id\":0,\"name\":\"\",\"numSms\":304}],"
        "\"traceEvents\":[%s]}",
        kernel);
    import_text(&run, json.ptr);
    assert_int_equal(device_of(&run, 9)->sm_count, 304);
    assert_int_equal(device_of(&run, 9)->vendor, VENDOR_AMD);
    assert_int_equal(repairs(&run, "device list"), 1);
    run_release(&run);

    str_cut(&json, 0);
    str_addf(&json,
             "{\"deviceProperties\":[{\"id\":0,\"name\":\"A\",\"numSms\":1},{\"id\":1,\"name\":\"B\","
             "\"numSms\":2}],\"traceEvents\":[%s]}",
             kernel);
    import_text(&run, json.ptr);
    assert_int_equal(device_of(&run, 9)->sm_count, 0);
    run_release(&run);
    str_release(&json);
}

static void test_rank_and_world_size(void **state)
{
    (void)state;
    struct run run;
    import_text(
        &run,
        "{\"traceEvents\":[" CALL "],\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3,"
        "\"world_size\":8,\"pg_config\":[{\"pg_name\":\"0\",\"ranks\":[0,1]}],\"nccl_version\":\"2.20\"}}");
    assert_int_equal(run.sources.at[0].rank, 3);
    assert_int_equal(run.sources.at[0].world_size, 8);
    assert_int_equal(run.processes.at[0].rank, 3);
    assert_int_equal(run.processes.at[0].world_size, 8);
    assert_string_equal(fact(&run, "distributed_nccl_version"), "2.20");
    run_release(&run);
    import_events(&run, CALL);
    assert_int_equal(run.sources.at[0].rank, -1);
    run_release(&run);
}

static void test_base_time_counts_wherever_it_stands(void **state)
{
    (void)state;
    static const char *const documents[] = {
        "{\"baseTimeNanoseconds\":1790857026000000000,\"traceEvents\":[" KERNEL "," CALL "]}",
        "{\"traceEvents\":[" KERNEL "," CALL "],\"baseTimeNanoseconds\":1790857026000000000}",
    };
    for (int i = 0; i < 2; i++) {
        struct run run;
        import_text(&run, documents[i]);
        assert_int_equal(run.ops.start[0], 1790857026000010001);
        assert_int_equal(run.ops.end[0], 1790857026000012501);
        assert_int_equal(run.spans.start[0], 1790857026000001000);
        assert_int_equal(run.sources.at[0].base_ns, 1790857026000000000);
        run_release(&run);
    }
}

static void test_metadata_events_name_processes_threads_and_queues(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, KERNEL
                  "," CALL ",{\"name\":\"process_name\",\"ph\":\"M\",\"ts\":1,\"pid\":100,\"tid\":0,"
                  "\"args\":{\"name\":\"python3\"}},"
                  "{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":100,\"args\":{\"labels\":\"CPU\"}},"
                  "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":100,\"tid\":\"101\","
                  "\"args\":{\"name\":\"thread 101 (python3)\"}},"
                  "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":7,"
                  "\"args\":{\"name\":\"stream 7 \"}}");
    assert_int_equal(run.processes.count, 1);
    assert_name(&run, run.processes.at[0].name, "python3");
    assert_name(&run, run.threads.at[0].name, "thread 101 (python3)");
    assert_name(&run, run.streams.at[0].name, "stream 7");
    run_release(&run);
}

static void test_launch_calls_lend_their_shape(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":0,\"ts\":5,\"dur\":1,"
        "\"args\":{\"device\":2,\"stream\":0,\"correlation\":11,\"kind\":\"Dispatch Kernel\"}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":1,"
        "\"dur\":1,\"args\":{\"kernel\":\"k\",\"cid\":107,\"correlation\":11,\"grid\":[16,1,1],"
        "\"block\":[512,1,1],\"shared memory\":8192}}");
    assert_int_not_equal(run.ops.shape[0], NONE);
    const struct shape *shape = &run.shapes.at[run.ops.shape[0]];
    assert_int_equal(shape->grid[0], 16);
    assert_int_equal(shape->shared_dynamic_bytes, 8192);
    assert_int_equal(shape->occupancy_percent, -1);
    run_release(&run);
}

static void test_ids_keep_all_64_bits(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":1,"
              "\"args\":{\"device\":0,\"stream\":9223372036854775807,\"correlation\":9223372036854775809,"
              "\"External id\":18446744073709551615}},"
              "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"c\",\"pid\":9223372036854775807,\"tid\":-5,"
              "\"ts\":1,\"dur\":1,\"args\":{\"correlation\":9223372036854775809}}");
    run_seal(&run);
    assert_true(run.ops.correlation[0] == UINT64_C(9223372036854775809));
    assert_true(run.ops.external[0] == UINT64_MAX);
    assert_int_equal(run.ops.call[0], 0);
    assert_true(run.streams.at[run.ops.stream[0]].id == INT64_MAX);
    assert_true(run.processes.at[0].pid == INT64_MAX);
    assert_int_equal(run.threads.at[0].tid, -5);
    run_release(&run);
}

static void test_numbers_of_2021_are_texts(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "[{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":0,\"tid\":\"stream 7\","
                      "\"ts\":1621401187236501,\"dur\":1,\"args\":{\"correlation\":600,\"external id\":179}},"
                      "{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"c\",\"pid\":24572,\"tid\":\"24572\","
                      "\"ts\":1621401187236483,\"dur\":10,\"args\":{\"correlation\":600}}]");
    assert_int_equal(run.streams.at[run.ops.stream[0]].id, 7);
    assert_int_equal(device_of(&run, 0)->id, 0);
    assert_int_equal(run.ops.external[0], 179);
    assert_int_equal(run.ops.start[0], 1621401187236501000);
    assert_int_equal(run.threads.at[0].tid, 24572);
    assert_nothing_lost(&run);
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kernel_has_all_that_the_profiler_said),
        cmocka_unit_test(test_the_queue_of_an_op_belongs_to_the_process_that_launched),
        cmocka_unit_test(test_processes_of_one_file_keep_their_correlations_apart),
        cmocka_unit_test(test_a_process_with_the_number_of_a_device_stays_a_process),
        cmocka_unit_test(test_members_may_come_in_any_order),
        cmocka_unit_test(test_copies_know_direction_memory_and_size),
        cmocka_unit_test(test_memsets_and_graph_nodes),
        cmocka_unit_test(test_collectives_keep_what_nccl_said),
        cmocka_unit_test(test_collectives_are_linked_through_their_operator),
        cmocka_unit_test(test_waits_are_no_work),
        cmocka_unit_test(test_host_rows_by_category),
        cmocka_unit_test(test_device_rows_of_other_back_ends),
        cmocka_unit_test(test_a_kernel_category_without_a_device_is_a_host_span),
        cmocka_unit_test(test_derived_rows_are_left_out),
        cmocka_unit_test(test_call_stacks_become_the_detail),
        cmocka_unit_test(test_early_annotations_are_told_from_operators),
        cmocka_unit_test(test_overhead_without_a_process_goes_to_the_profiled_one),
        cmocka_unit_test(test_allocator_events_become_curves),
        cmocka_unit_test(test_changes_without_totals_are_summed_under_another_name),
        cmocka_unit_test(test_running_out_of_memory_is_marked),
        cmocka_unit_test(test_device_properties_fill_the_device),
        cmocka_unit_test(test_the_first_spelling_of_device_properties_is_read_too),
        cmocka_unit_test(test_vendors_are_told_by_whole_words),
        cmocka_unit_test(test_unlisted_devices_borrow_from_a_list_of_one_model),
        cmocka_unit_test(test_rank_and_world_size),
        cmocka_unit_test(test_base_time_counts_wherever_it_stands),
        cmocka_unit_test(test_metadata_events_name_processes_threads_and_queues),
        cmocka_unit_test(test_launch_calls_lend_their_shape),
        cmocka_unit_test(test_ids_keep_all_64_bits),
        cmocka_unit_test(test_numbers_of_2021_are_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is said of a setup: facts in, checks out. Facts as the probes fill them; recorded machines, from files
 * to the command's answer, are in tests/fake/test_doctor.py. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/setup.h"
#include "analyze/visible.h"
#include "cmocka_all.h"

static const char *const uuids[] = {"GPU-3f00", "GPU-3faa", "GPU-7b11"};

static void expect_visible(const char *value, enum visible_end end, const char *numbers)
{
    struct visible visible;
    char got[64] = "";
    visible_resolve(&visible, value, uuids, 3);
    for (size_t i = 0; i < visible.count; i++)
        got[i] = (char)('0' + visible.gpus[i]);
    assert_string_equal(got, numbers);
    assert_int_equal(visible.end, end);
}

static void a_variable_that_is_not_set_shows_all_and_an_empty_one_none(void **state)
{
    (void)state;
    expect_visible(NULL, VISIBLE_ALL, "012");
    expect_visible("", VISIBLE_EMPTY, "");
    expect_visible("  ", VISIBLE_EMPTY, "");
}

static void the_list_gives_the_order_and_ends_at_what_names_no_gpu(void **state)
{
    (void)state;
    expect_visible("2,0", VISIBLE_LISTED, "20");
    expect_visible(" 1 , 2 ", VISIBLE_LISTED, "12");
    expect_visible("0,2,-1,1", VISIBLE_INVALID, "02");
    expect_visible("-1", VISIBLE_INVALID, "");
    expect_visible("NoDevFiles", VISIBLE_INVALID, "");
    expect_visible("3", VISIBLE_INVALID, "");
    expect_visible("0,", VISIBLE_INVALID, "0");
    expect_visible("1x", VISIBLE_INVALID, "");
    expect_visible("99999999999999999999", VISIBLE_INVALID, "");
}

static void beginnings_of_uuids_count_where_they_are_unique(void **state)
{
    (void)state;
    expect_visible("GPU-7", VISIBLE_LISTED, "2");
    expect_visible("GPU-3faa,GPU-7b11", VISIBLE_LISTED, "12");
    expect_visible("GPU-3f", VISIBLE_AMBIGUOUS, "");
    expect_visible("GPU-9", VISIBLE_INVALID, "");
    expect_visible("GPU-7,0", VISIBLE_MIXED, "2");
}

static void a_gpu_listed_twice_hides_all_and_an_instance_stands_alone(void **state)
{
    (void)state;
    expect_visible("1,1", VISIBLE_DUPLICATE, "");
    expect_visible("MIG-0a,MIG-0b", VISIBLE_MIG, "");
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void start(struct setup *s)
{
    setup_init(s);
    *vec_new(&s->gpus) = (struct setup_gpu){.bus = "0000:01:00.0",
                                            .vendor = PCI_NVIDIA,
                                            .driver = "nvidia",
                                            .power = "active",
                                            .model = "",
                                            .uuid = "GPU-3f00",
                                            .minor = 0};
    s->nvidia.is_loaded = true;
    s->driver_version = "580.65.06";
    *vec_new(&s->nodes) = (struct setup_node){"/dev/nvidiactl", 0};
    *vec_new(&s->nodes) = (struct setup_node){"/dev/nvidia-uvm", 0};
    *vec_new(&s->nodes) = (struct setup_node){"/dev/nvidia0", 0};
    *vec_new(&s->libraries) =
        (struct setup_library){"libcuda.so.1", "/usr/lib/libcuda.so.1", "580.65.06", false};
}

/* The worst status of the checks with an id; -1 where there is none. */
static int status_of(struct setup *s, const char *id)
{
    static const int ranks[] = {[CHECK_OK] = 0, [CHECK_UNKNOWN] = 1, [CHECK_WARN] = 2, [CHECK_FAIL] = 3};
    struct diagnosis d = {0};
    int worst = -1;
    setup_diagnose(&d, s);
    vec_each (&d.checks, check) {
        assert_non_null(check->title.plain);
        if (check->status == CHECK_FAIL)
            assert_non_null(check->action.plain);
        if (strcmp(check->id, id) == 0 && (worst < 0 || ranks[check->status] > ranks[worst]))
            worst = (int)check->status;
    }
    diagnosis_release(&d);
    return worst;
}

static void a_whole_driver_is_fine(void **state)
{
    (void)state;
    struct setup s;
    start(&s);
    assert_int_equal(status_of(&s, "driver-loaded"), CHECK_OK);
    assert_int_equal(status_of(&s, "driver-match"), CHECK_OK);
    assert_int_equal(status_of(&s, "device-files"), CHECK_OK);
    assert_int_equal(status_of(&s, "gpu-visible"), CHECK_OK);
    setup_release(&s);
}

static void a_device_file_that_may_not_be_opened_fails_whatever_forbids_it(void **state)
{
    (void)state;
    static const int errors[] = {EPERM, EACCES};
    for (size_t i = 0; i < 2; i++) {
        struct setup s;
        start(&s);
        s.nodes.at[2].error = errors[i];
        assert_int_equal(status_of(&s, "device-files"), CHECK_FAIL);
        setup_release(&s);
    }
}

static void two_kinds_of_gpus_have_no_sure_order_but_on_the_bus(void **state)
{
    (void)state;
    struct setup s;
    start(&s);
    *vec_new(&s.gpus) = s.gpus.at[0];
    s.gpus.at[1].bus = "0000:02:00.0";
    s.gpus.at[1].device = 0x2204;
    s.gpus.at[1].minor = 1;
    *vec_new(&s.nodes) = (struct setup_node){"/dev/nvidia1", 0};
    assert_int_equal(status_of(&s, "gpu-visible"), CHECK_WARN);
    *vec_new(&s.variables) = (struct setup_variable){"CUDA_DEVICE_ORDER", "PCI_BUS_ID"};
    assert_int_equal(status_of(&s, "gpu-visible"), CHECK_OK);
    *vec_new(&s.variables) = (struct setup_variable){"CUDA_VISIBLE_DEVICES", "-1"};
    assert_int_equal(status_of(&s, "gpu-visible"), CHECK_FAIL);
    setup_release(&s);
}

static void cuda_of_a_later_major_version_fails_and_of_a_later_minor_one_warns(void **state)
{
    (void)state;
    static const struct {
        const char *driver, *cuda;
        int status;
    } cases[] = {
        {"580.65.06", "13.0", CHECK_OK},   {"580.65.06", "12.4", CHECK_OK},
        {"570.86.10", "13.0", CHECK_FAIL}, {"535.54.03", "12.8", CHECK_WARN},
        {"470.82.01", "12.1", CHECK_FAIL}, {"450.80.02", "11.8", CHECK_WARN},
        {"999.10.01", "13.0", -1}, /* newer than the table */
        {"580.65.06", "banana", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setup s;
        start(&s);
        s.driver_version = cases[i].driver;
        s.torch = "2.9.0";
        s.torch_cuda = cases[i].cuda;
        s.torch_path = "/x/torch";
        assert_int_equal(status_of(&s, "torch-cuda"), cases[i].status);
        setup_release(&s);
    }
}

static struct machine_device *add_device(struct setup *s)
{
    struct machine_device *device = vec_new(&s->sample.devices);
    device->vendor = VENDOR_NVIDIA;
    device->state = READING_KNOWN;
    device->parent = NONE;
    snprintf(device->facts.bus, sizeof device->facts.bus, "0000:01:00.0");
    device->facts.compute_capability = reading_of(120);
    s->sample.sources[0] = (struct machine_source){.name = "NVML", .state = READING_KNOWN};
    return device;
}

static struct setup_image *add_image(struct setup *s, const char *path, struct kernel_code code)
{
    struct setup_image *image = vec_new(&s->images);
    *image = (struct setup_image){.path = path, .is_whole = true};
    vec_push(&image->codes, code);
    return image;
}

static void code_of_the_program_is_judged_by_the_gpu_that_is_there(void **state)
{
    (void)state;
    static const struct {
        struct kernel_code code;
        int status;
    } cases[] = {
        {{.sm = 120}, CHECK_OK},
        {{.sm = 90}, CHECK_FAIL},
        {{.sm = 90, .is_ptx = 1}, CHECK_WARN},
        {{.sm = 90, .is_ptx = 1, .is_specific = 1}, CHECK_FAIL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setup s;
        start(&s);
        add_device(&s);
        add_image(&s, "/x/libtorch_cuda.so", cases[i].code)->is_main = true;
        assert_int_equal(status_of(&s, "program-architecture"), cases[i].status);
        setup_release(&s);
    }
}

static void a_library_for_other_gpus_fails_only_where_nothing_else_fits(void **state)
{
    (void)state;
    struct setup s;
    start(&s);
    add_device(&s);
    add_image(&s, "/x/extension.so", (struct kernel_code){.sm = 90});
    assert_int_equal(status_of(&s, "program-architecture"), CHECK_FAIL);
    add_image(&s, "/x/libtorch_cuda.so", (struct kernel_code){.sm = 120})->is_main = true;
    assert_int_equal(status_of(&s, "program-architecture"), CHECK_WARN);
    s.images.at[0].is_whole = false; /* the code for this GPU may be in what was not seen */
    assert_int_equal(status_of(&s, "program-architecture"), CHECK_UNKNOWN);
    s.images.at[0].later_sm = 90; /* compiled as the program runs */
    assert_int_equal(status_of(&s, "program-architecture"), CHECK_OK);
    s.images.at[0].later_sm = 121;
    assert_int_equal(status_of(&s, "program-architecture"), CHECK_UNKNOWN);
    setup_release(&s);
}

static void a_gpu_that_the_program_need_not_use_does_not_fail_it(void **state)
{
    (void)state;
    struct setup s;
    start(&s);
    add_device(&s);
    add_device(&s)->facts.compute_capability = reading_of(35); /* for the screen */
    struct setup_image *image = add_image(&s, "/x/libtorch_cuda.so", (struct kernel_code){.sm = 120});
    image->is_main = true;
    assert_int_equal(status_of(&s, "program-architecture"), CHECK_WARN);
    image->codes.at[0].sm = 90;
    assert_int_equal(status_of(&s, "program-architecture"), CHECK_FAIL);
    setup_release(&s);
}

static void ptx_of_the_vendors_libraries_is_fine(void **state)
{
    (void)state;
    struct setup s;
    start(&s);
    add_device(&s);
    add_image(&s, "/x/libcufile.so.0", (struct kernel_code){.sm = 86, .is_ptx = 1});
    assert_int_equal(status_of(&s, "program-architecture"), CHECK_OK);
    assert_true(setup_image_is_settled(&s, &s.images.at[0]));
    s.images.at[0].path = "/x/extension.so";
    assert_int_equal(status_of(&s, "program-architecture"), CHECK_WARN);
    assert_false(setup_image_is_settled(&s, &s.images.at[0]));
    s.sample.devices.count = 0; /* nobody asks */
    assert_true(setup_image_is_settled(&s, &s.images.at[0]));
    setup_release(&s);
}

static void what_the_driver_says_is_judged(void **state)
{
    (void)state;
    struct setup s;
    start(&s);
    struct machine_device *device = add_device(&s);
    struct gpu_sample *sample = &device->sample;
    assert_int_equal(status_of(&s, "gpu-memory-errors"), -1); /* not told is not fine */
    sample->ecc_uncorrected = reading_of(0);
    assert_int_equal(status_of(&s, "gpu-memory-errors"), CHECK_OK);
    sample->ecc_uncorrected = reading_of(2);
    assert_int_equal(status_of(&s, "gpu-memory-errors"), CHECK_WARN);
    sample->remap_pending = reading_of(1);
    assert_int_equal(status_of(&s, "gpu-memory-errors"), CHECK_FAIL);
    sample->clock_reasons = reading_of(GPU_CLOCK_IDLE);
    assert_int_equal(status_of(&s, "gpu-clocks"), CHECK_OK);
    sample->clock_reasons = reading_of(GPU_CLOCK_HARDWARE_THERMAL);
    assert_int_equal(status_of(&s, "gpu-clocks"), CHECK_WARN);
    device->facts.compute_mode = reading_of(2);
    assert_int_equal(status_of(&s, "compute-mode"), CHECK_FAIL);
    device->facts.memory = reading_of(INT64_C(80) << 30);
    sample->memory_used = reading_of(INT64_C(79) << 30);
    assert_int_equal(status_of(&s, "gpu-memory-full"), CHECK_WARN);
    device->state = READING_LOST;
    assert_int_equal(status_of(&s, "gpu-lost"), CHECK_FAIL);
    setup_release(&s);
}

static void a_link_is_judged_under_load_only_and_against_its_slot(void **state)
{
    (void)state;
    struct setup s;
    start(&s);
    struct machine_device *device = add_device(&s);
    device->facts.pcie_width_max = reading_of(16);
    device->sample.pcie_width = reading_of(8);
    device->sample.utilization = reading_of(0);
    assert_int_equal(status_of(&s, "gpu-link"), -1);
    device->sample.utilization = reading_of(90);
    assert_int_equal(status_of(&s, "gpu-link"), CHECK_WARN);
    s.gpus.at[0].port_width_max = 8;
    assert_int_equal(status_of(&s, "gpu-link"), CHECK_OK);
    setup_release(&s);
}

static void an_exclusive_gpu_fails_only_while_somebody_else_has_it(void **state)
{
    (void)state;
    struct setup s;
    start(&s);
    add_device(&s)->facts.compute_mode = reading_of(3);
    assert_int_equal(status_of(&s, "compute-mode"), CHECK_OK);
    struct machine_process *process = vec_new(&s.sample.processes);
    process->pid = 4711;
    process->type = MACHINE_COMPUTE;
    assert_int_equal(status_of(&s, "compute-mode"), CHECK_FAIL);
    assert_int_equal(status_of(&s, "gpu-shared"), CHECK_WARN);
    s.pid = 4711; /* the program itself */
    assert_int_equal(status_of(&s, "gpu-shared"), -1);
    setup_release(&s);
}

static void counters_are_for_whom_the_driver_or_a_capability_lets(void **state)
{
    (void)state;
    struct setup s;
    start(&s);
    assert_int_equal(status_of(&s, "profiling-counters"), CHECK_UNKNOWN);
    s.profiling_admin_only = 1;
    assert_int_equal(status_of(&s, "profiling-counters"), CHECK_WARN);
    s.has_capabilities = true;
    s.capabilities = UINT64_C(1) << 21;
    assert_int_equal(status_of(&s, "profiling-counters"), CHECK_OK);
    s.capabilities = 0;
    s.profiling_admin_only = 0;
    assert_int_equal(status_of(&s, "profiling-counters"), CHECK_OK);
    setup_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_that_is_not_set_shows_all_and_an_empty_one_none),
        cmocka_unit_test(the_list_gives_the_order_and_ends_at_what_names_no_gpu),
        cmocka_unit_test(beginnings_of_uuids_count_where_they_are_unique),
        cmocka_unit_test(a_gpu_listed_twice_hides_all_and_an_instance_stands_alone),
        cmocka_unit_test(a_whole_driver_is_fine),
        cmocka_unit_test(a_device_file_that_may_not_be_opened_fails_whatever_forbids_it),
        cmocka_unit_test(two_kinds_of_gpus_have_no_sure_order_but_on_the_bus),
        cmocka_unit_test(cuda_of_a_later_major_version_fails_and_of_a_later_minor_one_warns),
        cmocka_unit_test(code_of_the_program_is_judged_by_the_gpu_that_is_there),
        cmocka_unit_test(a_library_for_other_gpus_fails_only_where_nothing_else_fits),
        cmocka_unit_test(a_gpu_that_the_program_need_not_use_does_not_fail_it),
        cmocka_unit_test(ptx_of_the_vendors_libraries_is_fine),
        cmocka_unit_test(what_the_driver_says_is_judged),
        cmocka_unit_test(a_link_is_judged_under_load_only_and_against_its_slot),
        cmocka_unit_test(an_exclusive_gpu_fails_only_while_somebody_else_has_it),
        cmocka_unit_test(counters_are_for_whom_the_driver_or_a_capability_lets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

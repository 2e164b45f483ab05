/* The sampler's sources: what control groups, fdinfo and recorded machines say, and what hostile ones cannot.
 */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/fdinfo.h"
#include "source/machine.h"
#include "source/machine_process.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void assert_cgroup(const char *text, const char *container, const char *pod, const char *job)
{
    struct machine_process p = {0};
    machine_process_cgroup(text, &p);
    assert_string_equal(p.container, container);
    assert_string_equal(p.pod, pod);
    assert_string_equal(p.job, job);
}

static void a_control_group_names_container_pod_and_job(void **state)
{
    (void)state;
    assert_cgroup("0::/system.slice/docker-" ID ".scope\n", ID, "", "");
    assert_cgroup("12:pids:/docker/" ID "\n11:cpu:/docker/" ID "\n", ID, "", "");
    assert_cgroup("0::/machine.slice/libpod-" ID ".scope/container\n", ID, "", "");
    assert_cgroup("0::/kubepods/burstable/pod6e2b0a1c-1111-4222-8333-944455556666/" ID "\n", ID,
                  "6e2b0a1c-1111-4222-8333-944455556666", "");
    assert_cgroup("0::/kubepods.slice/kubepods-pod6e2b0a1c_1111_4222_8333_944455556666.slice/crio-" ID
                  ".scope\n",
                  ID, "6e2b0a1c-1111-4222-8333-944455556666", "");
    assert_cgroup("0::/lxc.payload.web-1/system.slice/x.service\n", "web-1", "", "");
    assert_cgroup("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n", "", "", "4711.0");
    assert_cgroup("4:devices:/slurm/uid_1000/job_17/step_batch/task_0\n", "", "", "17.batch");
}

static void what_looks_like_one_and_is_none_names_nothing(void **state)
{
    (void)state;
    assert_cgroup("", "", "", "");
    assert_cgroup("0::/\n", "", "", "");
    assert_cgroup("0::/user.slice/user-1000.slice/session-2.scope\n", "", "", "");
    assert_cgroup("0::/job_4711/step_0\n", "", "", "");
    assert_cgroup("0::/podcast/pod-short/docker-0123.scope\n", "", "", "");
}

static void an_endless_control_group_stays_within_its_fields(void **state)
{
    (void)state;
    enum { LONG = 4000 };
    char text[LONG + 64];
    struct machine_process p = {0};
    snprintf(text, sizeof text, "0::/slurm/job_1%0*d/lxc.payload.%0*d", 1500, 7, 1500, 7);
    machine_process_cgroup(text, &p);
    assert_int_equal(strlen(p.job), sizeof p.job - 1);
    assert_int_equal(strlen(p.container), sizeof p.container - 1);
}

static void a_client_is_read_with_engines_and_memory(void **state)
{
    (void)state;
    struct fdinfo_client c;
    assert_true(
        fdinfo_parse("pos:\t0\ndrm-driver:\txe\ndrm-client-id:\t42\ndrm-pdev:\t0000:03:00.0\n"
                     "drm-cycles-rcs:\t100\ndrm-total-cycles-rcs:\t1000\ndrm-cycles-vcs: 5\n"
                     "drm-total-cycles-vcs: 1000\ndrm-engine-capacity-vcs: 2\n"
                     "drm-resident-vram0:\t3 MiB\ndrm-resident-system:\t7 MiB\ndrm-total-vram0: 9 MiB\n",
                     &c));
    assert_int_equal(c.client, 42);
    assert_string_equal(c.bus, "0000:03:00.0");
    assert_int_equal(c.memory, 3 << 20);
    assert_int_equal(c.use[FDINFO_RENDER].busy, 100);
    assert_int_equal(c.use[FDINFO_DECODE].capacity, 2);
    assert_false(c.use[FDINFO_COPY].known);
}

static void memory_by_its_old_name_is_not_counted_twice(void **state)
{
    (void)state;
    struct fdinfo_client c;
    assert_true(fdinfo_parse("drm-client-id: 1\ndrm-pdev: 0000:03:00.0\ndrm-memory-vram: 4 KiB\n"
                             "drm-resident-vram: 4 KiB\n",
                             &c));
    assert_int_equal(c.memory, 4096);
    assert_true(fdinfo_parse("drm-client-id: 1\ndrm-pdev: 0000:03:00.0\ndrm-memory-gtt: 4096\n", &c));
    assert_int_equal(c.memory, 4096);
}

static void what_is_no_client_or_nonsense_is_refused(void **state)
{
    (void)state;
    struct fdinfo_client c;
    assert_false(fdinfo_parse("", &c));
    assert_false(fdinfo_parse("pos: 0\nflags: 02\n", &c));
    assert_false(fdinfo_parse("drm-client-id: 1\n", &c));
    assert_true(fdinfo_parse("drm-client-id: 1\ndrm-pdev: x\ndrm-engine-gfx: -5 ns\n"
                             "drm-engine-: 3\ndrm-resident-vram: 9223372036854775807 MiB\n"
                             "drm-engine-compute: 99999999999999999999999 ns",
                             &c));
    assert_false(c.use[FDINFO_RENDER].known);
    assert_false(c.use[FDINFO_COMPUTE].known);
    assert_int_equal(c.memory, 0);
}

static void an_engines_share_is_of_time_or_of_cycles(void **state)
{
    (void)state;
    const struct fdinfo_use none = {0}, first = {.known = true, .busy = 1000},
                            later = {.known = true, .busy = 251000, .capacity = 2},
                            cycles = {.known = true, .busy = 10, .total = 100},
                            more = {.known = true, .busy = 40, .total = 200};
    assert_int_equal(fdinfo_share(&first, &later, 1000000).value, 125);
    assert_int_equal(fdinfo_share(&cycles, &more, 5).value, 300);
    assert_int_equal(fdinfo_share(&later, &first, 1000000).value, 0); /* went back */
    assert_int_equal(fdinfo_share(&none, &first, 1000000).state, READING_UNREAD);
    assert_int_equal(fdinfo_share(&first, &none, 1000000).state, READING_UNSUPPORTED);
    assert_int_equal(fdinfo_share(&first, &later, 0).state, READING_UNREAD);
}

/* ---- whole machines --------------------------------------------------------------------------------------
 */

static void sample_of(const char *machine, struct machine_sample *sample)
{
    char root[4096];
    snprintf(root, sizeof root, "%s/sysfs/%s", SAMPLES, machine);
    struct machine *m = machine_open(&(struct machine_options){.root = root});
    machine_sample_copy(sample, machine_read(m));
    machine_close(m);
}

static void an_amd_card_is_read_from_its_files(void **state)
{
    (void)state;
    struct machine_sample s = {0};
    sample_of("amd", &s);
    assert_int_equal(s.devices.count, 1);
    const struct machine_device *d = s.devices.at;
    assert_int_equal(d->state, READING_KNOWN);
    assert_int_equal(d->vendor, VENDOR_AMD);
    assert_string_equal(d->facts.name, "Radeon Example XTX");
    assert_int_equal(d->sample.utilization.value, 87);
    assert_int_equal(d->sample.power.value, 287000);
    assert_int_equal(d->facts.power_limit_max.value, 389000);
    assert_int_equal(d->sample.temperature.value, 61);
    assert_int_equal(d->detail.hotspot.value, 78);
    assert_int_equal(d->sample.memory_temperature.value, 72);
    assert_int_equal(d->sample.sm_clock.value, INT64_C(2431000000));
    assert_int_equal(d->sample.memory_clock.value, INT64_C(1249000000));
    assert_int_equal(d->sample.pcie_generation.value, 4);
    assert_int_equal(d->detail.fan.value, 50);
    assert_int_equal(d->sample.energy.state, READING_UNSUPPORTED);
    assert_int_equal(d->detail.memory_unseen.value, INT64_C(512) << 20);
    machine_sample_release(&s);
}

static void a_process_is_known_by_pid_and_start_with_its_place(void **state)
{
    (void)state;
    struct machine_sample s = {0};
    sample_of("amd", &s);
    assert_int_equal(s.processes.count, 2);
    const struct machine_process *p =
        s.processes.at; /* most memory first; its two descriptors are one client */
    assert_int_equal(p->pid, 4242);
    assert_int_equal(p->memory.value, INT64_C(8) << 30);
    assert_string_equal(p->user, "424242");
    assert_string_equal(p->command, "python3 train.py --epochs 3");
    assert_string_equal(p->pod, "6e2b0a1c-1111-4222-8333-944455556666");
    assert_true(p->start_unix_ns > INT64_C(1700000000000000000));
    assert_int_equal(p->type, MACHINE_COMPUTE);
    assert_string_equal(p[1].name, "game (x) y");
    assert_int_equal(p[1].type, MACHINE_GRAPHICS);
    machine_sample_release(&s);
}

static void a_sleeping_gpu_is_named_and_not_touched(void **state)
{
    (void)state;
    struct machine_sample s = {0};
    sample_of("laptop", &s);
    assert_int_equal(s.devices.count, 2);
    assert_int_equal(s.devices.at[0].sample.sm_clock.value, 850000000);
    assert_int_equal(s.devices.at[0].sample.clock_reasons.value, GPU_CLOCK_POWER_CAP);
    assert_int_equal(s.devices.at[1].state, READING_ASLEEP);
    assert_string_equal(s.devices.at[1].facts.name, "NVIDIA GeForce RTX Example Laptop GPU");
    assert_string_equal(s.devices.at[1].key, "GPU-11111111-2222-3333-4444-555555555555");
    assert_int_equal(s.devices.at[1].sample.power.state, READING_ASLEEP);
    machine_sample_release(&s);
    sample_of("mixed", &s);
    assert_int_equal(s.devices.at[3].state, READING_ASLEEP); /* its files would say 99 % */
    assert_int_equal(s.devices.at[3].sample.utilization.state, READING_ASLEEP);
    machine_sample_release(&s);
}

static void a_gpu_without_a_driver_of_ours_says_so(void **state)
{
    (void)state;
    struct machine_sample s = {0};
    sample_of("mixed", &s);
    assert_int_equal(s.devices.count, 4);
    assert_string_equal(s.devices.at[0].driver, "vfio-pci");
    assert_int_equal(s.devices.at[0].state, READING_NO_DRIVER);
    assert_string_equal(s.devices.at[1].driver, "");
    assert_int_equal(s.devices.at[1].state, READING_NO_DRIVER);
    assert_int_equal(s.devices.at[2].sample.temperature.value, 55);
    assert_int_equal(s.devices.at[2].sample.clock_reasons.value, GPU_CLOCK_HARDWARE_THERMAL);
    machine_sample_release(&s);
}

static void the_host_is_read_and_ratios_need_two_samples(void **state)
{
    (void)state;
    struct machine_sample s = {0};
    sample_of("none", &s);
    assert_int_equal(s.devices.count, 0);
    assert_string_equal(s.host.name, "plain");
    assert_int_equal(s.host.cpus.value, 2);
    assert_int_equal(s.host.memory_used.value, INT64_C(512000) << 10);
    assert_int_equal(s.host.swap_used.value, INT64_C(1) << 30);
    assert_int_equal(s.host.cpu_busy.state, READING_UNREAD);
    assert_int_equal(s.interval_ns, 0);
    assert_int_equal(s.sources[1].state, READING_NO_DRIVER);
    sample_of("amd", &s); /* a copy takes the place of the one before */
    assert_int_equal(s.host.load_1.value, 150);
    machine_sample_release(&s);
    sample_of("of no name", &s);
    assert_int_equal(s.devices.count, 0);
    assert_int_equal(s.host.memory.state, READING_UNREAD);
    machine_sample_release(&s);
}

int main(void)
{
    unsetenv("WARPLIGHT_NVML");
    unsetenv("WARPLIGHT_SYSFS");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_control_group_names_container_pod_and_job),
        cmocka_unit_test(what_looks_like_one_and_is_none_names_nothing),
        cmocka_unit_test(an_endless_control_group_stays_within_its_fields),
        cmocka_unit_test(a_client_is_read_with_engines_and_memory),
        cmocka_unit_test(memory_by_its_old_name_is_not_counted_twice),
        cmocka_unit_test(what_is_no_client_or_nonsense_is_refused),
        cmocka_unit_test(an_engines_share_is_of_time_or_of_cycles),
        cmocka_unit_test(an_amd_card_is_read_from_its_files),
        cmocka_unit_test(a_process_is_known_by_pid_and_start_with_its_place),
        cmocka_unit_test(a_sleeping_gpu_is_named_and_not_touched),
        cmocka_unit_test(a_gpu_without_a_driver_of_ours_says_so),
        cmocka_unit_test(the_host_is_read_and_ratios_need_two_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Whether profilers may measure here, and how to let them. Sources: NVIDIA, "ERR_NVGPUCTRPERM" (developer
 * page on permission for GPU performance counters); Linux Documentation/admin-guide/perf-security.rst and
 * LSM/Yama.rst. */
#include "analyze/setup_checks.h"

enum { CAPABILITY_SYS_PTRACE = 19, CAPABILITY_SYS_ADMIN = 21 }; /* linux/capability.h */

static bool may(const struct setup *s, int capability)
{
    return s->has_capabilities && (s->capabilities >> capability & 1);
}

static void check_counters(struct diagnosis *d, const struct setup *s)
{
    if (!setup_has_module(s) || s->is_wsl)
        return;
    bool told = s->profiling_admin_only != UNKNOWN;
    bool allowed = may(s, CAPABILITY_SYS_ADMIN) || s->profiling_admin_only == 0;
    enum check_status status = allowed ? CHECK_OK : told ? CHECK_WARN : CHECK_UNKNOWN;
    struct check *check = diagnosis_check(d, "profiling-counters", status, 0.9);
    if (allowed) {
        check->title = diagnosis_words(d, N_("hardware counters may be read"));
    } else if (told) {
        check->title = diagnosis_words(d, N_("hardware counters are for administrators only"));
        check->meaning = diagnosis_words(d, N_("record works without them; kernels and ncu fail with "
                                               "ERR_NVGPUCTRPERM."));
        check->action =
            *s->container
                ? diagnosis_words(d, N_("start the container with --cap-add SYS_ADMIN, or on the host set "
                                        "NVreg_RestrictProfilingToAdminUsers=0 for the nvidia module"))
                : diagnosis_words(d, N_("run as root, or put \"options nvidia "
                                        "NVreg_RestrictProfilingToAdminUsers=0\" into /etc/modprobe.d and "
                                        "restart"));
    } else {
        check->title = diagnosis_words(d, N_("whether hardware counters may be read is not told here"));
    }
    if (told)
        diagnosis_evidence(d, check, "/proc/driver/nvidia/params",
                           s->profiling_admin_only ? "RmProfilingAdminOnly: 1" : "RmProfilingAdminOnly: 0");
}

static void check_host(struct diagnosis *d, const struct setup *s)
{
    if (s->ptrace_scope == UNKNOWN && s->perf_event_paranoid == UNKNOWN)
        return;
    bool traced = s->ptrace_scope == UNKNOWN || s->ptrace_scope <= 1 || may(s, CAPABILITY_SYS_PTRACE);
    struct check *check = diagnosis_check(d, "profiling-host", traced ? CHECK_OK : CHECK_WARN, 0.9);
    struct str text = {0};
    if (traced) {
        check->title = diagnosis_words(d, N_("record may look at what host threads do"));
    } else {
        check->title = diagnosis_words(d, N_("record may not look at what host threads do"));
        check->meaning = diagnosis_words(d, N_("Python frames and what threads wait for will be missing."));
        check->action = diagnosis_words(d, N_("as root: sysctl kernel.yama.ptrace_scope=1"));
    }
    if (s->ptrace_scope != UNKNOWN) {
        str_addf(&text, "%lld", (long long)s->ptrace_scope);
        diagnosis_evidence(d, check, "/proc/sys/kernel/yama/ptrace_scope", str_text(&text));
    }
    str_cut(&text, 0);
    if (s->perf_event_paranoid != UNKNOWN) {
        str_addf(&text, "%lld", (long long)s->perf_event_paranoid);
        diagnosis_evidence(d, check, "/proc/sys/kernel/perf_event_paranoid", str_text(&text));
    }
    str_release(&text);
}

void setup_check_measuring(struct diagnosis *d, const struct setup *s)
{
    check_counters(d, s);
    check_host(d, s);
}

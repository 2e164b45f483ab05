/* Source of the numbers: cupti_result.h of CUDA 13.5. */
#include "inject/refusals.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"

static const struct {
    cupti_result result;
    const char *why;
} refusals[] = {
    {8, N_("no hardware counters ({0}): there is too little free device memory for their buffers; measure a "
           "smaller "
           "problem")},
    {15, N_("no hardware counters ({0}): libnvperf_host.so and libnvperf_target.so were not found beside "
            "libcupti; "
            "install them (pip install nvidia-cuda-cupti, or the CUDA toolkit)")},
    {26,
     N_("no hardware counters ({0}): another tool has them; end the other ncu, nsys or DCGM session (DCGM: "
        "dcgmi profile --pause)")},
    {27, N_("no hardware counters ({0}): this GPU or driver does not offer them; they need compute "
            "capability 7.5 or "
            "newer")},
    {39,
     N_("no hardware counters ({0}): another profiler in the process holds CUPTI; run the program without it "
        "(torch.profiler, nsys, ncu, compute-sanitizer)")},
    {40, N_("no hardware counters ({0}): the virtual GPU does not allow profiling; the host's administrator "
            "can allow "
            "it (vGPU plugin parameter enable_profiling=1)")},
    {41, N_("no hardware counters ({0}): confidential computing hides them; use its devtools mode, or a GPU "
            "without "
            "it")},
    {42, N_("no hardware counters ({0}): this is a mining board (CMP), which locks them; use another GPU")},
    {43, N_("no hardware counters ({0}): MIG instances share some of them; ask for fewer with --metrics, or "
            "turn MIG "
            "off")},
    {44, N_("no hardware counters ({0}): SLI excludes them; turn it off")},
    {45, N_("no hardware counters ({0}): this WSL has no access to them; update to Windows 11 and driver 525 "
            "or newer, "
            "and allow them for all users in the NVIDIA Control Panel")},
    {46,
     N_("no hardware counters ({0}): this CUPTI does not know the GPU; install a newer one (pip install -U "
        "nvidia-cuda-cupti)")},
};

/* Are counters for administrators only? 1, 0, or -1: unknown. */
static int restricted(void)
{
    static const char key[] = "RmProfilingAdminOnly: ";
    char text[8192];
    int fd = open("/proc/driver/nvidia/params", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *at = strstr(text, key);
    return at ? at[strlen(key)] != '0' : -1;
}

static const char *privilege(void)
{
    if (restricted() == 0)
        return N_(
            "no permission for hardware counters ({0}): the driver allows them to everyone, but here they "
            "are "
            "refused; start a container with --cap-add=SYS_ADMIN, or ask the operator of a rented machine");
    if (geteuid() == 0)
        return N_(
            "no permission for hardware counters ({0}): the driver allows them to administrators only, and "
            "root "
            "in this container is none; start it with --cap-add=SYS_ADMIN, or set "
            "NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia in /etc/modprobe.d of the host and "
            "reboot");
    return N_(
        "no permission for hardware counters ({0}): the driver allows them to administrators only; run as "
        "root, "
        "or set NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia in /etc/modprobe.d and reboot");
}

void refusal_set(struct refusal *refusal, const char *why, const char *detail, ...)
{
    va_list arguments;
    refusal->result = -1;
    refusal->why = why;
    va_start(arguments, detail);
    vsnprintf(refusal->detail, sizeof refusal->detail, detail, arguments);
    va_end(arguments);
}

void refusal_explain(struct refusal *refusal, cupti_result result, const char *call)
{
    refusal_set(refusal, N_("no hardware counters: CUPTI refuses ({0})"), "%s: %d", call, result);
    refusal->result = result;
    if (result == CUPTI_NO_PRIVILEGE)
        refusal->why = privilege();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].result == result)
            refusal->why = refusals[i].why;
}

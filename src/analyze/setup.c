#include "analyze/setup.h"

#include <ctype.h>
#include <string.h>

#include "analyze/setup_checks.h"

bool setup_has_nvidia(const struct setup *s)
{
    vec_each (&s->gpus, gpu)
        if (gpu->vendor == PCI_NVIDIA)
            return true;
    return s->is_wsl || s->is_tegra || s->nvidia.is_loaded || *s->driver_version;
}

bool setup_has_module(const struct setup *s)
{
    return s->nvidia.is_loaded || *s->driver_version;
}

bool setup_is_gpu_node(const struct setup_node *node)
{
    const char *start = "/dev/nvidia";
    size_t length = strlen(start);
    return strncmp(node->path, start, length) == 0 && isdigit((unsigned char)node->path[length]);
}

void setup_diagnose(struct diagnosis *d, const struct setup *s)
{
    setup_check_gpus(d, s);
    if (setup_has_nvidia(s)) {
        setup_check_driver(d, s);
        setup_check_sharing(d, s);
    }
    setup_check_program(d, s);
    setup_check_code(d, s);
    setup_check_health(d, s);
    setup_check_measuring(d, s);
}

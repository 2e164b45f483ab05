/* Whether a container was given its GPUs. What NVIDIA_VISIBLE_DEVICES says is the container runtime's to obey
 * (NVIDIA Container Toolkit, "Specialized Configurations"); a device plugin of Kubernetes that uses CDI
 * leaves it at "void" and gives the GPUs all the same. */
#include <string.h>

#include "analyze/setup_checks.h"

static bool asks_for_none(const char *gpus)
{
    return gpus && (!*gpus || strcmp(gpus, "void") == 0 || strcmp(gpus, "none") == 0);
}

static bool leaves_cuda_out(const char *abilities)
{
    return abilities && *abilities && !strstr(abilities, "compute") && !strstr(abilities, "all");
}

static size_t usable_gpus(const struct setup *s, size_t *all)
{
    size_t usable = 0;
    *all = 0;
    vec_each (&s->nodes, node)
        if (setup_is_gpu_node(node)) {
            ++*all;
            usable += node->error == 0;
        }
    return usable;
}

static struct check *check_request(struct diagnosis *d, const struct setup *s, const char *gpus)
{
    size_t all, usable = usable_gpus(s, &all);
    bool is_pod = strcmp(s->container, "kubernetes") == 0;
    const double sure = 0.97; /* it stands before the missing files and libraries, which only follow */
    struct check *check = diagnosis_check(d, "container", CHECK_OK, 0.9);
    if (asks_for_none(gpus) && usable == 0) {
        check->status = CHECK_FAIL;
        check->confidence_ratio = sure;
        check->title =
            diagnosis_words(d, N_("this container asked for no GPU (NVIDIA_VISIBLE_DEVICES=%s)"), gpus);
        check->action =
            diagnosis_words(d, N_("start it with --gpus all, or with NVIDIA_VISIBLE_DEVICES=all; in "
                                  "Kubernetes ask for nvidia.com/gpu"));
    } else if (gpus && all == 0) {
        check->status = CHECK_FAIL;
        check->confidence_ratio = sure;
        check->title = diagnosis_words(
            d, N_("this container asks for GPUs (NVIDIA_VISIBLE_DEVICES=%s), but was given none"), gpus);
        check->meaning =
            diagnosis_words(d, N_("The variable is obeyed by NVIDIA's container runtime alone: another "
                                  "one started this container."));
        check->action =
            is_pod
                ? diagnosis_words(d, N_("ask for nvidia.com/gpu, and let the pod use NVIDIA's runtime "
                                        "(runtimeClassName: nvidia, unless the node has it as the default)"))
                : diagnosis_words(
                      d, N_("start it with --gpus all or --runtime=nvidia; where Docker knows neither, "
                            "install nvidia-container-toolkit and run nvidia-ctk runtime configure"));
    } else if (is_pod && gpus && strcmp(gpus, "all") == 0) {
        check->status = CHECK_WARN;
        check->confidence_ratio = 0.6;
        check->title = diagnosis_words(d, N_("this pod has all GPUs of its node, whatever it asked for"));
        check->meaning =
            diagnosis_words(d, N_("A device plugin names GPUs; \"all\" comes from the image or the pod. The "
                                  "scheduler does not know of it and gives the same GPUs to others."));
        check->action =
            diagnosis_words(d, N_("take NVIDIA_VISIBLE_DEVICES out of the image or pod and ask for "
                                  "nvidia.com/gpu"));
    } else {
        check->title = diagnosis_words(d, N_("this runs in a container (%s)"), s->container);
    }
    return check;
}

void setup_check_container(struct diagnosis *d, const struct setup *s)
{
    const char *gpus = setup_variable(s, "NVIDIA_VISIBLE_DEVICES");
    const char *abilities = setup_variable(s, "NVIDIA_DRIVER_CAPABILITIES");
    if (!*s->container)
        return;
    struct check *check = check_request(d, s, gpus);
    if (check->status != CHECK_FAIL && leaves_cuda_out(abilities)) {
        check->status = CHECK_FAIL;
        check->title = diagnosis_words(d,
                                       N_("this container asked for the driver without CUDA "
                                          "(NVIDIA_DRIVER_CAPABILITIES=%s)"),
                                       abilities);
        check->meaning = (struct words){NULL, NULL};
        check->action = diagnosis_words(d, N_("start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility"));
    }
    if (gpus)
        diagnosis_evidence(d, check, "NVIDIA_VISIBLE_DEVICES", gpus);
    if (abilities)
        diagnosis_evidence(d, check, "NVIDIA_DRIVER_CAPABILITIES", abilities);
}

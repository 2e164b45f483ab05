/* Findings about idle time: one per cause, straight from the ledger; the culprits are the evidence. */
#include <string.h>

#include "base/i18n.h"

#include "analyze/findings/findings.h"

struct idle_rule {
    const char *id;
    enum account cause;
    double low, high; /* share of the idle time that the action can give back */
    double confidence;
    const char *title;
    const char *action;
};

/* Savings: data loading, I/O and waiting can be moved off the critical path entirely but rarely are at the
 * first try. A captured graph leaves about a microsecond per kernel of what issuing cost. A removed
 * synchronisation gives back its own wait, not always the code that needed the value. */
static const struct idle_rule rules[] = {
    {"idle-data-loading", IDLE_DATA_LOADING, 0.6, 1.0, 0.95,
     N_("the GPU waits for input data {0} of the time ({1})"),
     N_("load ahead: DataLoader(num_workers=4 or more, pin_memory=True, persistent_workers=True), cheaper "
        "transforms, or decode on the GPU; time the loader alone first")},
    {"idle-launch-bound", IDLE_LAUNCH_BOUND, 0.5, 0.95, 0.9,
     N_("the GPU waits {0} of the time ({1}) for the host to issue the next kernel"),
     N_("issue less: capture the loop in a CUDA graph (torch.cuda.graph, "
        "torch.compile(mode=\"reduce-overhead\")), "
        "fuse elementwise operators (torch.compile), use fused or foreach optimizers, or enlarge the batch")},
    {"idle-host-sync", IDLE_HOST_SYNC, 0.4, 0.95, 0.9,
     N_("the GPU runs dry {0} of the time ({1}) because the host waits for it instead of issuing ahead"),
     N_("remove the wait: keep values on the GPU (no .item(), .cpu(), print or bool() of a tensor in the "
        "loop), "
        "read results every n steps, use cudaStreamWaitEvent instead of synchronising the host")},
    {"idle-host-compute", IDLE_HOST_COMPUTE, 0.4, 1.0, 0.85,
     N_("the GPU waits {0} of the time ({1}) for host code between launches"),
     N_("move this host code off the launching thread (a worker thread or process, prefetch of the next "
        "step) or "
        "make it faster; record Python frames (warplight record, or with_stack=True) if the line is not "
        "named "
        "here")},
    {"idle-host-io", IDLE_HOST_IO, 0.5, 1.0, 0.9,
     N_("the GPU waits {0} of the time ({1}) for file or network I/O of the launching thread"),
     N_("read ahead on another thread, or write checkpoints and logs asynchronously")},
    {"idle-host-wait", IDLE_HOST_WAIT, 0.4, 1.0, 0.8,
     N_("the GPU waits {0} of the time ({1}) while the launching thread waits for a lock, thread or process"),
     N_("find who holds what it waits for: too few workers, the GIL, a queue that runs empty; a thread that "
        "waits "
        "for a CPU needs more cores, or fewer threads beside it")},
    {"idle-allocator", IDLE_ALLOCATOR, 0.8, 1.0, 0.95,
     N_("the GPU waits {0} of the time ({1}) for memory to be allocated or freed"),
     N_("allocate once and reuse: no torch.cuda.empty_cache() in the loop, no cudaMalloc or cudaFree per "
        "step "
        "(cudaFree waits for the device); use cudaMallocAsync with a pool, and "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True if it fragments")},
    {"idle-warmup", IDLE_WARMUP, 0.3, 1.0, 0.8,
     N_("the GPU waits {0} of the time ({1}) for code to be loaded or compiled"),
     N_("warm up before measuring; ship machine code for this GPU (no PTX compilation at start), keep the "
        "compiler "
        "cache, or load modules ahead (CUDA_MODULE_LOADING=EAGER)")},
    {"idle-dependency", IDLE_DEPENDENCY, 0.2, 0.9, 0.6,
     N_("work was queued for {0} of the time ({1}) but waited for other work"),
     N_("look at what it waits for: an event of another stream or GPU, a host callback, a peer in a "
        "collective")},
};

void find_idle(struct finder *f)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct idle_rule *rule = &rules[i];
        int64_t lost = f->ledger_ns[rule->cause] - f->explained_ns[rule->cause];
        if (!matters(f, lost))
            continue;
        struct finding *finding = finding_add(f, rule->id, lost, rule->low, rule->high, rule->confidence);
        finding->title = msg_make(rule->title, value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
        finding_culprits(f, finding, rule->cause, 3);
        finding->action = (struct msg){.format = rule->action};
    }
}

struct finding *idle_finding(const struct finder *f, enum account cause)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        vec_each (&f->report->findings, finding)
            if (rules[i].cause == cause && strcmp(finding->id, rules[i].id) == 0)
                return finding;
    return NULL;
}

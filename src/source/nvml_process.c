#include "source/nvml_process.h"

enum { MOST_PROCESSES = 2048, PERMILLE_OF_PERCENT = 10, PERCENT_MOST = 100 };
enum { INSUFFICIENT_SIZE = 7 };

/* ---- the lists -------------------------------------------------------------------------------------------
 */

/* Drivers 535.43 to 535.98 append 8 bytes to each entry of the newest calls. */
static size_t entry_size(const struct nvml *n)
{
    enum { LONG_MAJOR = 535, LONG_MINOR_FIRST = 43, LONG_MINOR_LAST = 98, EXTRA = 8 };
    char *end;
    long major = strtol(n->driver, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    bool is_long = major == LONG_MAJOR && minor >= LONG_MINOR_FIRST && minor <= LONG_MINOR_LAST;
    return sizeof(struct nvml_process) + (is_long ? EXTRA : 0);
}

static struct nvml_listed *listed(nvml_list *list, const struct nvml_process *entry)
{
    vec_each (list, known)
        if (known->process.pid == entry->pid && known->gpu_instance == entry->gpu_instance)
            return known;
    struct nvml_listed *added = vec_new(list);
    added->process.pid = entry->pid;
    added->process.memory = reading_missing(READING_UNSUPPORTED);
    added->gpu_instance = entry->gpu_instance;
    added->compute_instance = entry->compute_instance;
    return added;
}

/* A process that computes and draws is in both lists, with the same memory. */
static void add_entry(nvml_list *list, const struct nvml_process *entry, unsigned type)
{
    const unsigned long long unavailable = ~0ull;
    struct nvml_listed *l = listed(list, entry);
    l->process.type |= type;
    if (entry->memory != unavailable)
        l->process.memory = reading_of((int64_t)entry->memory);
}

static enum reading_state add_list(const struct nvml *n, nvml_device device,
                                   int (*call)(nvml_device, unsigned *, void *), unsigned type, char *room,
                                   nvml_list *list)
{
    size_t size = entry_size(n);
    unsigned count = MOST_PROCESSES;
    int code = call ? call(device, &count, room) : NVML_ABSENT;
    if (code != NVML_OK)
        return code == INSUFFICIENT_SIZE ? READING_IMPLAUSIBLE : nvml_state(code);
    for (unsigned i = 0; i < count && i < MOST_PROCESSES; i++) {
        struct nvml_process entry;
        memcpy(&entry, room + i * size, sizeof entry);
        add_entry(list, &entry, type);
    }
    return READING_KNOWN;
}

/* ---- use -------------------------------------------------------------------------------------------------
 */

static struct reading permille(unsigned percent)
{
    if (percent > PERCENT_MOST)
        return reading_missing(READING_IMPLAUSIBLE);
    return reading_of((int64_t)percent * PERMILLE_OF_PERCENT);
}

static struct nvml_use *use_of(struct nvml_processes *state, unsigned pid)
{
    vec_each (&state->use, use)
        if (use->pid == pid)
            return use;
    struct nvml_use *use = vec_new(&state->use);
    use->pid = pid;
    return use;
}

/* Entries that are not newer than what was seen are left over from before. */
static bool is_new(struct nvml_processes *state, unsigned long long since, unsigned long long time)
{
    if (time <= since)
        return false;
    if (time > state->since_us)
        state->since_us = time;
    return true;
}

static int read_use_info(const struct nvml *n, nvml_device device, struct nvml_processes *state)
{
    unsigned long long since = state->since_us;
    struct nvml_processes_use get = {.version = sizeof get | 1u << 24,
                                     .count = MOST_PROCESSES,
                                     .since_us = since,
                                     .at = mem_zalloc(MOST_PROCESSES, sizeof *get.at)};
    int code = NVML_ASK(n, processes_use, device, &get);
    if (code == NVML_OK)
        state->use.count = 0;
    for (unsigned i = 0; code == NVML_OK && i < get.count && i < MOST_PROCESSES; i++) {
        const struct nvml_process_use_info *in = &get.at[i];
        if (is_new(state, since, in->time_us)) {
            struct nvml_use *use = use_of(state, in->pid);
            *use = (struct nvml_use){in->pid,
                                     permille(in->sm),
                                     permille(in->memory),
                                     permille(in->encoder),
                                     permille(in->decoder),
                                     permille(in->jpeg),
                                     permille(in->optical_flow)};
        }
    }
    free(get.at);
    return code;
}

static int read_use(const struct nvml *n, nvml_device device, struct nvml_processes *state)
{
    unsigned long long since = state->since_us;
    unsigned count = MOST_PROCESSES;
    const struct reading none = reading_missing(READING_UNSUPPORTED);
    struct nvml_process_use *at = mem_zalloc(MOST_PROCESSES, sizeof *at);
    int code = NVML_ASK(n, process_use, device, at, &count, since);
    if (code == NVML_OK)
        state->use.count = 0;
    for (unsigned i = 0; code == NVML_OK && i < count && i < MOST_PROCESSES; i++)
        if (is_new(state, since, at[i].time_us))
            *use_of(state, at[i].pid) = (struct nvml_use){at[i].pid,
                                                          permille(at[i].sm),
                                                          permille(at[i].memory),
                                                          permille(at[i].encoder),
                                                          permille(at[i].decoder),
                                                          none,
                                                          none};
    free(at);
    return code;
}

/* Where the driver has no new sample, the last ones hold for a while. */
static void update_use(const struct nvml *n, nvml_device device, struct nvml_processes *state, int64_t now)
{
    const int64_t holds_ns = INT64_C(2000000000), microsecond = 1000, look_back_us = 1000000;
    if (!state->since_us)
        state->since_us = (unsigned long long)(now / microsecond - look_back_us);
    int code = read_use_info(n, device, state);
    if (nvml_state(code) == READING_UNSUPPORTED)
        code = read_use(n, device, state);
    if (code == NVML_OK)
        state->use_time_ns = now;
    if (code == NVML_OK || nvml_state(code) != READING_UNREAD)
        state->use_why = nvml_state(code);
    else if (now - state->use_time_ns > holds_ns)
        state->use_why = READING_UNREAD;
}

static void apply_use(struct nvml_processes *state, struct machine_process *p)
{
    struct reading idle = state->use_why == READING_KNOWN ? reading_of(0) : reading_missing(state->use_why);
    struct nvml_use use = {0, idle, idle, idle, idle, idle, idle};
    if (state->use_why == READING_KNOWN)
        vec_each (&state->use, known)
            if (known->pid == p->pid)
                use = *known;
    p->sm = use.sm;
    p->memory_active = use.memory;
    p->encoder = use.encoder;
    p->decoder = use.decoder;
    p->jpeg = use.jpeg;
    p->optical_flow = use.optical_flow;
    p->copy = reading_missing(READING_UNSUPPORTED);
}

enum reading_state nvml_processes(const struct nvml *n, nvml_device device, struct nvml_processes *state,
                                  int64_t now_ns, nvml_list *list)
{
    char *room = mem_alloc(MOST_PROCESSES * entry_size(n));
    list->count = 0;
    enum reading_state why = add_list(n, device, n->call.compute_processes, MACHINE_COMPUTE, room, list);
    enum reading_state drawing =
        add_list(n, device, n->call.graphics_processes, MACHINE_GRAPHICS, room, list);
    add_list(n, device, n->call.mps_processes, MACHINE_COMPUTE | MACHINE_MPS, room, list);
    free(room);
    if (list->count && pace_begin(&state->use_pace)) {
        update_use(n, device, state, now_ns);
        pace_end(&state->use_pace, 0, n->is_fresh ? PACE_AT_ONCE : PACE_PROCESS_USE);
    }
    vec_each (list, l) {
        apply_use(state, &l->process);
        if (n->foreign.compute_processes && reading_is_known(l->process.memory))
            l->process.memory.state = READING_ALTERED;
    }
    return why == READING_KNOWN ? why : drawing;
}

void nvml_processes_release(struct nvml_processes *state)
{
    vec_release(&state->use);
    *state = (struct nvml_processes){0};
}

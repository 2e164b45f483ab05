#include "analyze/host.h"

#include <string.h>
#include <strings.h>

#include "model/native_name.h"

enum { SPAN_KINDS = SPAN_NATIVE + 1 };

/* Ranges and frames that mean "waiting for the next batch", in PyTorch, TensorFlow, JAX, DALI and by the
 * names that people give their own ranges. Compared without case, anywhere in the name. */
static const char *const data_loading[] = {
    "dataloader",     "data_loader",     "data loader",   "data_loading", "dataloading",
    "data loading",   "load_batch",      "next_batch",    "get_batch",    "fetch_batch",
    "batch_load",     "iteratorgetnext", "iterator::get", "tf_data",      "input_pipeline",
    "input pipeline", "nvidia.dali",     "webdataset",    "load_data",    "prefetch_data"};

/* Overhead records: CUPTI's activity overhead kinds as Kineto and nsys spell them. */
static const struct {
    const char *fragment;
    enum host_class class;
} overheads[] = {
    {"buffer full", HOST_QUEUE},   {"queue full", HOST_QUEUE},        {"lazy", HOST_MODULE},
    {"module load", HOST_MODULE},  {"compil", HOST_MODULE},           {"jit", HOST_MODULE},
    {"uvm", HOST_MODULE},          {"resource", HOST_PROFILER},       {"flush", HOST_PROFILER},
    {"instrument", HOST_PROFILER}, {"buffer request", HOST_PROFILER}, {"profil", HOST_PROFILER},
    {"cupti", HOST_PROFILER},
};

/* Operating-system calls, libc spelling without leading underscores; compared as prefixes. */
static const struct {
    const char *prefix;
    enum host_class class;
} os_calls[] = {
    {"pthread_mutex", HOST_WAIT},
    {"pthread_cond", HOST_WAIT},
    {"pthread_join", HOST_WAIT},
    {"pthread_rwlock", HOST_WAIT},
    {"pthread_barrier", HOST_WAIT},
    {"pthread_spin", HOST_WAIT},
    {"sem_", HOST_WAIT},
    {"futex", HOST_WAIT},
    {"poll", HOST_WAIT},
    {"ppoll", HOST_WAIT},
    {"select", HOST_WAIT},
    {"pselect", HOST_WAIT},
    {"epoll", HOST_WAIT},
    {"wait", HOST_WAIT},
    {"nanosleep", HOST_WAIT},
    {"clock_nanosleep", HOST_WAIT},
    {"usleep", HOST_WAIT},
    {"sleep", HOST_WAIT},
    {"sigwait", HOST_WAIT},
    {"sched_yield", HOST_WAIT},
    {"mq_", HOST_WAIT},
    {"msgrcv", HOST_WAIT},
    {"msgsnd", HOST_WAIT},
    {"semop", HOST_WAIT},
    {"semtimedop", HOST_WAIT},
    {"sigtimedwait", HOST_WAIT},
    {"sigsuspend", HOST_WAIT},
    {"pause", HOST_WAIT},
    {"flock", HOST_WAIT},
    {"fcntl", HOST_WAIT}, /* one that takes time waits for a lock on a file */
    {"waiting for a CPU", HOST_WAIT},
    {"page fault", HOST_IO}, /* one that blocks reads a file or swap */
    {"read", HOST_IO},
    {"pread", HOST_IO},
    {"write", HOST_IO},
    {"pwrite", HOST_IO},
    {"fread", HOST_IO},
    {"fwrite", HOST_IO},
    {"fgets", HOST_IO},
    {"getline", HOST_IO},
    {"open", HOST_IO},
    {"fopen", HOST_IO},
    {"fsync", HOST_IO},
    {"fdatasync", HOST_IO},
    {"fflush", HOST_IO},
    {"sendfile", HOST_IO},
    {"send", HOST_IO},
    {"recv", HOST_IO},
    {"connect", HOST_IO},
    {"accept", HOST_IO},
    {"splice", HOST_IO},
    {"io_uring", HOST_IO},
    {"msync", HOST_IO},
    {"fclose", HOST_IO},
    {"readdir", HOST_IO},
    {"stat", HOST_IO},
    {"fstat", HOST_IO},
    {"lstat", HOST_IO},
    {"access", HOST_IO},
    {"faccessat", HOST_IO},
    {"close", HOST_IO},
    {"sync", HOST_IO},
    {"ftruncate", HOST_IO},
    {"fallocate", HOST_IO},
    {"copy_file_range", HOST_IO},
    {"io_getevents", HOST_IO},
    {"rename", HOST_IO},
    {"unlink", HOST_IO},
    {"mkdir", HOST_IO},
};

void host_names_init(struct host_names *names, const struct run *run)
{
    names->run = run;
    names->class_of = mem_zalloc(run->strings.count, SPAN_KINDS);
    names->library = mem_zalloc(run->strings.count, 1);
}

void host_names_release(struct host_names *names)
{
    free(names->class_of);
    free(names->library);
}

static enum host_class class_of_call(const char *name)
{
    switch (call_classify(name)) {
    case CALL_LAUNCH:
        return HOST_LAUNCH;
    case CALL_COPY:
        return HOST_COPY;
    case CALL_SYNC:
        return HOST_SYNC;
    case CALL_ALLOC:
        return HOST_ALLOC;
    case CALL_MODULE:
        return HOST_MODULE;
    case CALL_QUERY:
    case CALL_OTHER:
        break;
    }
    return HOST_GENERIC;
}

static enum host_class class_of_range(const char *name)
{
    for (size_t i = 0; i < sizeof data_loading / sizeof *data_loading; i++)
        if (strcasestr(name, data_loading[i]))
            return HOST_DATA_LOADING;
    return HOST_GENERIC;
}

/* What a frame does is in the name of its function, and of its file if that is part of a library: people's
 * own paths may hold any word. A library that is being imported does nothing yet. */
static enum host_class class_of_frame(const char *name)
{
    const char *function = strstr(name, "): "), *library = NULL;
    static const char *const libraries[] = {"site-packages/", "dist-packages/"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const char *mark = strstr(name, libraries[i]);
        library = mark ? mark + strlen(libraries[i]) : library;
    }
    if (*name != '/' || !function)
        return class_of_range(name);
    if (strcmp(function, "): <module>") == 0)
        return HOST_GENERIC;
    return class_of_range(library ? library : function);
}

/* Objects are named for anything. */
static enum host_class class_of_function(const char *name)
{
    const char *function = native_name_function(name);
    return function ? class_of_range(function) : HOST_GENERIC;
}

static enum host_class class_of_overhead(const char *name)
{
    for (size_t i = 0; i < sizeof overheads / sizeof *overheads; i++)
        if (strcasestr(name, overheads[i].fragment))
            return overheads[i].class;
    return HOST_PROFILER;
}

static enum host_class class_of_os_call(const char *name)
{
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof os_calls / sizeof *os_calls; i++)
        if (strncmp(name, os_calls[i].prefix, strlen(os_calls[i].prefix)) == 0)
            return os_calls[i].class;
    return HOST_GENERIC;
}

enum host_class host_span_class(struct host_names *names, uint32_t span)
{
    const struct span_table *spans = &names->run->spans;
    uint8_t kind = spans->kind[span];
    uint8_t *slot = &names->class_of[(size_t)spans->name[span] * SPAN_KINDS + kind];
    if (*slot)
        return *slot;
    const char *name = run_text(names->run, spans->name[span]);
    switch ((enum span_kind)kind) {
    case SPAN_API:
        *slot = (uint8_t)class_of_call(name);
        break;
    case SPAN_OVERHEAD:
        *slot = (uint8_t)class_of_overhead(name);
        break;
    case SPAN_OS:
        *slot = (uint8_t)class_of_os_call(name);
        break;
    case SPAN_PYTHON:
        *slot = (uint8_t)class_of_frame(name);
        break;
    case SPAN_NATIVE:
        *slot = (uint8_t)class_of_function(name);
        break;
    default:
        *slot = (uint8_t)class_of_range(name);
    }
    return *slot;
}

bool host_frame_is_library(struct host_names *names, uint32_t span)
{
    static const char *const marks[] = {"site-packages", "dist-packages", "lib/python",
                                        "<built-in",     "<frozen",       "<string>",
                                        "torch/",        "nn.Module:",    "<method"};
    uint32_t id = names->run->spans.name[span];
    if (names->library[id])
        return names->library[id] == 2;
    names->library[id] = 1;
    const char *name = run_text(names->run, id);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(name, marks[i]))
            names->library[id] = 2;
    return names->library[id] == 2;
}

/* First span of [low, high) that starts after time; gallops from hint, which is usually close. */
static uint32_t first_after(const int64_t *start, uint32_t low, uint32_t high, uint32_t hint, int64_t time)
{
    uint32_t at = hint < low ? low : hint > high ? high : hint;
    uint32_t step = 1;
    if (at < high && start[at] <= time) {
        low = at + 1;
        while (at + step < high && start[at + step] <= time) {
            low = at + step + 1;
            step *= 2;
        }
        high = at + step < high ? at + step : high;
    } else {
        high = at;
        while (at - low >= step && start[at - step] > time) {
            high = at - step;
            step *= 2;
        }
        low = at - low >= step ? at - step : low;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (start[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t still_open(const struct span_table *spans, uint32_t leaf, int64_t time)
{
    while (leaf != NONE && spans->end[leaf] <= time)
        leaf = spans->parent[leaf];
    return leaf;
}

void host_walk(const struct run *run, uint32_t thread, struct host_cursor *cursor, struct interval range,
               void (*emit)(void *context, const struct host_stretch *stretch), void *context)
{
    const struct span_table *spans = &run->spans;
    const struct thread *t = &run->threads.at[thread];
    uint32_t end = t->first_span + t->span_count;
    uint32_t next = first_after(spans->start, t->first_span, end, cursor->next, range.start);
    uint32_t leaf = next > t->first_span ? still_open(spans, next - 1, range.start) : NONE;
    cursor->next = next;
    for (int64_t now = range.start; now < range.end;) {
        int64_t stop = range.end;
        if (leaf != NONE)
            stop = min_ns(stop, spans->end[leaf]);
        if (next < end)
            stop = min_ns(stop, max_ns(now, spans->start[next]));
        if (stop > now)
            emit(context, &(struct host_stretch){now, stop, leaf});
        now = stop;
        while (next < end && spans->start[next] <= now)
            leaf = next++;
        leaf = still_open(spans, leaf, now);
    }
}

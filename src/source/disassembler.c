#include "source/disassembler.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "source/child_output.h"

enum {
    MOST_BYTES = 64 << 20,
    MOST_SYMBOLS = 100 << 10, /* bytes of them: an argument has a limit */
    MOST_AT_ONCE = 8,
};

struct work {
    struct disassembly *all;
    size_t count;
    int64_t until_ns;
    atomic_size_t next;
};

/* Of all functions where there are too many to name them. */
static int run_first(struct str *out, const char *cubin, const char *symbols, int64_t for_ns)
{
    const char *chosen = getenv("WARPLIGHT_NVDISASM"), *toolkit = getenv("CUDA_HOME");
    const char *const of_some[] = {"nvdisasm", "-c", "-fun", symbols, cubin, NULL};
    const char *const of_all[] = {"nvdisasm", "-c", cubin, NULL};
    const char *const *arguments = strlen(symbols) < MOST_SYMBOLS ? of_some : of_all;
    struct str of_toolkit = {0};
    if (chosen && *chosen)
        return child_output(out, chosen, arguments, MOST_BYTES, for_ns);
    int why = child_output(out, "nvdisasm", arguments, MOST_BYTES, for_ns);
    if (why == ENOENT && toolkit && *toolkit) {
        str_addf(&of_toolkit, "%s/bin/nvdisasm", toolkit);
        why = child_output(out, str_text(&of_toolkit), arguments, MOST_BYTES, for_ns);
    }
    if (why == ENOENT)
        why = child_output(out, "/usr/local/cuda/bin/nvdisasm", arguments, MOST_BYTES, for_ns);
    str_release(&of_toolkit);
    return why;
}

static int write_all(int fd, const char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t part = write(fd, bytes + done, size - done);
        if (part <= 0 && errno != EINTR)
            return errno;
        done += part > 0 ? (size_t)part : 0;
    }
    return 0;
}

/* It reads a file without a name: nothing is left behind, whatever becomes of us. */
static void run_one(struct disassembly *one, int64_t for_ns)
{
    struct str path = {0};
    int fd = memfd_create("cubin", MFD_CLOEXEC);
    one->why = fd < 0 ? errno : write_all(fd, one->cubin, one->size);
    str_addf(&path, "/proc/%ld/fd/%d", (long)getpid(), fd);
    if (one->why == 0)
        one->why = run_first(&one->text, str_text(&path), str_text(&one->symbols), for_ns);
    if (fd >= 0)
        close(fd);
    str_release(&path);
}

static void *run_some(void *argument)
{
    struct work *work = argument;
    for (size_t i; (i = atomic_fetch_add(&work->next, 1)) < work->count;) {
        struct disassembly *one = &work->all[i];
        int64_t left_ns = work->until_ns - clock_ns(CLOCK_MONOTONIC);
        one->why = one->symbols.len && left_ns <= 0 ? ETIMEDOUT : 0;
        if (one->symbols.len && left_ns > 0)
            run_one(one, left_ns);
    }
    return NULL;
}

void disassembler_run(struct disassembly *all, size_t count, int64_t for_ns)
{
    struct work work = {.all = all, .count = count, .until_ns = clock_ns(CLOCK_MONOTONIC) + for_ns};
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = cpus > 0 && cpus < MOST_AT_ONCE ? (size_t)cpus : MOST_AT_ONCE,
           started = 0; /* -1: not known */
    pthread_t threads[MOST_AT_ONCE];
    while (started + 1 < most && started + 1 < count &&
           pthread_create(&threads[started], NULL, run_some, &work) == 0)
        started++;
    run_some(&work);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

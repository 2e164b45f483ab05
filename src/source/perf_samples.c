#include "source/perf_samples.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Seven samples: the reader may be a few periods late. Locked memory, of which users have little. */
enum { RING_BYTES = 16384, MOST_RECORD = 4096 };

int perf_thread_open(struct perf_thread *t, uint32_t tid, int64_t period_ns)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = (uint64_t)period_ns,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_STACK_USER,
        .sample_stack_user = PERF_STACK_BYTES,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_REALTIME,
        .comm = 1,
        .comm_exec = 1,
    };
    *t = (struct perf_thread){.page_bytes = (size_t)sysconf(_SC_PAGESIZE)};
    t->ring_bytes = RING_BYTES > t->page_bytes ? RING_BYTES : t->page_bytes;
    long fd = syscall(SYS_perf_event_open, &attributes, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    void *ring = mmap(NULL, t->page_bytes + t->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    int why = ring == MAP_FAILED ? errno : 0;
    close((int)fd); /* the mapping keeps the event */
    t->ring = why ? NULL : ring;
    return why;
}

void perf_thread_close(struct perf_thread *t)
{
    if (t->ring)
        munmap(t->ring, t->page_bytes + t->ring_bytes);
    t->ring = NULL;
}

/* Copies length bytes from position at of the ring, which goes round. */
static void copy(const struct perf_thread *t, uint64_t at, void *out, size_t length)
{
    const unsigned char *data = (const unsigned char *)t->ring + t->page_bytes;
    size_t from = at % t->ring_bytes;
    size_t part = t->ring_bytes - from < length ? t->ring_bytes - from : length;
    memcpy(out, data + from, part);
    memcpy((unsigned char *)out + part, data, length - part);
}

/* u64 ip, time, size; the stack; u64 how much of it is valid. Missing where there is none to read. */
static bool read_sample(const unsigned char *body, size_t length, struct perf_sample *out)
{
    uint64_t head[3], valid = 0;
    if (length < sizeof head)
        return false;
    memcpy(head, body, sizeof head);
    out->instruction = head[0];
    out->time = (int64_t)head[1];
    size_t room = head[2];
    if (room > 0 && room <= PERF_STACK_BYTES && length >= sizeof head + room + sizeof valid)
        memcpy(&valid, body + sizeof head + room, sizeof valid);
    valid = valid < room ? valid : room;
    out->stack_words = valid / sizeof *out->stack;
    memcpy(out->stack, body + sizeof head, out->stack_words * sizeof *out->stack);
    return true;
}

enum perf_record perf_thread_next(struct perf_thread *t, struct perf_sample *out, int64_t *lost)
{
    struct perf_event_mmap_page *page = t->ring;
    unsigned char body[MOST_RECORD];
    if (!page)
        return PERF_NOTHING;
    _Atomic uint64_t *head = (_Atomic uint64_t *)&page->data_head,
                     *tail = (_Atomic uint64_t *)&page->data_tail;
    uint64_t end = atomic_load_explicit(head, memory_order_acquire), at = page->data_tail;
    enum perf_record found = PERF_NOTHING;
    while (found == PERF_NOTHING && end - at >= sizeof(struct perf_event_header)) {
        struct perf_event_header header;
        copy(t, at, &header, sizeof header);
        size_t length = header.size - sizeof header;
        if (header.size < sizeof header || header.size > end - at || length > sizeof body) {
            at = end;
            break;
        }
        copy(t, at + sizeof header, body, length);
        at += header.size;
        if (header.type == PERF_RECORD_SAMPLE && read_sample(body, length, out))
            found = PERF_SAMPLED;
        else if (header.type == PERF_RECORD_COMM && (header.misc & PERF_RECORD_MISC_COMM_EXEC))
            found = PERF_NEW_PROGRAM;
        else if (header.type == PERF_RECORD_LOST && length >= 2 * sizeof(uint64_t)) {
            uint64_t count;
            memcpy(&count, body + sizeof(uint64_t), sizeof count); /* after the event's id */
            *lost += (int64_t)count;
        }
    }
    atomic_store_explicit(tail, at, memory_order_release);
    return found;
}

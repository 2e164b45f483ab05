#include "source/cupti_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/i18n.h"
#include "source/cupti_nvtx.h"

/* How many of length bytes can be touched. The target can cut its file, or say that a hole is a record, and a
 * touch of what has no memory is a fatal signal where the disk is full. */
static uint64_t backed(const struct cupti_ring *r, uint64_t offset, uint64_t length)
{
    off_t start = (off_t)offset;
    if (lseek(r->fd, start, SEEK_DATA) != start)
        return 0;
    off_t end = lseek(r->fd, start, SEEK_HOLE);
    uint64_t there = end > start ? (uint64_t)(end - start) : 0;
    return there < length ? there : length;
}

static void read_texts(struct cupti_ring *r, struct run *run)
{
    uint64_t used = atomic_load_explicit(&r->ring->text_used, memory_order_acquire);
    uint64_t read = r->records.texts.read;
    if (used > RING_TEXT_BYTES)
        used = RING_TEXT_BYTES; /* the target can write anything here */
    if (used > read)
        cupti_texts_read(&r->records.texts, ring_text_log(r->ring),
                         read + backed(r, RING_TEXT_AT + read, used - read), run);
}

static void name_process(struct run *run, uint32_t process, int32_t pid)
{
    char path[64], name[512] = "";
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(name, 1, sizeof name - 1, file) : 0;
    if (file)
        fclose(file);
    while (length > 0 && name[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++)
        name[i] = name[i] ? name[i] : ' ';
    run->processes.at[process].name = intern_add(&run->strings, name, length);
}

bool cupti_ring_is_whole(const struct cupti_ring *r)
{
    return backed(r, 0, RING_HEADER_BYTES) == RING_HEADER_BYTES;
}

static int map_ring(struct cupti_ring *r, struct err *err)
{
    struct stat status;
    void *map = MAP_FAILED;
    if (fstat(r->fd, &status) == 0 && status.st_size == RING_FILE_BYTES && cupti_ring_is_whole(r))
        map = mmap(NULL, RING_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
    if (map == MAP_FAILED)
        return err_set(err, ERR_ENV, r->name, -1, NULL, "%s", _("the recording buffer is not ready"));
    r->ring = map;
    if (memcmp(r->ring->magic, RING_MAGIC, sizeof r->ring->magic) != 0 || r->ring->version != RING_VERSION)
        return err_set(err, ERR_ENV, r->name, -1, NULL, "%s",
                       _("the recording buffer is of another version"));
    return 0;
}

int cupti_ring_open(struct cupti_ring *r, struct run *run, uint32_t source, int folder, const char *name,
                    struct err *err)
{
    *r = (struct cupti_ring){.records = {.source = source, .last_thread = NONE, .shift_ns = UNKNOWN}};
    snprintf(r->name, sizeof r->name, "%s", name);
    r->fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (r->fd < 0)
        return err_set(err, ERR_ENV, name, -1, NULL, "%s", strerror(errno));
    int rc = map_ring(r, err);
    if (rc != 0) {
        cupti_ring_close(r);
        return rc;
    }
    int32_t pid = r->ring->pid;
    r->records.pid = pid;
    r->records.process = (uint32_t)run->processes.count;
    vec_push(&run->processes, ((struct process){.source = source, .pid = pid, .rank = -1}));
    name_process(run, r->records.process, pid);
    return 0;
}

bool cupti_ring_is_abandoned(const struct cupti_ring *r)
{
    /* A write lease is given to who alone has a file open, and a mapping counts: this holds across exec, PID
     * namespaces and pids that are used again. Whoever should open it just now breaks the lease: with a
     * signal that is ignored. */
    fcntl(r->fd, F_SETSIG, SIGURG);
    if (fcntl(r->fd, F_SETLEASE, F_WRLCK) != 0)
        return false;
    fcntl(r->fd, F_SETLEASE, F_UNLCK);
    return true;
}

/* Reads up to valid bytes of a slot that was handed over when the log of texts had that length. Returns how
 * many could be read. */
static uint64_t read_slot(struct cupti_ring *r, struct run *run, int slot, uint64_t valid,
                          uint64_t log_length)
{
    uint8_t *data = ring_slot_data(r->ring, slot);
    uint64_t there = backed(r, (uint64_t)(data - (uint8_t *)r->ring), valid);
    r->records.log_length = log_length;
    cupti_records_decode(&r->records, run, data, there, r->ring->record_bytes);
    return there;
}

/* What came since the last time. */
static void book_losses(struct cupti_ring *r, struct run *run)
{
    const uint64_t most = INT32_MAX; /* beyond, it is not a count */
    run->losses.malformed += r->records.unknown;
    r->records.unknown = 0;
    if (!cupti_ring_is_whole(r))
        return;
    uint64_t by_cupti = atomic_load(&r->ring->dropped_by_cupti), here = atomic_load(&r->ring->dropped_here);
    int64_t dropped = (int64_t)(by_cupti < most ? by_cupti : most) + (int64_t)(here < most ? here : most);
    if (dropped > r->dropped) {
        run->losses.dropped += dropped - r->dropped;
        r->dropped = dropped;
    }
}

void cupti_ring_want(struct cupti_ring *r, enum ring_wanted wanted)
{
    if (!cupti_ring_is_whole(r))
        return;
    atomic_store_explicit(&r->ring->wanted, wanted, memory_order_release);
    syscall(SYS_futex, &r->ring->wanted, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

bool cupti_ring_obeys(const struct cupti_ring *r)
{
    if (!cupti_ring_is_whole(r))
        return true;
    uint32_t state = atomic_load_explicit(&r->ring->state, memory_order_acquire);
    switch (atomic_load_explicit(&r->ring->wanted, memory_order_relaxed)) {
    case RING_RECORD:
        return state != RING_PAUSED;
    case RING_PAUSE:
        return state != RING_RECORDING && state != RING_STARTING;
    default:
        return state == RING_FINISHED || state == RING_FAILED;
    }
}

/* Taken anew whenever the recording starts. */
static void read_clocks(struct cupti_ring *r)
{
    int64_t cupti_ns = atomic_load_explicit(&r->ring->cupti_ns, memory_order_acquire);
    if (cupti_ns != r->records.cupti_ns)
        r->records.shift_ns = UNKNOWN;
    r->records.cupti_ns = cupti_ns;
    r->records.realtime_ns = atomic_load_explicit(&r->ring->realtime_ns, memory_order_relaxed);
}

/* There are no kernels for the launches of graphs: the report has to say so. */
static void note_whole_graphs(struct cupti_ring *r, struct run *run)
{
    if (r->told_whole_graphs || r->records.graphs_seen == 0)
        return;
    r->told_whole_graphs = true;
    run_repair(run, r->records.source,
               N_("launches of CUDA graphs were recorded whole, and the kernels in them not counted "
                  "(record --graph-trace node records them)"),
               1, -1);
}

int64_t cupti_ring_drain(struct cupti_ring *r, struct run *run)
{
    int64_t before = r->records.count;
    if (!cupti_ring_is_whole(r))
        return 0; /* the target cut its file */
    read_clocks(r);
    for (int number = 0; number < RING_SLOTS; number++) {
        struct ring_slot *slot = &r->ring->slots[number];
        if (atomic_load_explicit(&slot->state, memory_order_acquire) != RING_SLOT_FULL)
            continue;
        read_texts(r, run); /* the library logged the slot's texts before it handed the slot over */
        uint64_t valid = slot->valid_bytes;
        valid =
            read_slot(r, run, number, valid < RING_SLOT_BYTES ? valid : RING_SLOT_BYTES, slot->text_bytes);
        memset(ring_slot_data(r->ring, number), 0, valid);
        atomic_store_explicit(&slot->state, RING_SLOT_FREE, memory_order_release);
    }
    cupti_records_settle(&r->records, run);
    note_whole_graphs(r, run);
    book_losses(r, run);
    return r->records.count - before;
}

/* What had begun and not ended when the process did, or when the recording did. */
static void close_ranges(struct cupti_ring *r, struct run *run)
{
    uint64_t there = backed(r, RING_OPEN_AT, RING_OPEN_BYTES);
    int64_t end = r->records.heard_ns, before = r->records.unfinished;
    for (int i = 0; i < RING_OPEN_RANGES && (uint64_t)(i + 1) * sizeof(struct ring_open) <= there; i++) {
        struct ring_open *open = ring_open(r->ring, i);
        if (atomic_load_explicit(&open->state, memory_order_acquire) != RING_OPEN_BEGUN)
            continue;
        struct ring_payload_range range = open->range; /* once: the target could change it meanwhile */
        cupti_nvtx_unfinished(&r->records, run, &range, end);
    }
    if (r->records.unfinished > before)
        run_repair(run, r->records.source,
                   N_("NVTX ranges that never ended were closed at the end of the recording"),
                   r->records.unfinished - before, -1);
}

void cupti_ring_finish(struct cupti_ring *r, struct run *run)
{
    cupti_ring_drain(r, run);
    if (!cupti_ring_is_whole(r)) {
        book_losses(r, run);
        return;
    }
    read_texts(r, run);
    /* Also of a process that has finished in good order: other threads may have gone on. The slots stay LENT:
     * who outlives the recording may still write to them. */
    for (int slot = 0; slot < RING_SLOTS; slot++)
        if (atomic_load(&r->ring->slots[slot].state) == RING_SLOT_LENT)
            read_slot(r, run, slot, RING_SLOT_BYTES, RING_TEXT_BYTES);
    close_ranges(r, run);
    cupti_records_settle(&r->records, run);
    cupti_counters_settle(&r->records.counters, &r->records.texts, run, r->records.source,
                          r->records.process);
    book_losses(r, run);
}

void cupti_ring_close(struct cupti_ring *r)
{
    if (r->ring)
        munmap(r->ring, RING_FILE_BYTES);
    if (r->fd >= 0)
        close(r->fd);
    cupti_records_release(&r->records);
    *r = (struct cupti_ring){.fd = -1};
}

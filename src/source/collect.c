#include "source/collect.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/utf8.h"

/* Of recorded processes at one time; each takes a descriptor and 80 MB of address space. */
enum { MOST_PROCESSES = 4096 };
/* How long processes that outlive the recording may take to hand over their last records. */
enum { LAST_WORD_MS = 1500, LOOK_AGAIN_MS = 10 };

int collect_open(struct collect *c, uint32_t source, struct err *err)
{
    *c = (struct collect){.source = source};
    return folder_make(&c->folder, err);
}

/* ---- rings -----------------------------------------------------------------------------------------------
 */

/* A sentence of the library, translated, with detail in the place of {0}. Texts come from the target: they
 * are made fit for a terminal. */
static void take_failure(struct collect *c, const char *text, size_t length, const char *detail,
                         size_t detail_length)
{
    struct str sentence = {0};
    if (c->failure.len || length == 0)
        return;
    str_add(&sentence, text, length);
    const char *translated = i18n_text(str_text(&sentence));
    const char *place = strstr(translated, "{0}");
    size_t before = place ? (size_t)(place - translated) : strlen(translated);
    utf8_visible(&c->failure, translated, before);
    if (place) {
        utf8_visible(&c->failure, detail, detail_length);
        utf8_visible(&c->failure, place + strlen("{0}"), strlen(place + strlen("{0}")));
    }
    str_release(&sentence);
}

static void take_failure_file(struct collect *c, const char *name)
{
    char why[RING_MESSAGE_BYTES];
    ssize_t length = readlinkat(c->folder.fd, name, why, sizeof why);
    if (length > 0)
        take_failure(c, why, (size_t)length, "", 0);
    unlinkat(c->folder.fd, name, 0);
}

static void take_ring(struct collect *c, struct run *run, const char *name)
{
    uint64_t key = hash_bytes(name, strlen(name));
    struct cupti_ring ring;
    if (c->rings.count >= MOST_PROCESSES || map_get(&c->known, key) != MAP_ABSENT ||
        strlen(name) >= sizeof ring.name)
        return;
    if (cupti_ring_open(&ring, run, c->source, c->folder.fd, name, NULL) != 0)
        return; /* being made: next time */
    cupti_ring_want(&ring, c->wanted);
    map_set(&c->known, key, 1);
    vec_push(&c->rings, ring);
    c->processes++;
    if (ring.records.pid == c->silent_pid)
        c->silent_pid = 0;
    if (c->sampler)
        host_sampler_watch_process(c->sampler, run, ring.records.process, ring.records.pid, ring.name);
}

static void find_rings(struct collect *c, struct run *run)
{
    DIR *folder = opendir(str_text(&c->folder.path));
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (folder_is_ring(entry->d_name))
            take_ring(c, run, entry->d_name);
        else if (folder_is_failure(entry->d_name))
            take_failure_file(c, entry->d_name);
    }
    closedir(folder);
}

static void take_over(struct collect *c, struct run *run)
{
    const char *why =
        _("another profiler in the process took CUPTI over, so what came after is missing; run it "
          "without its own profiler (torch.profiler, …)");
    run_repair(run, c->source,
               N_("another profiler in the process took CUPTI over: what came after is missing"), 1, -1);
    if (c->failure.len == 0)
        str_puts(&c->failure, why);
}

static void take_facts(struct collect *c, const struct ring *ring)
{
    size_t length = strnlen(ring->cupti_path, sizeof ring->cupti_path);
    if (c->has_facts || ring->cupti_version == 0)
        return;
    c->has_facts = true;
    c->cupti_version = ring->cupti_version;
    c->driver_version = ring->driver_version;
    str_add(&c->cupti_path, ring->cupti_path, length);
}

static void take_plan(struct collect *c, struct cupti_ring *ring)
{
    struct ring_plan *plan = &ring->records.counters.plan;
    if (plan->kind)
        c->plan = *plan;
    plan->kind = 0;
}

/* Takes the last of a ring and gives its memory back. */
static int64_t finish_ring(struct collect *c, struct run *run, struct cupti_ring *ring)
{
    int64_t before = ring->records.count;
    cupti_ring_finish(ring, run);
    take_plan(c, ring);
    if (cupti_ring_is_whole(ring)) {
        take_facts(c, ring->ring);
        if (atomic_load(&ring->ring->taken_over))
            take_over(c, run);
        take_failure(c, ring->ring->message, strnlen(ring->ring->message, sizeof ring->ring->message),
                     ring->ring->detail, strnlen(ring->ring->detail, sizeof ring->ring->detail));
    }
    unlinkat(c->folder.fd, ring->name, 0);
    if (c->sampler)
        host_sampler_forget_process(c->sampler, ring->records.process);
    int64_t count = ring->records.count - before;
    cupti_ring_close(ring);
    return count;
}

/* ---- host threads ----------------------------------------------------------------------------------------
 */

void collect_sample_hosts(struct collect *c, struct run *run, int64_t hz)
{
    c->sampler = host_sampler_start(run, c->source, hz);
}

/* Threads become known by the calls that they make. */
static void drain_sampler(struct collect *c, struct run *run)
{
    if (!c->sampler)
        return;
    host_sampler_pause(c->sampler, c->wanted != RING_RECORD);
    for (; c->threads_known < run->threads.count; c->threads_known++) {
        const struct thread *thread = &run->threads.at[c->threads_known];
        host_sampler_watch_thread(c->sampler, thread->process, (uint32_t)c->threads_known, thread->tid);
    }
    host_sampler_drain(c->sampler, run);
}

static void finish_sampler(struct collect *c, struct run *run)
{
    const char *failure = c->sampler ? host_sampler_failure(c->sampler) : NULL;
    if (failure && c->failure.len == 0)
        str_puts(&c->failure, _(failure));
    host_sampler_finish(c->sampler, run);
    c->sampler = NULL;
}

/* ---- processes that say nothing --------------------------------------------------------------------------
 */

static void look_for_silent(struct collect *c)
{
    int64_t pid = c->silent_pid == 0 ? silent_find(&c->silent, str_text(&c->folder.path)) : 0;
    if (pid == 0)
        return;
    c->silent_pid = pid;
    c->silent_has_library = c->silent.has_library;
}

/* Not before the end: it may just have been slow to start. */
static void tell_of_silent(struct collect *c)
{
    char number[24];
    if (c->silent_pid == 0)
        return;
    const char *why =
        c->silent_has_library
            ? N_("process {0} cannot write to the folder of the recording (another user, a chroot or a "
                 "container of its own): record from inside, as its user")
            : N_("in process {0} the CUDA driver did not load the library that records: its "
                 "environment was changed, or it is setuid");
    int length = snprintf(number, sizeof number, "%lld", (long long)c->silent_pid);
    take_failure(c, why, strlen(why), number, (size_t)length);
}

/* ---- all of it -------------------------------------------------------------------------------------------
 */

int64_t collect_drain(struct collect *c, struct run *run)
{
    find_rings(c, run);
    int64_t count = 0;
    for (size_t i = 0; i < c->rings.count;) {
        struct cupti_ring *ring = &c->rings.at[i];
        /* Asked before the last look: what it wrote before it went is seen. */
        bool abandoned = cupti_ring_is_abandoned(ring);
        count += cupti_ring_drain(ring, run);
        take_plan(c, ring);
        if (!c->has_facts && cupti_ring_is_whole(ring))
            take_facts(c, ring->ring);
        if (abandoned) {
            count += finish_ring(c, run, ring);
            *ring = c->rings.at[--c->rings.count];
        } else {
            i++;
        }
    }
    drain_sampler(c, run);
    look_for_silent(c);
    c->records += count;
    return count;
}

void collect_want(struct collect *c, enum ring_wanted wanted)
{
    c->wanted = wanted;
    vec_each (&c->rings, ring)
        cupti_ring_want(ring, wanted);
}

bool collect_is_obeyed(const struct collect *c)
{
    vec_each (&c->rings, ring)
        if (!cupti_ring_obeys(ring))
            return false;
    return true;
}

void collect_finish(struct collect *c, struct run *run)
{
    const struct timespec pause = {.tv_nsec = LOOK_AGAIN_MS * 1000 * 1000};
    collect_drain(c, run);
    collect_want(c, RING_STOP);
    for (int waited = 0; waited < LAST_WORD_MS && !collect_is_obeyed(c); waited += LOOK_AGAIN_MS) {
        nanosleep(&pause, NULL);
        collect_drain(c, run);
    }
    vec_each (&c->rings, ring)
        c->records += finish_ring(c, run, ring);
    c->rings.count = 0;
    finish_sampler(c, run);
    tell_of_silent(c);
}

void collect_hold(struct collect *c, const struct compaction *compaction)
{
    vec_each (&c->rings, ring)
        cupti_records_hold(&ring->records, compaction);
    if (c->sampler)
        host_sampler_hold(c->sampler, compaction);
}

size_t collect_process_count(const struct collect *c)
{
    return c->processes;
}

const char *collect_failure(const struct collect *c)
{
    return c->failure.len ? str_text(&c->failure) : NULL;
}

void collect_facts(const struct collect *c, struct run *run)
{
    char text[64];
    if (!c->has_facts)
        return;
    snprintf(text, sizeof text, "%u", c->cupti_version);
    run_fact(run, c->source, "cupti_version", text, strlen(text));
    snprintf(text, sizeof text, "%u", c->driver_version);
    run_fact(run, c->source, "cuda_driver_version", text, strlen(text));
    run_fact(run, c->source, "cupti_path", str_text(&c->cupti_path), c->cupti_path.len);
}

void collect_close(struct collect *c)
{
    host_sampler_finish(c->sampler, NULL);
    vec_each (&c->rings, ring)
        cupti_ring_close(ring);
    vec_release(&c->rings);
    map_release(&c->known);
    folder_remove(&c->folder);
    str_release(&c->failure);
    str_release(&c->cupti_path);
}

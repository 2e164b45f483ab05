#include "source/collect.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"

enum { MOST_PROCESSES = 4096 };

int collect_open(struct collect *c, uint32_t source, struct err *err)
{
    const char *places[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};
    *c = (struct collect){.source = source};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!places[i] || !*places[i])
            continue;
        str_cut(&c->folder, 0);
        str_addf(&c->folder, "%s/warplight-%ld-XXXXXX", places[i], (long)getpid());
        if (mkdtemp(c->folder.ptr))
            return 0;
    }
    return err_set(err, ERR_ENV, "/tmp", -1, _("make a folder that you can write to and name it in TMPDIR"),
                   _("cannot make a folder for the recording buffers: %s"), strerror(errno));
}

static bool is_ring(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && strcmp(name + digits, ".ring") == 0;
}

static void find_rings(struct collect *c, struct run *run)
{
    DIR *folder = opendir(str_text(&c->folder));
    if (!folder)
        return;
    struct str path = {0};
    for (struct dirent *entry; (entry = readdir(folder)) && c->rings.count < MOST_PROCESSES;) {
        uint64_t key = hash_bytes(entry->d_name, strlen(entry->d_name));
        if (!is_ring(entry->d_name) || map_get(&c->known, key) != MAP_ABSENT)
            continue;
        str_cut(&path, 0);
        str_addf(&path, "%s/%s", str_text(&c->folder), entry->d_name);
        struct cupti_ring ring;
        if (cupti_ring_open(&ring, run, c->source, str_text(&path), NULL) != 0)
            continue; /* being made: next time */
        map_set(&c->known, key, 1);
        vec_push(&c->rings, ring);
    }
    str_release(&path);
    closedir(folder);
}

int64_t collect_drain(struct collect *c, struct run *run)
{
    find_rings(c, run);
    int64_t count = 0;
    vec_each (&c->rings, ring) {
        if (ring->done)
            continue;
        count += cupti_ring_drain(ring, run);
        /* One of many short processes: give its memory back as soon as it is gone. */
        if (kill(ring->ring->pid, 0) != 0 && errno == ESRCH)
            cupti_ring_finish(ring, run);
    }
    c->records += count;
    return count;
}

void collect_finish(struct collect *c, struct run *run)
{
    find_rings(c, run);
    vec_each (&c->rings, ring) {
        if (ring->done)
            continue;
        int64_t before = ring->records;
        cupti_ring_finish(ring, run);
        c->records += ring->records - before;
    }
}

size_t collect_process_count(const struct collect *c)
{
    return c->rings.count;
}

const char *collect_failure(const struct collect *c)
{
    vec_each (&c->rings, ring) {
        if (atomic_load(&ring->ring->state) == RING_FAILED)
            return ring->ring->message;
        if (ring->taken_over)
            return _("another profiler in the process took CUPTI over, so what came after is missing; run it "
                     "without "
                     "its own profiler (torch.profiler, …)");
    }
    return NULL;
}

void collect_facts(const struct collect *c, struct run *run)
{
    char text[64];
    if (c->rings.count == 0)
        return;
    const struct ring *ring = c->rings.at[0].ring;
    snprintf(text, sizeof text, "%u", ring->cupti_version);
    run_fact(run, c->source, "cupti_version", text, strlen(text));
    snprintf(text, sizeof text, "%u", ring->driver_version);
    run_fact(run, c->source, "cuda_driver_version", text, strlen(text));
    run_fact(run, c->source, "cupti_path", ring->cupti_path,
             strnlen(ring->cupti_path, sizeof ring->cupti_path));
}

void collect_close(struct collect *c)
{
    vec_each (&c->rings, ring)
        cupti_ring_close(ring);
    vec_release(&c->rings);
    map_release(&c->known);
    DIR *folder = c->folder.len ? opendir(str_text(&c->folder)) : NULL;
    if (folder) {
        for (struct dirent *entry; (entry = readdir(folder));)
            if (is_ring(entry->d_name))
                unlinkat(dirfd(folder), entry->d_name, 0);
        closedir(folder);
        rmdir(str_text(&c->folder));
    }
    str_release(&c->folder);
}

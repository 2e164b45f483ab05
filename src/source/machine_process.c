#include "source/machine_process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"
#include "source/small_file.h"

/* ---- control groups --------------------------------------------------------------------------------------
 */

static size_t hex_length(const char *text)
{
    size_t length = 0;
    while (isxdigit((unsigned char)text[length]))
        length++;
    return length;
}

/* A part of a path: between two slashes. */
struct part {
    const char *text;
    size_t length;
};

static bool begins(struct part part, const char *prefix)
{
    return part.length > strlen(prefix) && strncmp(part.text, prefix, strlen(prefix)) == 0;
}

/* The 64 hex digits that every container runtime names its containers with, before ".scope" or nothing. */
static void take_container(struct part part, struct machine_process *p)
{
    enum { ID_LENGTH = 64 };
    const char *const lxc[] = {"lxc.payload.", "lxc.monitor."};
    for (size_t i = 0; i + ID_LENGTH <= part.length; i++) {
        bool starts = i == 0 || part.text[i - 1] == '-' || part.text[i - 1] == ':';
        if (starts && hex_length(part.text + i) == ID_LENGTH) {
            snprintf(p->container, sizeof p->container, "%.*s", ID_LENGTH, part.text + i);
            return;
        }
    }
    for (size_t i = 0; i < sizeof lxc / sizeof *lxc; i++)
        if (begins(part, lxc[i]))
            snprintf(p->container, sizeof p->container, "%.*s", (int)(part.length - strlen(lxc[i])),
                     part.text + strlen(lxc[i]));
}

/* "pod6e2b…" or "kubepods-burstable-pod6e2b….slice": systemd's form has "_" in place of "-". */
static void take_pod(struct part part, struct machine_process *p)
{
    enum { UID_LENGTH = 36 };
    for (size_t i = 0; i + 3 + UID_LENGTH <= part.length; i++) {
        const char *uid = part.text + i + 3;
        bool starts = i == 0 || part.text[i - 1] == '-';
        if (!starts || strncmp(part.text + i, "pod", 3) != 0)
            continue;
        size_t length = 0;
        while (length < UID_LENGTH &&
               (isxdigit((unsigned char)uid[length]) || uid[length] == '-' || uid[length] == '_'))
            length++;
        if (length != UID_LENGTH)
            continue;
        for (size_t c = 0; c < UID_LENGTH; c++)
            p->pod[c] = uid[c] == '_' ? '-' : uid[c];
        p->pod[UID_LENGTH] = '\0';
        return;
    }
}

/* ".../job_4711/step_0/...", below "slurm" or "slurmstepd.scope". */
static void take_job(struct part part, struct machine_process *p)
{
    if (begins(part, "job_") && isdigit((unsigned char)part.text[4]))
        snprintf(p->job, sizeof p->job, "%.*s", (int)(part.length - 4), part.text + 4);
    else if (begins(part, "step_") && p->job[0] && !strchr(p->job, '.'))
        snprintf(p->job + strlen(p->job), sizeof p->job - strlen(p->job), ".%.*s", (int)(part.length - 5),
                 part.text + 5);
}

static void take_path(struct part line, struct machine_process *p)
{
    bool slurm = memmem(line.text, line.length, "slurm", 5) != NULL;
    for (size_t at = 0; at < line.length;) {
        struct part part = {line.text + at, 0};
        while (at + part.length < line.length && part.text[part.length] != '/')
            part.length++;
        take_container(part, p);
        take_pod(part, p);
        if (slurm)
            take_job(part, p);
        at += part.length + 1;
    }
}

void machine_process_cgroup(const char *text, struct machine_process *p)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        const char *path = memchr(line, '/', length);
        if (path && !p->container[0] && !p->job[0])
            take_path((struct part){path, length - (size_t)(path - line)}, p);
        line += length + (line[length] == '\n');
    }
}

/* ---- one process -----------------------------------------------------------------------------------------
 */

struct machine_known {
    struct machine_process is; /* what does not change: all but device, type and readings */
    int64_t cpu_ns, time_ns;   /* CPU time so far, and when */
    struct reading cpu;
    bool seen; /* in this sample */
};

struct stat_line {
    char name[64];
    bool is_ending; /* it has closed its files, or is about to; the driver may still be at work on them */
    int64_t parent, cpu_ticks, start_ticks, resident_pages;
};

/* proc_pid_stat(5). The name may hold anything: it ends at the last ")". */
static bool read_stat(const char *proc, int64_t pid, struct stat_line *s)
{
    const int64_t exiting = 4; /* PF_EXITING of the kernel */
    char text[2048];
    int64_t flags, user, system;
    if (small_file_read(text, sizeof text, "%s/%" PRId64 "/stat", proc, pid) <= 0)
        return false;
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open)
        return false;
    struct str visible = {0};
    utf8_visible(&visible, open + 1, (size_t)(close - open) - 1);
    snprintf(s->name, sizeof s->name, "%s", str_text(&visible));
    str_release(&visible);
    if (sscanf(close + 1,
               " %*c %" SCNd64 " %*d %*d %*d %*d %" SCNd64 " %*u %*u %*u %*u %" SCNd64 " %" SCNd64
               " %*d %*d %*d %*d %*d %*d %" SCNd64 " %*u %" SCNd64,
               &s->parent, &flags, &user, &system, &s->start_ticks, &s->resident_pages) != 6)
        return false;
    s->is_ending = flags & exiting;
    return !__builtin_add_overflow(user, system, &s->cpu_ticks);
}

static void read_command(const char *proc, struct machine_process *p)
{
    char text[MACHINE_COMMAND_BYTES];
    struct str visible = {0};
    long length = small_file_read(text, sizeof text, "%s/%" PRId64 "/cmdline", proc, p->pid);
    for (long i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    while (length > 0 && text[length - 1] == ' ')
        length--;
    utf8_visible(&visible, text, length > 0 ? (size_t)length : 0);
    size_t fits =
        utf8_valid(str_text(&visible), visible.len < sizeof p->command ? visible.len : sizeof p->command - 1);
    snprintf(p->command, sizeof p->command, "%.*s", (int)fits, str_text(&visible));
    str_release(&visible);
}

static void read_user(const char *proc, struct machine_process *p)
{
    char text[4096], value[128], room[2048];
    int64_t uid;
    struct passwd entry, *found = NULL;
    if (small_file_read(text, sizeof text, "%s/%" PRId64 "/status", proc, p->pid) <= 0 ||
        !small_line(value, sizeof value, text, "Uid:") || !small_number(value, &uid))
        return;
    if (getpwuid_r((uid_t)uid, &entry, room, sizeof room, &found) == 0 && found)
        snprintf(p->user, sizeof p->user, "%s", found->pw_name);
    else
        snprintf(p->user, sizeof p->user, "%" PRId64, uid);
}

/* Whether a process holds a device file of the driver. True where we may not look. */
static bool uses_driver(const char *proc, int64_t pid)
{
    char folder[512], target[64];
    if (snprintf(folder, sizeof folder, "%s/%" PRId64 "/fd", proc, pid) >= (int)sizeof folder)
        return false;
    DIR *entries = opendir(folder);
    if (!entries)
        return errno != ENOENT;
    bool uses = false;
    for (struct dirent *entry; !uses && (entry = readdir(entries));) {
        ssize_t length = readlinkat(dirfd(entries), entry->d_name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        uses = strncmp(target, "/dev/nvidia", 11) == 0 || strncmp(target, "/dev/dri/", 9) == 0 ||
               strncmp(target, "/dev/dxg", 8) == 0;
    }
    closedir(entries);
    return uses;
}

static int64_t start_of(const struct machine_people *people, const struct stat_line *s)
{
    const int64_t second = 1000000000;
    __int128 start = (__int128)s->start_ticks * second / people->ticks_per_second + people->boot_unix_ns;
    return start > INT64_MAX || start < 0 ? UNKNOWN : (int64_t)start;
}

int64_t machine_people_started(const struct machine_people *people, int64_t pid)
{
    struct stat_line s;
    return read_stat(people->proc, pid, &s) ? start_of(people, &s) : UNKNOWN;
}

static struct machine_known *look_at(const struct machine_people *people, int64_t pid,
                                     const struct stat_line *s)
{
    char text[4096];
    struct machine_known *known = mem_zalloc(1, sizeof *known);
    struct machine_process *p = &known->is;
    p->pid = pid;
    bool is_other = people->own_namespace && !s->is_ending && !uses_driver(people->proc, pid);
    p->state = is_other ? READING_NO_PERMISSION : READING_KNOWN;
    p->start_unix_ns = start_of(people, s);
    p->parent_pid = s->parent;
    snprintf(p->name, sizeof p->name, "%s", s->name);
    read_user(people->proc, p);
    read_command(people->proc, p);
    if (small_file_read(text, sizeof text, "%s/%" PRId64 "/cgroup", people->proc, pid) > 0)
        machine_process_cgroup(text, p);
    return known;
}

/* Who has that number, as far as was seen, and is the driver's process; NULL: nobody. */
static struct machine_known *known_as(const struct machine_people *people, int64_t pid)
{
    uint32_t row = map_get(&people->by_pid, (uint64_t)pid);
    return row != MAP_ABSENT && people->known.at[row]->is.state == READING_KNOWN ? people->known.at[row]
                                                                                 : NULL;
}

/* The process as it was, unless its pid belongs to another one by now. */
static struct machine_known *know(struct machine_people *people, int64_t pid, const struct stat_line *s)
{
    uint32_t row = map_get(&people->by_pid, (uint64_t)pid);
    struct machine_known *before = known_as(people, pid);
    if (before && before->is.start_unix_ns == start_of(people, s))
        return before;
    struct machine_known *known = look_at(people, pid, s);
    if (row == MAP_ABSENT) {
        row = (uint32_t)people->known.count;
        vec_push(&people->known, known);
        map_set(&people->by_pid, (uint64_t)pid, row);
    } else {
        free(people->known.at[row]);
        people->known.at[row] = known;
    }
    return known;
}

static void rate_cpu(const struct machine_people *people, struct machine_known *known,
                     const struct stat_line *s, int64_t now)
{
    const int64_t second = 1000000000, thousand = 1000;
    int64_t cpu = (int64_t)((__int128)s->cpu_ticks * second / people->ticks_per_second);
    if (known->seen)
        return;
    known->seen = true;
    if (known->time_ns && now > known->time_ns)
        known->cpu = reading_of(
            (int64_t)((__int128)max_ns(cpu - known->cpu_ns, 0) * thousand / (now - known->time_ns)));
    known->cpu_ns = cpu;
    known->time_ns = now;
}

/* is: what is known of it; the driver's part of p stays. */
static void fill(struct machine_process *p, const struct machine_known *known, const struct stat_line *s)
{
    struct machine_process is = known->is;
    is.device = p->device;
    is.type = p->type;
    for (const struct gpu_field *field = machine_process_fields; field->key; field++)
        *gpu_reading(&is, field) = gpu_get(p, field);
    is.cpu = known->cpu;
    is.host_memory = reading_of(s->resident_pages * sysconf(_SC_PAGESIZE));
    *p = is;
}

static void unresolved(struct machine_process *p)
{
    p->state = READING_NO_PERMISSION;
    p->start_unix_ns = p->parent_pid = UNKNOWN;
    p->cpu = p->host_memory = reading_missing(READING_NO_PERMISSION);
}

/* ---- all of them -----------------------------------------------------------------------------------------
 */

/* The first PID namespace has a fixed number in the kernel (PROC_PID_INIT_INO). */
static bool in_own_namespace(const char *proc)
{
    char path[512], target[64];
    if (snprintf(path, sizeof path, "%s/self/ns/pid", proc) >= (int)sizeof path)
        return false;
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    return length > 0 && strcmp(target, "pid:[4026531836]") != 0;
}

void machine_people_open(struct machine_people *people, const char *proc)
{
    const int64_t second = 1000000000;
    char value[32];
    int64_t boot = 0;
    enum { ROOM = 1 << 18 };
    char *text = mem_alloc(ROOM);
    if (small_file_read(text, ROOM, "%s/stat", proc) > 0 && small_line(value, sizeof value, text, "btime "))
        small_number(value, &boot);
    free(text);
    *people = (struct machine_people){.proc = proc,
                                      .own_namespace = in_own_namespace(proc),
                                      .boot_unix_ns = boot < INT64_MAX / second ? boot * second : 0,
                                      .ticks_per_second = sysconf(_SC_CLK_TCK)};
}

/* Forgets who is not on a GPU any more. */
static void forget_unseen(struct machine_people *people)
{
    size_t kept = 0;
    map_release(&people->by_pid);
    vec_each (&people->known, known) {
        if (!(*known)->seen) {
            free(*known);
            continue;
        }
        (*known)->seen = false;
        map_set(&people->by_pid, (uint64_t)(*known)->is.pid, (uint32_t)kept);
        people->known.at[kept++] = *known;
    }
    people->known.count = kept;
}

void machine_people_close(struct machine_people *people)
{
    vec_each (&people->known, known)
        free(*known);
    vec_release(&people->known);
    map_release(&people->by_pid);
}

void machine_people_complete(struct machine_people *people, struct machine_sample *sample, int64_t now_ns)
{
    size_t kept = 0;
    vec_each (&sample->processes, p) {
        struct stat_line s;
        if (p->pid <= 0 || !read_stat(people->proc, p->pid, &s)) {
            struct machine_known *ended = p->pid > 0 ? known_as(people, p->pid) : NULL;
            if (ended) { /* since the driver listed it: remembered as long as it does */
                ended->seen = true;
                continue;
            }
            unresolved(p);
        } else {
            struct machine_known *known = know(people, p->pid, &s);
            rate_cpu(people, known, &s, now_ns);
            if (known->is.state == READING_KNOWN)
                fill(p, known, &s);
            else
                unresolved(p);
        }
        sample->processes.at[kept++] = *p;
    }
    sample->processes.count = kept;
    forget_unseen(people);
}

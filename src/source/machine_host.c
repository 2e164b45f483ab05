#include "source/machine_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "source/small_file.h"

enum { THOUSAND = 1000, KIB = 1024 };

/* user nice system idle iowait irq softirq steal; guest time is within user and nice. */
static bool parse_cpu(const char *text, struct machine_cpu *cpu)
{
    int64_t ticks[8] = {0};
    int found = sscanf(
        text,
        "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
        &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]);
    *cpu = (struct machine_cpu){.idle = ticks[3], .wait = ticks[4]};
    for (int i = 0; i < 8; i++)
        if (__builtin_add_overflow(cpu->total, ticks[i], &cpu->total))
            return false;
    return found >= 4;
}

static int64_t count_cpus(const char *text)
{
    int64_t count = 0;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        count += strncmp(line, "cpu", 3) == 0 && line[3] >= '0' && line[3] <= '9';
    return count;
}

static struct reading share(int64_t part, int64_t whole)
{
    if (whole <= 0)
        return reading_missing(READING_UNREAD);
    int64_t held = part < 0 ? 0 : part > whole ? whole : part; /* iowait may go back */
    return reading_of((int64_t)((__int128)held * THOUSAND / whole));
}

static void read_cpus(const char *proc, struct machine_cpu *before, struct machine_host *host)
{
    enum { ROOM = 256 * KIB }; /* of thousands of CPUs */
    struct machine_cpu now;
    char *text = mem_alloc(ROOM);
    if (small_file_read(text, ROOM, "%s/stat", proc) > 0 && parse_cpu(text, &now)) {
        int64_t cpus = count_cpus(text);
        host->cpus = cpus ? reading_of(cpus) : reading_missing(READING_UNSUPPORTED);
        if (before->total) {
            int64_t total = now.total - before->total, waiting = now.wait - before->wait;
            host->cpu_busy = share(total - (now.idle - before->idle) - waiting, total);
            host->cpu_wait = share(waiting, total);
        }
        *before = now;
    }
    free(text);
}

static void read_load(const char *proc, struct machine_host *host)
{
    enum { HUNDRED = 100 };
    char text[128];
    int64_t whole[3], part[3];
    if (small_file_read(text, sizeof text, "%s/loadavg", proc) < 0 ||
        sscanf(text, "%" SCNd64 ".%2" SCNd64 " %" SCNd64 ".%2" SCNd64 " %" SCNd64 ".%2" SCNd64, &whole[0],
               &part[0], &whole[1], &part[1], &whole[2], &part[2]) != 6)
        return;
    struct reading *const loads[] = {&host->load_1, &host->load_5, &host->load_15};
    for (int i = 0; i < 3; i++)
        if (whole[i] >= 0 && whole[i] < INT64_MAX / HUNDRED - 1)
            *loads[i] = reading_of(whole[i] * HUNDRED + part[i]);
}

static struct reading memory_line(const char *text, const char *key)
{
    char value[64];
    int64_t kib;
    if (!small_line(value, sizeof value, text, key) || !small_number(value, &kib))
        return reading_missing(READING_UNSUPPORTED);
    return kib >= 0 && kib < INT64_MAX / KIB ? reading_of(kib * KIB) : reading_missing(READING_IMPLAUSIBLE);
}

static void read_memory(const char *proc, struct machine_host *host)
{
    char text[8192];
    if (small_file_read(text, sizeof text, "%s/meminfo", proc) < 0)
        return;
    host->memory = memory_line(text, "MemTotal:");
    host->memory_used = reading_gain(memory_line(text, "MemAvailable:"), host->memory);
    host->swap = memory_line(text, "SwapTotal:");
    host->swap_used = reading_gain(memory_line(text, "SwapFree:"), host->swap);
}

void machine_host_read(const char *proc, struct machine_cpu *before, struct machine_host *host)
{
    char name[GPU_NAME_BYTES];
    struct str visible = {0};
    *host = (struct machine_host){0};
    small_file_read(name, sizeof name, "%s/sys/kernel/hostname", proc);
    utf8_visible(&visible, name, strcspn(name, "\n"));
    snprintf(host->name, sizeof host->name, "%s", str_text(&visible));
    str_release(&visible);
    read_cpus(proc, before, host);
    read_load(proc, host);
    read_memory(proc, host);
    gpu_check(host, machine_host_fields);
}

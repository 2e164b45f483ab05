#include "source/machine_events.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "know/xid_line.h"
#include "source/machine_driver.h"

/* One sample holds no more different ones; a GPU has a dozen codes when all goes wrong. */
enum { MOST_EVENTS = 256 };
static const int64_t second = 1000000000;
static const int64_t late = INT64_C(5000000000); /* how far apart both may tell of the same */

void machine_events_open(struct machine_events *e, const char *path)
{
    *e = (struct machine_events){0};
    kmsg_follow_open(&e->log, path);
}

void machine_events_close(struct machine_events *e)
{
    kmsg_follow_close(&e->log);
    vec_release(&e->coming);
    vec_release(&e->past);
}

/* ---- the same or another ---------------------------------------------------------------------------------
 */

static bool is_same(const struct machine_event *a, const struct machine_event *b)
{
    return a->code == b->code && strcmp(a->bus, b->bus) == 0;
}

static struct burst *told_by(struct machine_told *told, const struct machine_event *event)
{
    return event->told_by & MACHINE_TOLD_BY_NVML ? &told->by_nvml : &told->by_log;
}

static void count(struct machine_told *told, const struct machine_event *event, bool is_part)
{
    burst_add(told_by(told, event), event->time_unix_ns, is_part);
    told->event.told_by |= event->told_by;
    told->event.count = max_ns(told->by_nvml.count, told->by_log.count);
}

/* Whether it was told of already, or by the other teller, in a sample that is gone. */
static bool is_known(struct machine_told *told, const struct machine_event *event)
{
    const struct burst *teller = told_by(told, event);
    int64_t apart = event->time_unix_ns - told->event.time_unix_ns;
    return is_same(&told->event, event) && apart < late && apart > -late &&
           (burst_goes_on(teller, event->time_unix_ns) || teller->count < told->event.count);
}

static void add(struct machine_events *e, const struct machine_event *event, bool is_part)
{
    vec_each (&e->past, told)
        if (is_known(told, event)) {
            count(told, event, is_part);
            return;
        }
    vec_each (&e->coming, told) {
        struct machine_event *known = &told->event;
        if (!is_same(known, event))
            continue;
        count(told, event, is_part);
        known->time_unix_ns = min_ns(known->time_unix_ns, event->time_unix_ns);
        if (!known->process[0])
            memcpy(known->process, event->process, sizeof known->process);
        if (!known->text[0])
            memcpy(known->text, event->text, sizeof known->text);
        return;
    }
    if (e->coming.count == MOST_EVENTS)
        return;
    struct machine_told *told = vec_new(&e->coming);
    *told = (struct machine_told){.event = *event};
    count(told, event, is_part);
}

void machine_events_add(struct machine_events *e, const struct machine_event *event)
{
    struct machine_event of_nvml = {
        .time_unix_ns = event->time_unix_ns, .code = event->code, .told_by = MACHINE_TOLD_BY_NVML};
    memcpy(of_nvml.bus, event->bus, sizeof of_nvml.bus);
    of_nvml.bus[sizeof of_nvml.bus - 1] = '\0';
    add(e, &of_nvml, event->code == XID_GRAPHICS_EXCEPTION);
}

/* ---- the log ---------------------------------------------------------------------------------------------
 */

static void copy_visible(char *out, size_t size, const char *text, size_t length)
{
    struct str visible = {0};
    utf8_visible(&visible, text, length);
    snprintf(out, size, "%s", str_text(&visible));
    str_release(&visible);
    out[utf8_valid(out, strlen(out))] = '\0'; /* where it was cut within a character */
}

/* "0000:3b:00 GPU-I:05" → "0000:3b:00.0", as devices have it. */
static void copy_bus(char out[GPU_BUS_BYTES], const char *device)
{
    int length = (int)strcspn(device, " ");
    snprintf(out, GPU_BUS_BYTES, "%.*s%s", length, device, memchr(device, '.', (size_t)length) ? "" : ".0");
}

/* The log's clock stands while the machine sleeps: a record that seems old came just now all the same. */
static int64_t unix_time(int64_t log_ns)
{
    const int64_t longest = 60 * second;
    int64_t age = driver_now_ns() - log_ns;
    return driver_unix_ns() - (age >= 0 && age < longest ? age : 0);
}

static void take_line(void *context, int64_t time_ns, const char *text, size_t length)
{
    struct xid_line line;
    if (!xid_line_parse(text, length, &line) || line.is_switch)
        return;
    struct machine_event event = {
        .time_unix_ns = unix_time(time_ns), .code = line.code, .told_by = MACHINE_TOLD_BY_KERNEL_LOG};
    copy_bus(event.bus, line.device);
    copy_visible(event.process, sizeof event.process, line.process, strlen(line.process));
    copy_visible(event.text, sizeof event.text, text, length);
    add(context, &event, line.is_part);
}

/* ---- a sample --------------------------------------------------------------------------------------------
 */

static void forget_old(struct machine_events *e, int64_t now)
{
    size_t kept = 0;
    vec_each (&e->past, told)
        if (now - told->event.time_unix_ns < 2 * late)
            e->past.at[kept++] = *told;
    e->past.count = kept;
}

static uint32_t device_of(const struct machine_sample *sample, const char *bus)
{
    for (uint32_t row = 0; row < sample->devices.count; row++)
        if (sample->devices.at[row].parent == NONE && strcmp(sample->devices.at[row].facts.bus, bus) == 0)
            return row;
    return NONE;
}

void machine_events_read(struct machine_events *e)
{
    kmsg_follow_read(&e->log, take_line, e);
}

void machine_events_offer(struct machine_events *e, int64_t now_unix_ns, machine_event_take *take,
                          void *context)
{
    size_t kept = 0;
    forget_old(e, now_unix_ns);
    vec_each (&e->coming, told) {
        if (!take(context, &told->event))
            e->coming.at[kept++] = *told;
        else if (e->past.count < MOST_EVENTS)
            vec_push(&e->past, *told);
    }
    e->coming.count = kept;
}

static bool add_to_sample(void *context, const struct machine_event *event)
{
    struct machine_sample *sample = context;
    vec_push(&sample->events, *event);
    sample->events.at[sample->events.count - 1].device = device_of(sample, event->bus);
    return true;
}

void machine_events_take(struct machine_events *e, struct machine_sample *sample)
{
    machine_events_read(e);
    sample->sources[MACHINE_KERNEL_LOG] =
        (struct machine_source){.name = "kernel log", .state = e->log.state};
    sample->events.count = 0;
    if (sample->interval_ns) /* else the first: nobody may look at it */
        machine_events_offer(e, sample->time_unix_ns, add_to_sample, sample);
}

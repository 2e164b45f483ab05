#include "model/machine.h"

#include <string.h>

#include "base/i18n.h"

#define ROW(type_, field_, key_, unit_, kind_, title_)                                                       \
    {.key = key_, .title = title_, .unit = unit_, .kind = kind_, .offset = offsetof(struct type_, field_)},
#define HOST_ROW(...)    ROW(machine_host, __VA_ARGS__)
#define DETAIL_ROW(...)  ROW(machine_detail, __VA_ARGS__)
#define PROCESS_ROW(...) ROW(machine_process, __VA_ARGS__)

const struct gpu_field machine_host_fields[] = {MACHINE_HOST_FIELDS(HOST_ROW){0}};
const struct gpu_field machine_detail_fields[] = {MACHINE_DETAIL_FIELDS(DETAIL_ROW){0}};
const struct gpu_field machine_process_fields[] = {MACHINE_PROCESS_FIELDS(PROCESS_ROW){0}};

#define copy_rows(to, from)                                                                                  \
    do {                                                                                                     \
        vec_reserve(to, (from)->count);                                                                      \
        (to)->count = (from)->count;                                                                         \
        if ((from)->count)                                                                                   \
            memcpy((to)->at, (from)->at, (from)->count * sizeof *(from)->at);                                \
    } while (0)

void machine_sample_copy(struct machine_sample *to, const struct machine_sample *from)
{
    copy_rows(&to->devices, &from->devices);
    copy_rows(&to->processes, &from->processes);
    copy_rows(&to->events, &from->events);
    to->time_unix_ns = from->time_unix_ns;
    to->interval_ns = from->interval_ns;
    to->host = from->host;
    memcpy(to->sources, from->sources, sizeof to->sources);
}

void machine_sample_release(struct machine_sample *sample)
{
    vec_release(&sample->devices);
    vec_release(&sample->processes);
    vec_release(&sample->events);
    *sample = (struct machine_sample){0};
}

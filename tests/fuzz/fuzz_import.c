#include "fuzz_import.h"

#include <math.h>

#include "import/import.h"

static void check_ops(const struct run *run)
{
    for (size_t i = 0; i < run->ops.count; i++) {
        FUZZ_CHECK(run->ops.start[i] <= run->ops.end[i]);
        FUZZ_CHECK(run->ops.stream[i] < run->streams.count);
        FUZZ_CHECK(run_op_device(run, i) < run->devices.count);
        FUZZ_CHECK(run->ops.name[i] < run->strings.count);
        FUZZ_CHECK(run->ops.shape[i] == NONE || run->ops.shape[i] < run->shapes.count);
        FUZZ_CHECK(run->ops.comm[i] == NONE || run->ops.comm[i] < run->comms.count);
        FUZZ_CHECK(run->ops.call[i] == NONE || run->ops.call[i] < run->spans.count);
    }
    size_t owned = 0;
    vec_each (&run->devices, device) {
        FUZZ_CHECK(device->op_count == 0 || device->first_op + (size_t)device->op_count <= run->ops.count);
        owned += device->op_count;
    }
    FUZZ_CHECK(owned == run->ops.count);
}

static void check_spans(const struct run *run)
{
    for (size_t i = 0; i < run->spans.count; i++) {
        FUZZ_CHECK(run->spans.start[i] <= run->spans.end[i]);
        FUZZ_CHECK(run->spans.thread[i] < run->threads.count);
        FUZZ_CHECK(run->spans.name[i] < run->strings.count && run->spans.detail[i] < run->strings.count);
        uint32_t parent = run->spans.parent[i];
        FUZZ_CHECK(parent == NONE || (parent < i && run->spans.thread[parent] == run->spans.thread[i]));
    }
    vec_each (&run->threads, thread)
        FUZZ_CHECK(thread->process < run->processes.count);
}

static void check_profiles(const struct run *run)
{
    vec_each (&run->profiles, profile) {
        FUZZ_CHECK(profile->name < run->strings.count && profile->range < run->strings.count);
        FUZZ_CHECK(profile->device == NONE || profile->device < run->devices.count);
        FUZZ_CHECK(profile->process == NONE || profile->process < run->processes.count);
        FUZZ_CHECK(profile->shape == NONE || profile->shape < run->shapes.count);
        FUZZ_CHECK(profile->image == NONE || profile->image < run->images.count);
        FUZZ_CHECK(profile->launches >= 1);
    }
    for (size_t i = 0; i < run->counters.count; i++) {
        FUZZ_CHECK(run->counters.profile[i] < run->profiles.count);
        FUZZ_CHECK(run->counters.state[i] != COUNTER_VALUE || isfinite(run->counters.value[i]));
    }
    for (size_t i = 0; i < run->places.count; i++)
        FUZZ_CHECK(run->places.function[i] < run->strings.count);
    for (size_t i = 0; i < run->place_counters.count; i++) {
        FUZZ_CHECK(run->place_counters.place[i] < run->places.count);
        FUZZ_CHECK(run->place_counters.profile[i] < run->profiles.count);
    }
    vec_each (&run->advices, advice)
        FUZZ_CHECK(advice->profile < run->profiles.count && advice->text < run->strings.count);
}

static void check_rest(const struct run *run)
{
    for (size_t i = 0; i < run->samples.count; i++)
        FUZZ_CHECK(run->samples.series[i] < run->series.count);
    vec_each (&run->marks, mark) {
        FUZZ_CHECK(mark->thread == NONE || mark->thread < run->threads.count);
        FUZZ_CHECK(mark->device == NONE || mark->device < run->devices.count);
    }
    vec_each (&run->sources, source) {
        vec_each (&source->repairs, repair)
            FUZZ_CHECK(repair->count > 0 && repair->text < run->strings.count);
    }
    FUZZ_CHECK(run->losses.dropped >= 0 && run->losses.untimed >= 0 && run->losses.malformed >= 0);
    FUZZ_CHECK(run->losses.unlinked >= 0 && run->losses.truncated_bytes >= 0);
}

void fuzz_import(const char *name, const uint8_t *data, size_t size)
{
    struct run run;
    run_init(&run);
    struct err err = {0};
    int code = import_memory(&run, "fuzz", data, size, name, NULL, &err);
    if (code == 0) {
        run_seal(&run);
        check_ops(&run);
        check_spans(&run);
        check_rest(&run);
        check_profiles(&run);
    } else {
        FUZZ_CHECK((int)err.code == code && err.what[0] != '\0' && err.where[0] != '\0');
        FUZZ_CHECK(code == ERR_INPUT || code == ERR_ENV);
    }
    run_release(&run);
}

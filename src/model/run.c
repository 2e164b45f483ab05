#include "model/run.h"

#include <stdlib.h>
#include <string.h>

TABLE_DEFINE(op_table, RUN_OPS)
TABLE_DEFINE(span_table, RUN_SPANS)
TABLE_DEFINE(sample_table, RUN_SAMPLES)
TABLE_DEFINE(counter_table, RUN_COUNTERS)
TABLE_DEFINE(place_table, RUN_PLACES)
TABLE_DEFINE(place_counter_table, RUN_PLACE_COUNTERS)

void run_init(struct run *run)
{
    *run = (struct run){0};
    intern_init(&run->strings);
}

void run_release(struct run *run)
{
    vec_each (&run->sources, source)
        vec_release(&source->repairs);
    intern_release(&run->strings);
    vec_release(&run->sources);
    vec_release(&run->devices);
    vec_release(&run->processes);
    vec_release(&run->threads);
    vec_release(&run->streams);
    vec_release(&run->shapes);
    vec_release(&run->comms);
    vec_release(&run->series);
    vec_release(&run->marks);
    vec_release(&run->waits);
    vec_release(&run->facts);
    op_table_release(&run->ops);
    span_table_release(&run->spans);
    sample_table_release(&run->samples);
    vec_release(&run->profiles);
    vec_release(&run->codes);
    vec_release(&run->advices);
    vec_release(&run->images);
    vec_release(&run->source_files);
    counter_table_release(&run->counters);
    place_table_release(&run->places);
    place_counter_table_release(&run->place_counters);
    map_release(&run->by_device);
    map_release(&run->by_process);
    map_release(&run->by_thread);
    map_release(&run->by_stream);
    map_release(&run->by_shape);
    *run = (struct run){0};
}

uint32_t run_add_source(struct run *run, const char *path, const char *format)
{
    struct source *source = vec_new(&run->sources);
    source->path = intern_puts(&run->strings, path);
    source->format = intern_puts(&run->strings, format);
    source->bytes = UNKNOWN;
    source->rank = -1;
    return (uint32_t)(run->sources.count - 1);
}

void run_repair(struct run *run, uint32_t source, const char *text, int64_t count, int64_t offset)
{
    struct source *s = &run->sources.at[source];
    uint32_t id = intern_puts(&run->strings, text);
    vec_each (&s->repairs, repair) {
        if (repair->text == id) {
            repair->count += count;
            return;
        }
    }
    vec_push(&s->repairs, ((struct repair){.text = id, .count = count, .first_offset = offset}));
}

void run_fact(struct run *run, uint32_t source, const char *key, const char *value, size_t value_length)
{
    struct fact *fact = vec_new(&run->facts);
    fact->source = source;
    fact->key = intern_puts(&run->strings, key);
    fact->value = intern_add(&run->strings, value, value_length);
}

/* Walks the chain of probe keys that start at hash until same() accepts a row or the chain ends. The maps
 * hold row numbers under hashed keys, so every hit is compared with the row itself. */
#define FIND_ROW(map, hash, vec, row, same, found)                                                           \
    for (uint64_t key_ = (hash);; key_++) {                                                                  \
        uint32_t hit_ = map_get(map, key_);                                                                  \
        if (hit_ == MAP_ABSENT) {                                                                            \
            (found) = (uint32_t)(vec)->count;                                                                \
            map_set(map, key_, (found));                                                                     \
            (void)vec_new(vec);                                                                              \
            break;                                                                                           \
        }                                                                                                    \
        __typeof__(*(vec)->at) *row = &(vec)->at[hit_];                                                      \
        if (same) {                                                                                          \
            return hit_;                                                                                     \
        }                                                                                                    \
    }

uint32_t run_device(struct run *run, uint32_t source, int64_t id)
{
    uint32_t at;
    FIND_ROW(&run->by_device, hash_pair(source, (uint64_t)id), &run->devices, row,
             row->source == source && row->id == id, at);
    run->devices.at[at].source = source;
    run->devices.at[at].id = id;
    return at;
}

uint32_t run_process(struct run *run, uint32_t source, int64_t pid)
{
    uint32_t at;
    FIND_ROW(&run->by_process, hash_pair(source, (uint64_t)pid), &run->processes, row,
             row->source == source && row->pid == pid, at);
    run->processes.at[at] = (struct process){.source = source, .pid = pid, .rank = -1};
    return at;
}

uint32_t run_thread(struct run *run, uint32_t process, int64_t tid)
{
    uint32_t at;
    FIND_ROW(&run->by_thread, hash_pair(process, (uint64_t)tid), &run->threads, row,
             row->process == process && row->tid == tid, at);
    run->threads.at[at].process = process;
    run->threads.at[at].tid = tid;
    return at;
}

uint32_t run_stream(struct run *run, uint32_t process, uint32_t device, int64_t context, int64_t id)
{
    uint32_t at;
    uint64_t hash = hash_pair(hash_pair(process, device), hash_pair((uint64_t)context, (uint64_t)id));
    FIND_ROW(&run->by_stream, hash, &run->streams, row,
             row->process == process && row->device == device && row->context == context && row->id == id,
             at);
    run->streams.at[at] = (struct stream){.process = process, .device = device, .context = context, .id = id};
    return at;
}

uint32_t run_shape(struct run *run, const struct shape *shape)
{
    uint32_t at;
    FIND_ROW(&run->by_shape, hash_bytes(shape, sizeof *shape), &run->shapes, row,
             memcmp(row, shape, sizeof *shape) == 0, at);
    run->shapes.at[at] = *shape;
    return at;
}

struct kernel_code *run_add_code(struct run *run, uint32_t source, uint32_t name)
{
    struct kernel_code *code = vec_new(&run->codes);
    *code = (struct kernel_code){
        .source = source,
        .name = name,
        .demangled = name,
        .registers_per_thread = UNKNOWN,
        .static_shared_bytes = UNKNOWN,
        .dynamic_shared_bytes = UNKNOWN,
        .reserved_shared_bytes = UNKNOWN,
        .barriers = UNKNOWN,
        .stack_bytes = UNKNOWN,
        .parameter_bytes = UNKNOWN,
        .max_threads_per_block = UNKNOWN,
        .min_blocks_per_sm = UNKNOWN,
        .required_block = {UNKNOWN, UNKNOWN, UNKNOWN},
        .cluster = {UNKNOWN, UNKNOWN, UNKNOWN},
        .spill_store_bytes = UNKNOWN,
        .spill_load_bytes = UNKNOWN,
        .local_store_bytes = UNKNOWN,
        .local_load_bytes = UNKNOWN,
        .code_bytes = UNKNOWN,
    };
    return code;
}

uint32_t run_series(struct run *run, const char *name, uint32_t device, uint32_t process,
                    enum counter_unit unit)
{
    uint32_t id = intern_puts(&run->strings, name);
    vec_each (&run->series, series) {
        if (series->name == id && series->device == device && series->process == process)
            return (uint32_t)(series - run->series.at);
    }
    vec_push(&run->series,
             ((struct counter_series){.name = id, .device = device, .process = process, .unit = unit}));
    return (uint32_t)(run->series.count - 1);
}

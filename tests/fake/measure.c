/* measure [-d] [-s] [-n LAUNCHES] [-m METRICS] PROGRAM [ARGUMENT…]: what `warplight kernels -- PROGRAM`
 * measures, as one JSON object a launch, and last one that says how it ended. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "source/measure.h"

static void print_launch(FILE *out, const struct run *run, uint32_t number)
{
    const struct kernel_profile *profile = &run->profiles.at[number];
    static const struct shape none;
    const struct shape *shape = profile->shape == NONE ? &none : &run->shapes.at[profile->shape];
    fprintf(
        out,
        "{\"launch\": %lld, \"launches\": %lld, \"name\": \"%s\", \"device\": %u, \"grid\": [%u, %u, %u], ",
        (long long)profile->launch, (long long)profile->launches, run_text(run, profile->name),
        profile->device, shape->grid[0], shape->grid[1], shape->grid[2]);
    fprintf(out, "\"kernels\": %u, ", profile->graph_kernels);
    fprintf(out, "\"block\": [%u, %u, %u], \"registers\": %u, \"shared\": %u, \"metrics\": {",
            shape->block[0], shape->block[1], shape->block[2], shape->regs_per_thread,
            shape->shared_static_bytes);
    const char *comma = "";
    for (size_t row = 0; row < run->counters.count; row++) {
        if (run->counters.profile[row] != number)
            continue;
        fprintf(out, "%s\"%s\": ", comma, run_text(run, run->counters.name[row]));
        if (run->counters.state[row] == COUNTER_VALUE)
            fprintf(out, "%.17g", run->counters.value[row]);
        else
            fprintf(out, "null");
        comma = ", ";
    }
    fprintf(out, "}}\n");
}

static void print_samples(FILE *out, const struct run *run)
{
    for (size_t row = 0; row < run->place_counters.count; row++) {
        uint32_t place = run->place_counters.place[row];
        fprintf(
            out,
            "{\"function\": \"%s\", \"pc\": %llu, \"reason\": \"%s\", \"samples\": %.0f, \"profile\": %d}\n",
            run_text(run, run->places.function[place]), (unsigned long long)run->places.pc[place],
            run_text(run, run->place_counters.name[row]), run->place_counters.value[row],
            (int)run->place_counters.profile[row]);
    }
}

/* What was mended or left out, and how often. */
static void print_notes(FILE *out, const struct run *run)
{
    const char *comma = "";
    vec_each (&run->sources, source)
        vec_each (&source->repairs, repair) {
            fprintf(out, "%s\"%s\": %lld", comma, run_text(run, repair->text), (long long)repair->count);
            comma = ", ";
        }
}

int main(int argc, char **argv)
{
    struct measure_options options = {.launches = 8};
    struct measure measure;
    struct run run;
    struct err err = {0};
    for (int option; (option = getopt(argc, argv, "+dsn:m:")) != -1;) {
        if (option == 's')
            options.stalls = true;
        else if (option == 'n')
            options.launches = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'd')
            options.deep = true;
        else if (option == 'm')
            options.metrics = optarg;
        else
            return 2;
    }
    run_init(&run);
    const char *path = getenv("MEASURE_OUTPUT");
    int rc = measure_run(&measure, &run, &options, argv + optind, &err);
    FILE *out = path ? fopen(path, "we") : stdout;
    if (rc == 0 && out) {
        for (uint32_t i = 0; i < run.profiles.count; i++)
            print_launch(out, &run, i);
        print_samples(out, &run);
        const char *failure = collect_failure(&measure.collect);
        fprintf(out,
                "{\"exit\": %d, \"processes\": %zu, \"dropped\": %lld, \"malformed\": %lld, \"failure\": "
                "\"%s\", \"notes\": {",
                target_exit_code(&measure.target), collect_process_count(&measure.collect),
                (long long)run.losses.dropped, (long long)run.losses.malformed, failure ? failure : "");
        print_notes(out, &run);
        fprintf(out, "}}\n");
        rc = target_exit_code(&measure.target);
    } else {
        fprintf(stderr, "%s: %s\n", err.where, err.what);
        rc = 4;
    }
    if (path && out)
        fclose(out);
    measure_release(&measure);
    run_release(&run);
    return rc;
}

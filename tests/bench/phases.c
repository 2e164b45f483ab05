/* CPU time of each phase of a report, in seconds: read, seal, analyse. Prints one JSON object.
 *
 *   phases FILE… */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "analyze/report.h"
#include "import/import.h"

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    struct run run;
    struct report report;
    struct err err = {0};
    run_init(&run);
    double begin = cpu_s();
    for (int i = 1; i < argc; i++) {
        if (import_file(&run, argv[i], NULL, &(struct import_options){0}, &err) != 0) {
            fprintf(stderr, "%s: %s\n", argv[i], err.what);
            return 1;
        }
    }
    double read = cpu_s();
    run_seal(&run);
    double sealed = cpu_s();
    report_build(&report, &run, NULL);
    double analysed = cpu_s();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"rows\": %zu, \"read_s\": %.6f, \"seal_s\": %.6f, \"analyse_s\": %.6f, \"peak_bytes\": %ld}\n",
           run.ops.count + run.spans.count + run.samples.count, read - begin, sealed - read,
           analysed - sealed, usage.ru_maxrss * 1024);
    report_release(&report);
    run_release(&run);
    return 0;
}

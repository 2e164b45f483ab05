/* How much faster the run could get at all, after Amdahl: what a faster or a second GPU cannot shorten stays.
 */
#include <math.h>

#include "analyze/analyze.h"

static double speedup(int64_t wall_ns, double left_ns)
{
    return wall_ns <= 0 ? NAN : left_ns > 0 ? (double)wall_ns / left_ns : INFINITY;
}

void amdahl_build(struct report *report)
{
    vec_each (&report->devices, device) {
        const int64_t *ledger = device->ledger_ns;
        struct amdahl_report *row = vec_new(&report->amdahl);
        row->device = device->device;
        row->wall_ns = device->wall_ns;
        row->gpu_ns = ledger[ACCOUNT_COMPUTE] + ledger[ACCOUNT_COMPUTE_COPY] + ledger[ACCOUNT_COMPUTE_COMM];
        row->comm_ns = ledger[ACCOUNT_COMM];
        row->host_only_ns = row->wall_ns - row->gpu_ns - row->comm_ns;
        double fixed = (double)(row->host_only_ns + row->comm_ns), gpu = (double)row->gpu_ns;
        row->speedup_gpu_twice = speedup(row->wall_ns, fixed + gpu / 2);
        row->speedup_gpu_infinite = speedup(row->wall_ns, fixed);
        row->speedup_second_gpu = speedup(row->wall_ns, fixed + gpu / 2);
    }
}

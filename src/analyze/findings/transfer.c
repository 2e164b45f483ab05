/* Findings about copies: only time in which nothing else ran, plus the staging that kept the GPU idle, is
 * lost. */
#include <math.h>

#include "base/i18n.h"

#include "analyze/findings/findings.h"

/* What pinned memory reaches on a PCIe 4.0 ×16 link (about 80 % of 31.5 GB/s): the assumption for the low end
 * of a saving when the run has no pinned copy to compare with. */
static const double assumed_pinned_rate = 25e9;
enum { MANY_COPIES = 200, SMALL_BYTES = 64 << 10, LEAST_PINNED_BYTES = 1 << 20 };

struct transfer { /* copies of one direction, summed over memory kinds */
    int64_t count, bytes, total_ns, exposed_ns, small_count;
    int64_t pageable_count, pageable_bytes, pageable_ns, pageable_exposed_ns;
    double pinned_rate; /* bytes/s, NAN when the run has none */
};

static int64_t exposed(const struct copy_row *row)
{
    return isnan(row->overlapped_ratio) ? row->total_ns
                                        : (int64_t)((double)row->total_ns * (1.0 - row->overlapped_ratio));
}

static struct transfer add_up(const struct finder *f, enum copy_dir dir)
{
    struct transfer t = {.pinned_rate = NAN};
    vec_each (&f->report->copies, row) {
        if (row->dir != dir || row->is_memset)
            continue;
        t.count += row->count;
        t.small_count += row->small_count;
        t.total_ns += row->total_ns;
        t.exposed_ns += exposed(row);
        t.bytes += row->bytes == UNKNOWN ? 0 : row->bytes;
        if (row->src == MEM_PAGEABLE || row->dst == MEM_PAGEABLE) {
            t.pageable_count += row->count;
            t.pageable_bytes += row->bytes == UNKNOWN ? 0 : row->bytes;
            t.pageable_ns += row->total_ns;
            t.pageable_exposed_ns += exposed(row);
        } else if (row->bytes != UNKNOWN && row->bytes >= LEAST_PINNED_BYTES) {
            t.pinned_rate = fmax(isnan(t.pinned_rate) ? 0 : t.pinned_rate, row->rate_bytes_per_s);
        }
    }
    return t;
}

/* Idle time that copies are to blame for, by account. */
struct copy_wait {
    int64_t staging_ns[2];           /* the host staged pageable memory: to the device, back */
    int64_t small_ns[ACCOUNT_COUNT]; /* copies of less than 64 KiB were being issued */
    int64_t small_total_ns;
};

static struct copy_wait add_up_waiting(const struct finder *f)
{
    const struct op_table *ops = &f->run->ops;
    struct copy_wait wait = {0};
    vec_each (&f->report->gaps, piece) {
        uint32_t op = piece->next_op;
        if (op == NONE || ops->kind[op] != OP_COPY)
            continue;
        int64_t length = piece->end - piece->start;
        bool staged = ops->src[op] == MEM_PAGEABLE || ops->dst[op] == MEM_PAGEABLE;
        bool small = ops->bytes[op] != UNKNOWN && ops->bytes[op] < SMALL_BYTES;
        if (staged && piece->cause == IDLE_HOST_SYNC && piece->call != NONE && piece->call == ops->call[op]) {
            wait.staging_ns[ops->dir[op] == COPY_D2H] += length;
        } else if (small && (piece->cause == IDLE_LAUNCH_BOUND || piece->cause == IDLE_LAUNCH_LATENCY)) {
            wait.small_ns[piece->cause] += length;
            wait.small_total_ns += length;
        }
    }
    return wait;
}

static void find_pageable(struct finder *f, const struct transfer *t, int64_t staging_ns)
{
    int64_t lost = t->pageable_exposed_ns + staging_ns;
    if (t->pageable_count == 0 || !matters(f, lost))
        return;
    double rate = t->pageable_ns > 0 ? (double)t->pageable_bytes * 1e9 / (double)t->pageable_ns : 0;
    double pinned = isnan(t->pinned_rate) ? assumed_pinned_rate : t->pinned_rate;
    double quicker = rate > 0 && rate < pinned ? 1.0 - rate / pinned : 0.1;
    f->explained_ns[IDLE_HOST_SYNC] += staging_ns;
    struct finding *finding = finding_add(f, "transfer-pageable", lost, quicker * 0.8, 0.95, 0.95);
    finding->title =
        msg_make(N_("copies from pageable host memory keep the GPU waiting {0} of the time ({1})"),
                 value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    finding_evidence(finding, msg_make_n(0,
                                         NP_("{0} copy, {1}, at {2} through the driver's staging buffer",
                                             "{0} copies, {1}, at {2} through the driver's staging buffer"),
                                         value_count(t->pageable_count), value_bytes(t->pageable_bytes),
                                         value_rate(rate)));
    if (staging_ns > 0)
        finding_evidence(finding, msg_make(N_("the host was staging for {0} more while the GPU was idle"),
                                           value_ns(staging_ns)));
    if (!isnan(t->pinned_rate))
        finding_evidence(finding,
                         msg_make(N_("pinned copies of this run reach {0}"), value_rate(t->pinned_rate)));
    finding->action =
        msg_make(N_("pin the host memory (DataLoader(pin_memory=True), tensor.pin_memory(), "
                    "cudaHostAlloc) and copy with non_blocking=True on a stream of its own, one batch "
                    "ahead"));
}

static void find_device_to_host(struct finder *f, const struct transfer *t, int64_t staging_ns)
{
    int64_t lost = t->exposed_ns + staging_ns;
    if (t->count == 0 || !matters(f, lost))
        return;
    f->explained_ns[IDLE_HOST_SYNC] += staging_ns;
    struct finding *finding = finding_add(f, "transfer-device-to-host", lost, 0.4, 0.95, 0.9);
    finding->title = msg_make(N_("copies back to the host take {0} of the time ({1})"),
                              value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    double rate = t->total_ns > 0 ? (double)t->bytes * 1e9 / (double)t->total_ns : 0;
    finding_evidence(finding,
                     msg_make_n(0,
                                NP_("{0} copy, {1}, at {2}, {3} of its time not hidden behind kernels",
                                    "{0} copies, {1}, at {2}, {3} of their time not hidden behind kernels"),
                                value_count(t->count), value_bytes(t->bytes), value_rate(rate),
                                value_ratio(ratio(t->exposed_ns, t->total_ns))));
    if (t->pageable_count)
        finding_evidence(finding,
                         msg_make(N_("{0} of them into pageable memory: staged by the driver, and the "
                                     "host is blocked meanwhile"),
                                  value_count(t->pageable_count)));
    finding->action =
        msg_make(N_("copy less (reduce on the GPU first, only every n steps), into pinned memory with "
                    "non_blocking=True, on a second stream while the next step computes"));
}

static void find_many_small(struct finder *f, const struct transfer *to, const struct transfer *back,
                            const struct copy_wait *wait)
{
    int64_t count = to->count + back->count, small = to->small_count + back->small_count;
    int64_t waiting = wait->small_total_ns;
    if (count < MANY_COPIES || small * 10 < count * 8 || !matters(f, waiting))
        return;
    for (int a = 0; a < ACCOUNT_COUNT; a++)
        f->explained_ns[a] += wait->small_ns[a];
    struct finding *finding = finding_add(f, "transfer-many-small", waiting, 0.4, 0.95, 0.8);
    finding->title = msg_make(N_("{0} copies of less than 64 KiB cost {1} of the time ({2}) to issue"),
                              value_count(small), value_ratio(ratio(waiting, f->wall_ns)), value_ns(waiting));
    finding_evidence(finding,
                     msg_make(N_("{0} to the device, {1} back, {2} on average"), value_count(to->count),
                              value_count(back->count), value_bytes((to->bytes + back->bytes) / count)));
    finding->action = msg_make(N_("gather them into one buffer and copy once, or build the data on the GPU"));
}

static void find_not_overlapped(struct finder *f, const struct transfer *t)
{
    int64_t lost = t->exposed_ns - t->pageable_exposed_ns;
    if (!matters(f, lost))
        return;
    struct finding *finding = finding_add(f, "transfer-not-overlapped", lost, 0.5, 0.95, 0.85);
    finding->title = msg_make(N_("copies from pinned memory are exposed {0} of the time ({1})"),
                              value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    finding_evidence(finding, msg_make_n(0,
                                         NP_("{0} copy, {1}; no kernel runs during {2} of its time",
                                             "{0} copies, {1}; no kernel runs during {2} of their time"),
                                         value_count(t->count - t->pageable_count),
                                         value_bytes(t->bytes - t->pageable_bytes),
                                         value_ratio(ratio(lost, t->total_ns - t->pageable_ns))));
    finding->action =
        msg_make(N_("issue them on a second stream, one batch ahead, so that the copy engine works while "
                    "the SMs compute (non_blocking=True, Stream.wait_stream)"));
}

static void find_managed(struct finder *f)
{
    int64_t total = 0, bytes = 0, count = 0;
    vec_each (&f->report->copies, row) {
        if (row->dir != COPY_MANAGED_H2D && row->dir != COPY_MANAGED_D2H && row->dir != COPY_MANAGED_D2D)
            continue;
        total += exposed(row);
        bytes += row->bytes == UNKNOWN ? 0 : row->bytes;
        count += row->count;
    }
    if (!matters(f, total))
        return;
    struct finding *finding = finding_add(f, "transfer-managed", total, 0.3, 0.95, 0.85);
    finding->title = msg_make(N_("managed memory migrates for {0} of the time ({1})"),
                              value_ratio(ratio(total, f->wall_ns)), value_ns(total));
    finding_evidence(finding, msg_make_n(0, NP_("{0} migration, {1}", "{0} migrations, {1}"),
                                         value_count(count), value_bytes(bytes)));
    finding->action =
        msg_make(N_("prefetch before use (cudaMemPrefetchAsync), advise where it lives (cudaMemAdvise), "
                    "or use plain device memory and explicit copies"));
}

void find_transfer(struct finder *f)
{
    struct transfer to = add_up(f, COPY_H2D), back = add_up(f, COPY_D2H);
    struct copy_wait wait = add_up_waiting(f);
    find_pageable(f, &to, wait.staging_ns[0]);
    find_device_to_host(f, &back, wait.staging_ns[1]);
    find_many_small(f, &to, &back, &wait);
    find_not_overlapped(f, &to);
    find_managed(f);
}

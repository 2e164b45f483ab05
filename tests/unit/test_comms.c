/* Collectives, ranks, and the rank that the others wait for. */
#include "cmocka_all.h"
#include "make_run.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/analyze.h"
#include "analyze/straggler.h"
#include "import/import.h"

#define ALLREDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

static void build(struct report *report, struct run *run)
{
    run_seal(run);
    *report = (struct report){.run = run};
    ledger_build(report, NULL);
    comms_build(report);
    int64_t exposed = 0, booked = 0;
    vec_each (&report->comms, row)
        exposed += row->exposed_ns;
    vec_each (&report->devices, device)
        booked += device->ledger_ns[ACCOUNT_COMM];
    assert_int_equal(exposed, booked);
}

static void release(struct report *report, struct run *run)
{
    report_release(report);
    run_release(run);
}

static uint32_t add_comm(struct run *run, const char *collective, const char *dtype, int64_t in, int64_t out,
                         int64_t group_size, int64_t seq)
{
    vec_push(&run->comms, ((struct comm){.collective = intern_puts(&run->strings, collective),
                                         .group = intern_puts(&run->strings, "default_pg"),
                                         .ranks = intern_puts(&run->strings, "[0, 1]"),
                                         .dtype = intern_puts(&run->strings, dtype),
                                         .in_elements = in,
                                         .out_elements = out,
                                         .group_size = group_size,
                                         .seq = seq}));
    return (uint32_t)(run->comms.count - 1);
}

/* ---- collectives --------------------------------------------------------------------------------------- */

static void exposed_is_communication_without_compute(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t side = run_stream(&m.run, m.process, m.device, 1, 8);
    uint32_t third = run_stream(&m.run, m.process, m.device, 1, 9);
    make_kernel(&m.run, m.stream, "gemm", 0, 100, 0);
    make_kernel(&m.run, side, ALLREDUCE, 50, 200, 0);
    make_kernel(&m.run, third, "ncclDevKernel_AllGather_RING_LL(x)", 150, 260, 0); /* two at once */
    make_kernel(&m.run, m.stream, "gemm", 180, 190, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 5, 195, 230, 0); /* a copy hides nothing */
    build(&report, &m.run);
    assert_int_equal(report.comms.count, 2);
    const struct comm_row *row = report.comms.at;
    assert_string_equal(run_text(&m.run, row[0].name), ALLREDUCE);
    assert_int_equal(row[0].count, 1);
    assert_int_equal(row[0].total_ns, 150);
    assert_int_equal(row[0].exposed_ns, 90);
    assert_int_equal(row[0].bytes, UNKNOWN);
    assert_int_equal(row[0].group_size, UNKNOWN);
    assert_int_equal(row[1].exposed_ns, 60);
    assert_int_equal(report.ranks.count, 0);
    release(&report, &m.run);
}

static void metadata_comes_before_names(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t op = make_kernel(&m.run, m.stream, "some_vendor_kernel", 0, 100, 0);
    m.run.ops.comm[op] = add_comm(&m.run, "allreduce", "BFloat16", 1000, 1000, 8, 1);
    op = make_kernel(&m.run, m.stream, ALLREDUCE, 100, 150, 0);
    m.run.ops.comm[op] = add_comm(&m.run, "allreduce", "Float", 10, 10, 8, 2);
    op = make_kernel(&m.run, m.stream, ALLREDUCE, 150, 160, 0);
    m.run.ops.comm[op] = add_comm(&m.run, "allreduce", "Float", 10, 10, 2, 3);
    op = make_kernel(&m.run, m.stream, "all_gather", 160, 165, 0);
    m.run.ops.comm[op] = add_comm(&m.run, "_allgather_base", "Long", 10, 80, 8, 4);
    op = make_kernel(&m.run, m.stream, "mystery", 165, 169, 0);
    m.run.ops.comm[op] = add_comm(&m.run, "mystery", "Strange", 10, 80, 8, 5);
    build(&report, &m.run);
    assert_int_equal(report.comms.count, 4);
    const struct comm_row *row = report.comms.at;
    assert_string_equal(run_text(&m.run, row[0].name), "allreduce");
    assert_int_equal(row[0].group_size, 8);
    assert_int_equal(row[0].count, 2);
    assert_int_equal(row[0].bytes, 2000 + 40);
    assert_int_equal(row[1].group_size, 2);
    assert_int_equal(row[2].bytes, 640); /* the larger side */
    assert_int_equal(row[3].bytes, UNKNOWN);
    release(&report, &m.run);
}

/* ---- ranks --------------------------------------------------------------------------------------------- */

enum { RANKS = 4, STEPS = 20, STEP_NS = 1000000 };

struct job {
    struct run run;
    uint32_t thread[RANKS], stream[RANKS];
    int64_t clock_ns[RANKS]; /* how far each rank's clock is ahead */
    uint64_t correlation;
};

static void job_init(struct job *job)
{
    *job = (struct job){.correlation = 1};
    run_init(&job->run);
    for (int32_t r = 0; r < RANKS; r++) {
        uint32_t source = run_add_source(&job->run, "rank", "made by hand");
        job->run.sources.at[source].rank = r;
        job->run.sources.at[source].world_size = RANKS;
        uint32_t process = run_process(&job->run, source, 100);
        job->thread[r] = run_thread(&job->run, process, 100);
        job->stream[r] = run_stream(&job->run, process, run_device(&job->run, source, 0), 1, 7);
    }
}

static void job_launch(struct job *job, int rank, const char *name, int64_t start, int64_t end, uint32_t comm)
{
    int64_t clock = job->clock_ns[rank];
    uint64_t correlation = job->correlation++;
    make_span(&job->run, job->thread[rank], SPAN_API, "cudaLaunchKernel", start + clock - 5000,
              start + clock - 4000, correlation);
    uint32_t op = make_kernel(&job->run, job->stream[rank], name, start + clock, end + clock, correlation);
    job->run.ops.comm[op] = comm;
}

/* Each step: two kernels, then an all-reduce that ends on all ranks when the last has come, plus a transfer.
 */
static void job_steps(struct job *job, int slow, int64_t slow_ns, bool every_step)
{
    for (int64_t step = 0; step < STEPS; step++) {
        int64_t begin = step * STEP_NS, last = 0, came[RANKS];
        for (int r = 0; r < RANKS; r++) {
            int64_t noise = (step * 7 + r * 3) % 11 * 100;
            came[r] = begin + 200000 + noise + (r == slow && (every_step || step == 3) ? slow_ns : 0);
            last = max_ns(last, came[r]);
        }
        for (int r = 0; r < RANKS; r++) {
            job_launch(job, r, "forward", begin + 10000, begin + 100000, NONE);
            job_launch(job, r, "backward", begin + 100000, came[r], NONE);
            job_launch(job, r, ALLREDUCE, came[r], last + 50000 + r * 200, NONE);
        }
    }
}

static int straggler_of(const struct report *report)
{
    int found = -1;
    vec_each (&report->ranks, row) {
        if (row->straggler) {
            assert_int_equal(found, -1);
            found = row->rank;
        }
    }
    return found;
}

static void each_rank_has_a_row_whose_parts_sum_to_its_wall_time(void **state)
{
    (void)state;
    struct job job;
    struct report report;
    job_init(&job);
    job_steps(&job, -1, 0, true);
    build(&report, &job.run);
    assert_int_equal(report.ranks.count, RANKS);
    for (int r = 0; r < RANKS; r++) {
        const struct rank_row *row = &report.ranks.at[r];
        assert_int_equal(row->rank, r);
        assert_int_equal(row->source, r);
        assert_int_equal(row->busy_ns + row->idle_ns, row->wall_ns);
        assert_int_equal(row->compute_ns + row->comm_exposed_ns, row->busy_ns);
        assert_in_range(row->step_median_ns, STEP_NS - 2000, STEP_NS + 2000);
        assert_true(fabs(row->excess_ratio) < 0.05);
    }
    assert_int_equal(straggler_of(&report), -1);
    release(&report, &job.run);
}

static void the_rank_that_comes_last_again_and_again_is_the_straggler(void **state)
{
    (void)state;
    struct job job;
    struct report report;
    job_init(&job);
    job_steps(&job, 2, 150000, true);
    build(&report, &job.run);
    assert_int_equal(straggler_of(&report), 2);
    const struct rank_row *rows = report.ranks.at;
    assert_true(rows[2].excess_ratio > 0.1);
    /* What it makes the others wait is what they waited, and no more than they had exposed. */
    int64_t waited = 0, exposed = 0;
    for (int r = 0; r < RANKS; r++) {
        waited += rows[r].waited_ns;
        exposed += rows[r].comm_exposed_ns;
        assert_true(r == 2 || rows[r].caused_ns < rows[2].caused_ns / 10);
    }
    assert_true(rows[2].caused_ns > 0);
    assert_true(rows[2].caused_ns <= waited);
    assert_true(rows[2].caused_ns <= exposed);
    assert_true(rows[2].comm_exposed_ns < rows[0].comm_exposed_ns / 2);
    release(&report, &job.run);
}

static void one_late_arrival_is_no_straggler(void **state)
{
    (void)state;
    struct job job;
    struct report report;
    job_init(&job);
    job_steps(&job, 2, 700000, false);
    build(&report, &job.run);
    assert_int_equal(straggler_of(&report), -1);
    release(&report, &job.run);
}

static void clocks_that_disagree_hide_no_straggler_and_make_none(void **state)
{
    (void)state;
    for (int planted = -1; planted < RANKS; planted++) {
        struct job job;
        struct report report;
        job_init(&job);
        job.clock_ns[0] = 300000;           /* as much as a straggler's delay */
        job.clock_ns[1] = -5000000000;      /* seconds */
        job.clock_ns[3] = INT64_C(1) << 50; /* another epoch */
        job_steps(&job, planted, 150000, true);
        build(&report, &job.run);
        assert_int_equal(straggler_of(&report), planted);
        release(&report, &job.run);
    }
}

static void sequence_numbers_match_collectives_when_a_recording_began_late(void **state)
{
    (void)state;
    struct job job;
    struct report report;
    job_init(&job);
    for (int64_t step = 0; step < STEPS; step++) {
        for (int r = 0; r < 2; r++) {
            if (r == 1 && step < 3)
                continue;
            uint32_t comm = add_comm(&job.run, "allreduce", "Float", 100, 100, 2, 1000 + step);
            int64_t begin = step * STEP_NS, came = begin + 200000 + (r == 1 ? 150000 : 0);
            job_launch(&job, r, "work", begin + 10000, came, NONE);
            job_launch(&job, r, "any name", came, begin + 400000, comm);
        }
    }
    build(&report, &job.run);
    assert_int_equal(straggler_of(&report), 1);
    release(&report, &job.run);
}

static void without_sequence_numbers_unequal_counts_are_not_matched(void **state)
{
    (void)state;
    struct job job;
    struct report report;
    job_init(&job);
    for (int64_t step = 0; step < STEPS; step++) {
        for (int r = 0; r < 2; r++) {
            if (r == 1 && step < 3)
                continue;
            int64_t begin = step * STEP_NS, came = begin + 200000 + (r == 1 ? 150000 : 0);
            job_launch(&job, r, ALLREDUCE, came, begin + 400000, NONE);
        }
    }
    build(&report, &job.run);
    assert_int_equal(straggler_of(&report), -1);
    release(&report, &job.run);
}

/* ---- the straggler by itself --------------------------------------------------------------------------- */

static void offsets_are_found_through_ranks_that_meet_both(void **state)
{
    (void)state;
    enum { MEETINGS = 50 };
    struct arrival arrivals[MEETINGS * 2];
    for (uint32_t i = 0; i < MEETINGS; i++) { /* 0 meets 1, 1 meets 2, 2 meets 3 */
        uint32_t left = i % 3, right = left + 1;
        int64_t at = i * 1000000;
        arrivals[2 * i] = (struct arrival){i, left, at + left * 40000000, at + 1000 + left * 40000000};
        arrivals[2 * i + 1] = (struct arrival){i, right, at + right * 40000000, at + 1000 + right * 40000000};
    }
    struct straggler found;
    straggler_find(arrivals, MEETINGS * 2, 4, 50000000, &found);
    assert_int_equal(found.matched, MEETINGS);
    assert_int_equal(found.rank, NONE);
    for (uint32_t r = 1; r < 4; r++) {
        int64_t apart = found.offset_ns[r] - found.offset_ns[r - 1] - 40000000;
        assert_true(llabs(apart) < 50000);
    }
    straggler_release(&found);
}

static void one_rank_or_none_has_no_straggler(void **state)
{
    (void)state;
    struct straggler found;
    straggler_find(NULL, 0, 0, 0, &found);
    assert_int_equal(found.rank, NONE);
    straggler_release(&found);
    struct arrival alone[] = {{1, 0, 0, 10}, {2, 0, 20, 30}, {2, 0, 40, 50}};
    straggler_find(alone, 3, 1, 100, &found);
    assert_int_equal(found.rank, NONE);
    assert_int_equal(found.matched, 0);
    straggler_release(&found);
}

/* ---- eight real ranks ---------------------------------------------------------------------------------- */

/* One training step of a recommender on eight V100s, recorded by others. Rank 7 computes least of its time in
 * collectives: it comes last to the first five of eight, and the others wait 35 of 46 ms for it. */
static void the_late_rank_of_a_real_job_is_named(void **state)
{
    (void)state;
    glob_t files;
    if (glob(SAMPLES "/../../../shared/data/foreign/torch/dlrm-8rank/*.gz", 0, NULL, &files) != 0) {
        globfree(&files);
        skip();
    }
    struct run run;
    struct report report;
    run_init(&run);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct err err = {0};
        if (import_file(&run, files.gl_pathv[i], NULL, &(struct import_options){0}, &err) != 0)
            fail_msg("%s: %s", files.gl_pathv[i], err.what);
    }
    assert_int_equal(files.gl_pathc, 8);
    globfree(&files);
    build(&report, &run);
    assert_int_equal(report.ranks.count, 8);
    assert_int_equal(straggler_of(&report), 7);
    int64_t kernels = 0;
    vec_each (&report.comms, row)
        kernels += row->count;
    assert_int_equal(kernels, 8 * 8);
    release(&report, &run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exposed_is_communication_without_compute),
        cmocka_unit_test(metadata_comes_before_names),
        cmocka_unit_test(each_rank_has_a_row_whose_parts_sum_to_its_wall_time),
        cmocka_unit_test(the_rank_that_comes_last_again_and_again_is_the_straggler),
        cmocka_unit_test(one_late_arrival_is_no_straggler),
        cmocka_unit_test(clocks_that_disagree_hide_no_straggler_and_make_none),
        cmocka_unit_test(sequence_numbers_match_collectives_when_a_recording_began_late),
        cmocka_unit_test(without_sequence_numbers_unequal_counts_are_not_matched),
        cmocka_unit_test(offsets_are_found_through_ranks_that_meet_both),
        cmocka_unit_test(one_rank_or_none_has_no_straggler),
        cmocka_unit_test(the_late_rank_of_a_real_job_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

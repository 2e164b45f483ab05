#include "source/counter_sets.h"

#define ELAPSED  ".avg.pct_of_peak_sustained_elapsed"
#define ACTIVE   ".avg.pct_of_peak_sustained_active"
#define REQUESTS "l1tex__t_requests_pipe_lsu_mem_"
#define SECTORS  "l1tex__t_sectors_pipe_lsu_mem_"

const char *const counters_quick[] = {
    "gpu__time_duration.sum",
    "gpc__cycles_elapsed.max",
    "gpc__cycles_elapsed.avg.per_second",
    "sm__cycles_active.avg",
    "sm__cycles_active.max",
    "sm__cycles_active.min",
    "sm__cycles_elapsed.avg",
    "sm__warps_active" ACTIVE,
    "dram__throughput" ELAPSED,
    "dram__bytes.sum.per_second",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__bytes_op_read.sum",
    "dram__bytes_op_write.sum",
    "dram__cycles_elapsed.avg.per_second",
    "l1tex__t_sector_hit_rate.pct",
    SECTORS "global_op_ld.sum",
    SECTORS "global_op_st.sum",
    "lts__t_sectors.sum",
    "smsp__inst_executed.sum",
    "sm__inst_executed.avg.per_cycle_active",
    "smsp__inst_executed.avg.per_cycle_active", /* in place of what was issued, which leaves room for: */
    "sm__pipe_tensor_cycles_active" ACTIVE,
    "sm__pipe_fp64_cycles_active" ACTIVE,
    "sm__inst_executed_pipe_fp64" ACTIVE, /* where the one before does not fit */
    /* How busy L2 is. Its own throughput needs four passes and more; it is the largest of these parts, of
     * which most fit: those first that are the largest most often. The fabric joins the two halves of L2, and
     * of its two ends chips count one or the other. */
    "lts__t_sectors" ELAPSED,
    "lts__xbar2lts_cycles_active" ELAPSED,
    "lts__d_sectors" ELAPSED,
    "lts__ltcfabric2ltc_cycles_active" ELAPSED,
    "lts__ltcfabric2lts_cycles_active" ELAPSED,
    "lts__d_sectors_fill_device" ELAPSED,
    "lts__t_tag_requests" ELAPSED,
    "lts__d_atomic_input_cycles_active" ELAPSED,
    "lts__d_atomic_input_cycles_active.sum",
};
const size_t counters_quick_count = sizeof counters_quick / sizeof *counters_quick;

#define SHARED   "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
#define CONFLICT "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"
#define THREADS  "smsp__sass_thread_inst_executed_op_"

/* Not the throughputs of whole units (sm__throughput, gpu__compute_memory_throughput): they alone double the
 * passes. */
const char *const counters_deep[] = {
    /* memory; the first two in place of L1's throughput */
    "l1tex__data_pipe_lsu_wavefronts" ELAPSED,
    "l1tex__m_l1tex2xbar_req_cycles_active" ELAPSED,
    REQUESTS "global_op_ld.sum",
    REQUESTS "global_op_st.sum",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
    "lts__t_sector_hit_rate.pct",
    "lts__t_sectors_srcunit_tex.sum",
    "lts__cycles_active.avg",
    "lts__cycles_active.max",
    "dram__bytes.sum.peak_sustained",
    REQUESTS "local_op_ld.sum",
    REQUESTS "local_op_st.sum",
    SECTORS "local_op_ld.sum",
    SECTORS "local_op_st.sum",
    SHARED "ld.sum",
    SHARED "st.sum",
    CONFLICT "ld.sum",
    CONFLICT "st.sum",
    "smsp__sass_inst_executed_op_shared_ld.sum",
    "smsp__sass_inst_executed_op_shared_st.sum",
    "smsp__sass_inst_executed_op_shared_atom.sum",
    REQUESTS "global_op_atom.sum",
    REQUESTS "global_op_red.sum",
    "lts__t_sectors_srcunit_tex_op_atom.sum",
    "lts__t_sectors_srcunit_tex_op_red.sum",
    /* warps */
    "smsp__issue_active" ACTIVE,
    "smsp__warps_active.avg.per_cycle_active",
    "smsp__warps_eligible.avg.per_cycle_active",
    "smsp__average_warp_latency_per_inst_issued.ratio",
    "smsp__average_thread_inst_executed_per_inst_executed.ratio",
    "smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio",
    "smsp__sass_average_branch_targets_threads_uniform.pct",
    "smsp__sass_branch_targets_threads_divergent.sum",
    /* pipes and arithmetic */
    "sm__pipe_fma_cycles_active" ACTIVE,
    "sm__pipe_alu_cycles_active" ACTIVE,
    "sm__inst_executed_pipe_lsu" ACTIVE,
    "sm__inst_executed_pipe_xu" ACTIVE,
    THREADS "fadd_pred_on.sum",
    THREADS "fmul_pred_on.sum",
    THREADS "ffma_pred_on.sum",
    THREADS "dadd_pred_on.sum",
    THREADS "dmul_pred_on.sum",
    THREADS "dfma_pred_on.sum",
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained",
    "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained",
};
const size_t counters_deep_count = sizeof counters_deep / sizeof *counters_deep;

/* Canonical metrics in terms of what sources call their counters: PerfWorks names of all chips from compute
 * capability 7.0 on, labels of ncu's details page ('section/label'; both titles of a section that was
 * renamed), and nvprof's names.
 *
 * The formula that is exact, or that most sources can give, comes first. + - * / and parentheses as usual; |
 * is the larger one, and binds least; a counter in percent counts as a ratio; "name?" is 0 where it was not
 * measured: for what only some chips have and is part of a sum. */
#include "analyze/metrics.h"

#include <stddef.h>

#define FORMULAS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

#define SOL    "'GPU Speed Of Light Throughput/"
#define OLDSOL "'GPU Speed Of Light/"
#define MEMORY "'Memory Workload Analysis/"
#define WORK   "'Compute Workload Analysis/"
#define LAUNCH "'Launch Statistics/"
#define OCC    "'Occupancy/"
#define SCHED  "'Scheduler Statistics/"
#define WARPS  "'Warp State Statistics/"
#define INST   "'Instruction Statistics/"
#define DIST   "'GPU and Memory Workload Distribution/"
#define SOURCE "'Source Counters/"

#define L1_LSU            "l1tex__t_requests_pipe_lsu_mem_"
#define L1_SECTORS        "l1tex__t_sectors_pipe_lsu_mem_"
#define L1_WAVES          "l1tex__data_pipe_lsu_wavefronts_mem_shared"
#define L1_BANKS          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
#define PER_REQUEST       "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_"
#define PER_SECTOR        "smsp__sass_average_data_bytes_per_sector_mem_global_op_"
#define PCT_ELAPSED       ".avg.pct_of_peak_sustained_elapsed"
#define PCT_ACTIVE        ".avg.pct_of_peak_sustained_active"
#define THREAD_OP         "sass_thread_inst_executed_op_"
#define PIPE_CYCLES(pipe) "sm__pipe_" pipe "_cycles_active" PCT_ACTIVE
#define PIPE_INST(pipe)   "sm__inst_executed_pipe_" pipe PCT_ACTIVE
/* without the fabric */
#define L2_PARTS                                                                                             \
    "lts__xbar2lts_cycles_active" PCT_ELAPSED " | lts__t_sectors" PCT_ELAPSED                                \
    "? | lts__d_sectors" PCT_ELAPSED "? | lts__d_sectors_fill_device" PCT_ELAPSED                            \
    "? | lts__t_tag_requests" PCT_ELAPSED "? | lts__d_atomic_input_cycles_active" PCT_ELAPSED "?"
/* add, multiply and fused instructions of a type, as sums or as rates */
#define FLOP_SUM(unit, add, mul, fma)                                                                        \
    unit THREAD_OP add "_pred_on.sum + " unit THREAD_OP mul "_pred_on.sum + 2 * " unit THREAD_OP fma         \
                       "_pred_on.sum"
#define FLOP_RATE(add, mul, fma)                                                                             \
    "(smsp__" THREAD_OP add "_pred_on.sum.per_cycle_elapsed + smsp__" THREAD_OP mul                          \
    "_pred_on.sum.per_cycle_elapsed + 2 * smsp__" THREAD_OP fma                                              \
    "_pred_on.sum.per_cycle_elapsed) * smsp__cycles_elapsed.max"

const char *const *const metric_formulas[METRIC_COUNT] = {
    [METRIC_DURATION] =
        FORMULAS("gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration_measured_wallclock",
                 "gpu__time_duration.max", SOL "Duration'", OLDSOL "Duration'", "'nvprof summary/Avg'"),
    [METRIC_ELAPSED_CYCLES] =
        FORMULAS("gpc__cycles_elapsed.max", SOL "Elapsed Cycles'", OLDSOL "Elapsed Cycles'",
                 "sm__cycles_elapsed.max", "sm__cycles_elapsed.avg", "elapsed_cycles_sm"),
    [METRIC_SM_CLOCK] =
        FORMULAS("gpc__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second",
                 "smsp__cycles_elapsed.avg.per_second", SOL "SM Frequency'", OLDSOL "SM Frequency'"),
    [METRIC_DRAM_CLOCK] =
        FORMULAS("dram__cycles_elapsed.avg.per_second", SOL "DRAM Frequency'", OLDSOL "DRAM Frequency'"),

    [METRIC_WAVES] = FORMULAS("launch__waves_per_multiprocessor", LAUNCH "Waves Per SM'"),
    [METRIC_THEORETICAL_OCCUPANCY] =
        FORMULAS("sm__maximum_warps_per_active_cycle_pct", OCC "Theoretical Occupancy'"),
    [METRIC_ACHIEVED_OCCUPANCY] =
        FORMULAS("sm__warps_active" PCT_ACTIVE, OCC "Achieved Occupancy'", "achieved_occupancy"),
    [METRIC_LIMIT_BLOCKS] = FORMULAS("launch__occupancy_limit_blocks", OCC "Block Limit SM'"),
    [METRIC_LIMIT_REGISTERS] = FORMULAS("launch__occupancy_limit_registers", OCC "Block Limit Registers'"),
    [METRIC_LIMIT_SHARED] = FORMULAS("launch__occupancy_limit_shared_mem", OCC "Block Limit Shared Mem'"),
    [METRIC_LIMIT_WARPS] = FORMULAS("launch__occupancy_limit_warps", OCC "Block Limit Warps'"),
    [METRIC_LIMIT_BARRIERS] = FORMULAS("launch__occupancy_limit_barriers", OCC "Block Limit Barriers'"),
    [METRIC_SM_ACTIVE] = FORMULAS("sm__cycles_active.avg / sm__cycles_elapsed.avg",
                                  "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
                                  "sm__cycles_active.sum / sm__cycles_elapsed.sum",
                                  "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed",
                                  "sm__cycles_active.avg / sm__cycles_elapsed.max",
                                  "sm__cycles_active.avg / gpc__cycles_elapsed.max",
                                  SOL "SM Active Cycles' / " SOL "Elapsed Cycles'",
                                  OLDSOL "SM Active Cycles' / " OLDSOL "Elapsed Cycles'", "sm_efficiency"),
    [METRIC_SM_CYCLES_MIN] = FORMULAS("sm__cycles_active.min"),
    [METRIC_SM_CYCLES_AVG] = FORMULAS("sm__cycles_active.avg", SOL "SM Active Cycles'",
                                      OLDSOL "SM Active Cycles'", DIST "Average SM Active Cycles'"),
    [METRIC_SM_CYCLES_MAX] = FORMULAS("sm__cycles_active.max"),
    [METRIC_L2_CYCLES_AVG] = FORMULAS("lts__cycles_active.avg", DIST "Average L2 Active Cycles'"),
    [METRIC_L2_CYCLES_MAX] = FORMULAS("lts__cycles_active.max"),

    [METRIC_COMPUTE_THROUGHPUT] =
        FORMULAS("sm__throughput" PCT_ELAPSED, SOL "Compute (SM) Throughput'", SOL "Compute (SM) [%]'",
                 SOL "SM [%]'", OLDSOL "Compute (SM) [%]'", OLDSOL "SM [%]'"),
    [METRIC_MEMORY_THROUGHPUT] = FORMULAS("gpu__compute_memory_throughput" PCT_ELAPSED,
                                          SOL "Memory Throughput'", SOL "Memory [%]'", OLDSOL "Memory [%]'"),
    [METRIC_L1_THROUGHPUT] = FORMULAS(
        "l1tex__throughput" PCT_ACTIVE, SOL "L1/TEX Cache Throughput'", SOL "SOL L1/TEX Cache'",
        OLDSOL "SOL L1/TEX Cache'", "tex_utilization / 10",
        /* the busiest of the parts that are cheap to count: at least that */
        "(l1tex__data_pipe_lsu_wavefronts" PCT_ELAPSED " | l1tex__m_l1tex2xbar_req_cycles_active" PCT_ELAPSED
        "?) * sm__cycles_elapsed.avg / sm__cycles_active.avg"),
    [METRIC_L2_THROUGHPUT] =
        FORMULAS("lts__throughput" PCT_ELAPSED, SOL "L2 Cache Throughput'", SOL "SOL L2 Cache'",
                 OLDSOL "SOL L2 Cache'", "l2_utilization / 10",
                 /* the busiest of its parts: at least that. Of the ends of the fabric between the halves of
                  * L2 the first is a part where it is counted, else the second. */
                 L2_PARTS " | lts__ltcfabric2ltc_cycles_active" PCT_ELAPSED,
                 L2_PARTS " | lts__ltcfabric2lts_cycles_active" PCT_ELAPSED "?"),
    [METRIC_DRAM_THROUGHPUT] =
        FORMULAS("gpu__dram_throughput" PCT_ELAPSED, "dram__throughput" PCT_ELAPSED, SOL "DRAM Throughput'",
                 SOL "SOL DRAM'", OLDSOL "SOL DRAM'", "dram__bytes.sum.pct_of_peak_sustained_elapsed",
                 "dram__cycles_active" PCT_ELAPSED,
                 "dram__bytes_read.sum.pct_of_peak_sustained_elapsed + "
                 "dram__bytes_write.sum.pct_of_peak_sustained_elapsed",
                 "dram_utilization / 10"),
    [METRIC_MEMORY_PIPES] = FORMULAS("sm__memory_throughput" PCT_ELAPSED, MEMORY "Mem Pipes Busy'"),

    [METRIC_ISSUE_ACTIVE] = FORMULAS(
        "smsp__issue_active" PCT_ACTIVE, "smsp__issue_active.avg.per_cycle_active",
        SCHED "One or More Eligible'", "sm__inst_issued" PCT_ACTIVE, WORK "Issue Slots Busy'",
        "issue_slot_utilization",
        "smsp__inst_executed.avg.per_cycle_active" /* replays of instructions are rare: 0 to 1.4 % */),
    [METRIC_IPC] =
        FORMULAS("sm__inst_executed.avg.per_cycle_active", "4 * smsp__inst_executed.avg.per_cycle_active",
                 WORK "Executed Ipc Active'", "ipc"),
    [METRIC_IPC_ELAPSED] = FORMULAS("sm__inst_executed.avg.per_cycle_elapsed", WORK "Executed Ipc Elapsed'"),
    [METRIC_WARPS_ACTIVE] =
        FORMULAS("smsp__warps_active.avg.per_cycle_active", SCHED "Active Warps Per Scheduler'",
                 "sm__warps_active.avg.per_cycle_active / 4", OCC "Achieved Active Warps Per SM' / 4"),
    [METRIC_WARPS_ELIGIBLE] = FORMULAS("smsp__warps_eligible.avg.per_cycle_active",
                                       SCHED "Eligible Warps Per Scheduler'", "eligible_warps_per_cycle / 4"),
    [METRIC_WARP_LATENCY] = FORMULAS("smsp__average_warp_latency_per_inst_issued.ratio",
                                     WARPS "Warp Cycles Per Issued Instruction'"),
    [METRIC_INSTRUCTIONS] = FORMULAS("smsp__inst_executed.sum", "sm__inst_executed.sum",
                                     INST "Executed Instructions'", "inst_executed"),
    [METRIC_THREADS_PER_INSTRUCTION] =
        FORMULAS("smsp__average_thread_inst_executed_per_inst_executed.ratio",
                 "smsp__thread_inst_executed_per_inst_executed.ratio", WARPS "Avg. Active Threads Per Warp'",
                 "thread_inst_executed / inst_executed", "32 * warp_execution_efficiency"),
    [METRIC_THREADS_PREDICATED_ON] =
        FORMULAS("smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio",
                 "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
                 WARPS "Avg. Not Predicated Off Threads Per Warp'",
                 "thread_inst_executed_true / inst_executed", "32 * warp_nonpred_execution_efficiency"),
    [METRIC_BRANCH_UNIFORM] = FORMULAS("smsp__sass_average_branch_targets_threads_uniform.pct",
                                       SOURCE "Branch Efficiency'", "branch_efficiency"),
    [METRIC_BRANCH_DIVERGENT] = FORMULAS("smsp__sass_branch_targets_threads_divergent.sum",
                                         "smsp__branch_targets_threads_divergent", "divergent_branch"),

    [METRIC_PIPE_ALU] = FORMULAS(PIPE_CYCLES("alu"), PIPE_INST("alu")),
    [METRIC_PIPE_FMA] =
        FORMULAS(PIPE_CYCLES("fma"), PIPE_INST("fma"), "single_precision_fu_utilization / 10"),
    [METRIC_PIPE_FP16] = FORMULAS(PIPE_CYCLES("fp16"), PIPE_INST("fma_type_fp16"), PIPE_INST("fp16"),
                                  "half_precision_fu_utilization / 10"),
    [METRIC_PIPE_FP64] =
        FORMULAS(PIPE_CYCLES("fp64"), PIPE_INST("fp64"), "double_precision_fu_utilization / 10"),
    [METRIC_PIPE_TENSOR] =
        FORMULAS(PIPE_CYCLES("tensor"), PIPE_CYCLES("tc"), PIPE_CYCLES("tensor_op_hmma"), PIPE_INST("tensor"),
                 PIPE_INST("tensor_op_hmma"), "tensor_precision_fu_utilization / 10"),
    [METRIC_PIPE_LSU] = FORMULAS(PIPE_INST("lsu"), "ldst_fu_utilization / 10"),
    [METRIC_PIPE_TEX] = FORMULAS(PIPE_INST("tex"), "tex_fu_utilization / 10"),
    [METRIC_PIPE_XU] = FORMULAS(PIPE_CYCLES("xu"), PIPE_INST("xu"), "special_fu_utilization / 10"),
    [METRIC_PIPE_UNIFORM] = FORMULAS(PIPE_INST("uniform")),
    [METRIC_PIPE_ADU] = FORMULAS(PIPE_INST("adu")),
    [METRIC_PIPE_CBU] = FORMULAS(PIPE_INST("cbu"), "cf_fu_utilization / 10"),
    [METRIC_PIPE_TMA] = FORMULAS(PIPE_CYCLES("tma"), PIPE_INST("tma")),

    [METRIC_FP16_FLOP] =
        FORMULAS(FLOP_SUM("smsp__", "hadd", "hmul", "hfma"), FLOP_SUM("sm__", "hadd", "hmul", "hfma"),
                 FLOP_RATE("hadd", "hmul", "hfma"), "flop_count_hp"),
    [METRIC_FP32_FLOP] =
        FORMULAS(FLOP_SUM("smsp__", "fadd", "fmul", "ffma"), FLOP_SUM("sm__", "fadd", "fmul", "ffma"),
                 FLOP_RATE("fadd", "fmul", "ffma"), "flop_count_sp"),
    [METRIC_FP64_FLOP] =
        FORMULAS(FLOP_SUM("smsp__", "dadd", "dmul", "dfma"), FLOP_SUM("sm__", "dadd", "dmul", "dfma"),
                 FLOP_RATE("dadd", "dmul", "dfma"), "flop_count_dp"),
    [METRIC_FP32_PEAK] = FORMULAS("2 * sm__" THREAD_OP "ffma_pred_on.sum.peak_sustained"),
    [METRIC_FP64_PEAK] = FORMULAS("2 * sm__" THREAD_OP "dfma_pred_on.sum.peak_sustained"),

    [METRIC_DRAM_READ_BYTES] =
        FORMULAS("dram__bytes_read.sum", "dram__bytes_op_read.sum", "32 * dram__sectors_read.sum",
                 "32 * dram__sectors_op_read.sum", "dram_read_bytes", "32 * dram_read_transactions"),
    [METRIC_DRAM_WRITE_BYTES] =
        FORMULAS("dram__bytes_write.sum", "dram__bytes_op_write.sum", "32 * dram__sectors_write.sum",
                 "32 * dram__sectors_op_write.sum", "dram_write_bytes", "32 * dram_write_transactions"),
    [METRIC_DRAM_BYTES_PER_S] = FORMULAS(
        "dram__bytes.sum.per_second", MEMORY "Memory Throughput'",
        "dram__bytes_read.sum.per_second + dram__bytes_write.sum.per_second",
        "(dram__bytes_read.sum + dram__bytes_write.sum) * 1e9 / gpu__time_duration.sum",
        "(dram__bytes_op_read.sum + dram__bytes_op_write.sum) * 1e9 / gpu__time_duration.sum",
        "dram__bytes.sum * 1e9 / gpu__time_duration.sum", "dram_read_throughput + dram_write_throughput"),
    [METRIC_DRAM_PEAK_BYTES_PER_S] =
        FORMULAS("dram__bytes.sum.peak_sustained * dram__cycles_elapsed.avg.per_second"),
    [METRIC_SYSMEM_BYTES] = FORMULAS(
        "32 * lts__t_sectors_aperture_sysmem_lookup_miss.sum",
        "32 * syslts__t_sectors_aperture_sysmem_lookup_miss.sum", "32 * lts__t_sectors_aperture_sysmem.sum",
        "32 * syslts__t_sectors_aperture_sysmem.sum", "sysmem_read_bytes + sysmem_write_bytes",
        "32 * (sysmem_read_transactions + sysmem_write_transactions)"),

    [METRIC_L1_HIT] =
        FORMULAS("l1tex__t_sector_hit_rate.pct", MEMORY "L1/TEX Hit Rate'", MEMORY "L1 Hit Rate'",
                 "l1tex__t_sectors_lookup_hit.sum / l1tex__t_sectors.sum", "tex_cache_hit_rate"),
    [METRIC_L1_GLOBAL_LOAD_HIT] =
        FORMULAS(L1_SECTORS "global_op_ld_lookup_hit.sum / " L1_SECTORS "global_op_ld.sum",
                 "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "global_hit_rate"),
    [METRIC_L1_LOCAL_LOAD_HIT] =
        FORMULAS(L1_SECTORS "local_op_ld_lookup_hit.sum / " L1_SECTORS "local_op_ld.sum",
                 "l1tex__t_sector_pipe_lsu_mem_local_op_ld_hit_rate.pct", "local_hit_rate"),
    [METRIC_L2_HIT] = FORMULAS("lts__t_sector_hit_rate.pct", MEMORY "L2 Hit Rate'",
                               "lts__t_sectors_lookup_hit.sum / (lts__t_sectors_lookup_hit.sum + "
                               "lts__t_sectors_lookup_miss.sum)",
                               "lts__average_t_sector_hit_rate.pct", "l2_tex_hit_rate"),
    [METRIC_L2_SECTORS] = FORMULAS("lts__t_sectors.sum"),
    [METRIC_L2_L1_SECTORS] = FORMULAS("lts__t_sectors_srcunit_tex.sum"),

    [METRIC_GLOBAL_LOAD_REQUESTS] =
        FORMULAS(L1_LSU "global_op_ld.sum", "smsp__sass_inst_executed_op_global_ld.sum"),
    [METRIC_GLOBAL_LOAD_SECTORS] = FORMULAS(L1_SECTORS "global_op_ld.sum"),
    [METRIC_GLOBAL_LOAD_SECTORS_PER_REQUEST] =
        FORMULAS(L1_SECTORS "global_op_ld.sum / " L1_LSU "global_op_ld.sum", PER_REQUEST "ld.ratio"),
    [METRIC_GLOBAL_LOAD_BYTES_PER_SECTOR] =
        FORMULAS(PER_SECTOR "ld.ratio", "32 * " PER_SECTOR "ld.pct", "32 * gld_efficiency"),
    [METRIC_GLOBAL_STORE_REQUESTS] =
        FORMULAS(L1_LSU "global_op_st.sum", "smsp__sass_inst_executed_op_global_st.sum"),
    [METRIC_GLOBAL_STORE_SECTORS] = FORMULAS(L1_SECTORS "global_op_st.sum"),
    [METRIC_GLOBAL_STORE_SECTORS_PER_REQUEST] =
        FORMULAS(L1_SECTORS "global_op_st.sum / " L1_LSU "global_op_st.sum", PER_REQUEST "st.ratio"),
    [METRIC_GLOBAL_STORE_BYTES_PER_SECTOR] =
        FORMULAS(PER_SECTOR "st.ratio", "32 * " PER_SECTOR "st.pct", "32 * gst_efficiency"),
    [METRIC_GLOBAL_SECTORS] =
        FORMULAS("memory_l2_theoretical_sectors_global", "smsp__sass_sectors_mem_global.sum"),
    [METRIC_GLOBAL_SECTORS_EXCESS] =
        FORMULAS("memory_l2_theoretical_sectors_global - memory_l2_theoretical_sectors_global_ideal",
                 "derived__memory_l2_theoretical_sectors_global_excessive",
                 "smsp__sass_sectors_mem_global.sum - smsp__sass_sectors_mem_global_ideal.sum"),

    [METRIC_LOCAL_LOAD_REQUESTS] =
        FORMULAS(L1_LSU "local_op_ld.sum", "smsp__sass_inst_executed_op_local_ld.sum", "local_load_requests"),
    [METRIC_LOCAL_STORE_REQUESTS] = FORMULAS(
        L1_LSU "local_op_st.sum", "smsp__sass_inst_executed_op_local_st.sum", "local_store_requests"),
    [METRIC_LOCAL_LOAD_SECTORS] = FORMULAS(L1_SECTORS "local_op_ld.sum", "local_load_transactions"),
    [METRIC_LOCAL_STORE_SECTORS] = FORMULAS(L1_SECTORS "local_op_st.sum", "local_store_transactions"),
    [METRIC_SPILL_REQUESTS] =
        FORMULAS("derived__local_spilling_requests", MEMORY "Local Memory Spilling Requests'"),

    [METRIC_SHARED_LOAD_REQUESTS] =
        FORMULAS("smsp__sass_inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_ld.sum",
                 "inst_executed_shared_loads"),
    [METRIC_SHARED_STORE_REQUESTS] =
        FORMULAS("smsp__sass_inst_executed_op_shared_st.sum", "smsp__inst_executed_op_shared_st.sum",
                 "inst_executed_shared_stores"),
    [METRIC_SHARED_LOAD_WAVEFRONTS] = FORMULAS(L1_WAVES "_op_ld.sum", "shared_load_transactions"),
    [METRIC_SHARED_STORE_WAVEFRONTS] = FORMULAS(L1_WAVES "_op_st.sum", "shared_store_transactions"),
    [METRIC_SHARED_LOAD_CONFLICTS] = FORMULAS(L1_BANKS "_op_ld.sum", "shared_ld_bank_conflict"),
    [METRIC_SHARED_STORE_CONFLICTS] = FORMULAS(L1_BANKS "_op_st.sum", "shared_st_bank_conflict"),
    [METRIC_SHARED_ATOMIC_CONFLICTS] = FORMULAS(L1_BANKS "_op_atom.sum"),
    [METRIC_SHARED_CONFLICT] =
        FORMULAS("(" L1_BANKS "_op_ld.sum + " L1_BANKS "_op_st.sum) / (" L1_WAVES "_op_ld.sum + " L1_WAVES
                 "_op_st.sum)",
                 L1_BANKS ".sum / " L1_WAVES ".sum",
                 "(shared_ld_bank_conflict + shared_st_bank_conflict) / (shared_load_transactions + "
                 "shared_store_transactions)"),
    [METRIC_SHARED_WAVEFRONTS] =
        FORMULAS("memory_l1_wavefronts_shared", "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum"),
    [METRIC_SHARED_WAVEFRONTS_EXCESS] =
        FORMULAS("memory_l1_wavefronts_shared - memory_l1_wavefronts_shared_ideal",
                 "derived__memory_l1_wavefronts_shared_excessive",
                 "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum - "
                 "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal.sum"),

    [METRIC_GLOBAL_ATOMIC_REQUESTS] =
        FORMULAS(L1_LSU "global_op_atom.sum + " L1_LSU "global_op_red.sum",
                 "smsp__inst_executed_op_global_atom.sum? + smsp__inst_executed_op_global_red.sum",
                 "inst_executed_global_atomics + inst_executed_global_reductions"),
    [METRIC_GLOBAL_ATOMIC_SECTORS] =
        FORMULAS(L1_SECTORS "global_op_atom.sum + " L1_SECTORS "global_op_red.sum"),
    [METRIC_L2_ATOMIC_SECTORS] = FORMULAS(
        "lts__t_sectors_srcunit_tex_op_atom.sum + lts__t_sectors_srcunit_tex_op_red.sum",
        "lts__t_sectors_srcunit_tex_op_atom_dot_alu.sum + lts__t_sectors_srcunit_tex_op_atom_dot_cas.sum"
        " + lts__t_sectors_srcunit_tex_op_red.sum",
        "l2_atomic_transactions", "lts__d_atomic_input_cycles_active.sum" /* one a cycle */,
        /* counts again what one half of L2 passes on to the other */
        "lts__t_sectors_op_atom.sum + lts__t_sectors_op_red.sum"),
    [METRIC_L2_ATOMIC_THROUGHPUT] = FORMULAS("lts__d_atomic_input_cycles_active" PCT_ELAPSED),
    [METRIC_SHARED_ATOMIC_INSTRUCTIONS] =
        FORMULAS("smsp__sass_inst_executed_op_shared_atom.sum", "smsp__inst_executed_op_shared_atom.sum",
                 "inst_executed_shared_atomics"),
};

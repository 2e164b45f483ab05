/* What the counters of a kernel mean: one set of quantities, whatever chip and tool they came from.
 *
 * A canonical metric is computed by the first of its formulas (metrics_formulas.c) whose counters are known.
 * Ratios are 0–1, times ns, sizes bytes, frequencies Hz. Nothing is guessed: a metric without a value says
 * why. Sources of names and formulas: metric tables of CUPTI 13, section files and reports of Nsight Compute
 * 2020–2025, metric reference of nvprof. */
#ifndef WARPLIGHT_ANALYZE_METRICS_H
#define WARPLIGHT_ANALYZE_METRICS_H

#include <stdbool.h>

#include "model/run.h"

enum metric_unit {
    IN_NUMBER,
    IN_COUNT, /* whole, of what the key names */
    IN_RATIO, /* 0–1 */
    IN_NS,
    IN_BYTES,
    IN_BYTES_PER_S,
    IN_HZ,
};

/* X(id, key in machine output, unit, largest possible value or 0). A larger one is COUNTER_IMPLAUSIBLE; some
 * room is left where numerator and denominator may come from different replay passes. */
#define METRICS(X)                                                                                           \
    X(DURATION, "duration_ns", IN_NS, 0)                                                                     \
    X(ELAPSED_CYCLES, "elapsed_cycles", IN_COUNT, 0)                                                         \
    X(SM_CLOCK, "sm_clock_hz", IN_HZ, 0)                                                                     \
    X(DRAM_CLOCK, "dram_clock_hz", IN_HZ, 0)                                                                 \
    /* how full the GPU is */                                                                                \
    X(WAVES, "waves_per_sm", IN_NUMBER, 0) /* blocks of the grid ÷ blocks that fit at once */               \
    X(THEORETICAL_OCCUPANCY, "theoretical_occupancy_ratio", IN_RATIO, 1.001)                                 \
    X(ACHIEVED_OCCUPANCY, "achieved_occupancy_ratio", IN_RATIO, 1.02)                                        \
    X(LIMIT_BLOCKS, "occupancy_limit_blocks", IN_COUNT, 0) /* resident blocks that each limit allows */      \
    X(LIMIT_REGISTERS, "occupancy_limit_registers_blocks", IN_COUNT, 0)                                      \
    X(LIMIT_SHARED, "occupancy_limit_shared_blocks", IN_COUNT, 0)                                            \
    X(LIMIT_WARPS, "occupancy_limit_warps_blocks", IN_COUNT, 0)                                              \
    X(LIMIT_BARRIERS, "occupancy_limit_barriers_blocks", IN_COUNT, 0)                                        \
    X(SM_ACTIVE, "sm_active_ratio", IN_RATIO, 1.05)       /* cycles with a resident warp ÷ elapsed */       \
    X(SM_CYCLES_MIN, "sm_active_cycles_min", IN_COUNT, 0) /* of the least, mean and most busy SM */          \
    X(SM_CYCLES_AVG, "sm_active_cycles_avg", IN_NUMBER, 0)                                                   \
    X(SM_CYCLES_MAX, "sm_active_cycles_max", IN_COUNT, 0)                                                    \
    X(L2_CYCLES_AVG, "l2_active_cycles_avg", IN_NUMBER, 0) /* the same for slices of L2 */                   \
    X(L2_CYCLES_MAX, "l2_active_cycles_max", IN_COUNT, 0)                                                    \
    /* of the peak rate while the kernel ran: busiest part of the SM, of the memory system, each level */    \
    X(COMPUTE_THROUGHPUT, "compute_throughput_ratio", IN_RATIO, 1.1)                                         \
    X(MEMORY_THROUGHPUT, "memory_throughput_ratio", IN_RATIO, 1.1)                                           \
    X(L1_THROUGHPUT, "l1_throughput_ratio", IN_RATIO, 1.1)                                                   \
    X(L2_THROUGHPUT, "l2_throughput_ratio", IN_RATIO, 1.1)                                                   \
    X(DRAM_THROUGHPUT, "dram_throughput_ratio", IN_RATIO, 1.1)                                               \
    X(MEMORY_PIPES, "memory_pipes_ratio", IN_RATIO, 1.1) /* issue of memory instructions in the SM */        \
    /* schedulers and warps */                                                                               \
    X(ISSUE_ACTIVE, "issue_active_ratio", IN_RATIO, 1.02) /* scheduler cycles that issued */                 \
    X(IPC, "instructions_per_active_cycle", IN_NUMBER, 8) /* executed warp instructions of an SM */          \
    X(IPC_ELAPSED, "instructions_per_elapsed_cycle", IN_NUMBER, 8)                                           \
    X(WARPS_ACTIVE, "warps_active_per_scheduler", IN_NUMBER, 16.1)                                           \
    X(WARPS_ELIGIBLE, "warps_eligible_per_scheduler", IN_NUMBER, 16.1)                                       \
    X(WARP_LATENCY, "warp_cycles_per_instruction", IN_NUMBER, 0) /* between two issued of a warp */          \
    X(INSTRUCTIONS, "instructions", IN_COUNT, 0)                 /* executed, counted once a warp */         \
    X(THREADS_PER_INSTRUCTION, "threads_per_instruction", IN_NUMBER, 32.01)                                  \
    X(THREADS_PREDICATED_ON, "predicated_on_threads_per_instruction", IN_NUMBER, 32.01)                      \
    X(BRANCH_UNIFORM, "branch_uniform_ratio", IN_RATIO, 1.001)                                               \
    X(BRANCH_DIVERGENT, "divergent_branches", IN_COUNT, 0) /* branch instructions whose warp split */        \
    /* pipes: cycles in which each was busy ÷ cycles the SM was active; "inst" in the formula: issue slots  \
     */                                                                                                      \
    X(PIPE_ALU, "alu_active_ratio", IN_RATIO, 1.05)                                                          \
    X(PIPE_FMA, "fma_active_ratio", IN_RATIO, 1.05)                                                          \
    X(PIPE_FP16, "fp16_active_ratio", IN_RATIO, 1.05)                                                        \
    X(PIPE_FP64, "fp64_active_ratio", IN_RATIO, 1.05)                                                        \
    X(PIPE_TENSOR, "tensor_active_ratio", IN_RATIO, 1.05)                                                    \
    X(PIPE_LSU, "lsu_active_ratio", IN_RATIO, 1.05)                                                          \
    X(PIPE_TEX, "tex_active_ratio", IN_RATIO, 1.05)                                                          \
    X(PIPE_XU, "xu_active_ratio", IN_RATIO, 1.05)                                                            \
    X(PIPE_UNIFORM, "uniform_active_ratio", IN_RATIO, 1.05)                                                  \
    X(PIPE_ADU, "adu_active_ratio", IN_RATIO, 1.05)                                                          \
    X(PIPE_CBU, "cbu_active_ratio", IN_RATIO, 1.05)                                                          \
    X(PIPE_TMA, "tma_active_ratio", IN_RATIO, 1.05)                                                          \
    /* arithmetic: threads that were not predicated off; a fused multiply-add counts twice */                \
    X(FP16_FLOP, "fp16_flop", IN_COUNT, 0)                                                                   \
    X(FP32_FLOP, "fp32_flop", IN_COUNT, 0)                                                                   \
    X(FP64_FLOP, "fp64_flop", IN_COUNT, 0)                                                                   \
    X(FP32_PEAK, "fp32_peak_flop_per_cycle", IN_NUMBER, 0) /* of the GPU */                                  \
    X(FP64_PEAK, "fp64_peak_flop_per_cycle", IN_NUMBER, 0)                                                   \
    /* device memory */                                                                                      \
    X(DRAM_READ_BYTES, "dram_read_bytes", IN_BYTES, 0)                                                       \
    X(DRAM_WRITE_BYTES, "dram_write_bytes", IN_BYTES, 0)                                                     \
    X(DRAM_BYTES_PER_S, "dram_bytes_per_s", IN_BYTES_PER_S, 0)                                               \
    X(DRAM_PEAK_BYTES_PER_S, "dram_peak_bytes_per_s", IN_BYTES_PER_S, 0)                                     \
    X(SYSMEM_BYTES, "system_memory_bytes", IN_BYTES, 0) /* L2 misses served by the host's memory */          \
    /* caches: hits ÷ look-ups, in sectors of 32 bytes */                                                   \
    X(L1_HIT, "l1_hit_ratio", IN_RATIO, 1.02)                                                                \
    X(L1_GLOBAL_LOAD_HIT, "l1_global_load_hit_ratio", IN_RATIO, 1.02)                                        \
    X(L1_LOCAL_LOAD_HIT, "l1_local_load_hit_ratio", IN_RATIO, 1.02)                                          \
    X(L2_HIT, "l2_hit_ratio", IN_RATIO, 1.02)                                                                \
    X(L2_SECTORS, "l2_sectors", IN_COUNT, 0)                                                                 \
    X(L2_L1_SECTORS, "l2_sectors_from_l1", IN_COUNT, 0)                                                      \
    /* global memory: requests are warp instructions that reached L1, sectors what they touched */           \
    X(GLOBAL_LOAD_REQUESTS, "global_load_requests", IN_COUNT, 0)                                             \
    X(GLOBAL_LOAD_SECTORS, "global_load_sectors", IN_COUNT, 0)                                               \
    X(GLOBAL_LOAD_SECTORS_PER_REQUEST, "global_load_sectors_per_request", IN_NUMBER, 33)                     \
    X(GLOBAL_LOAD_BYTES_PER_SECTOR, "global_load_useful_bytes_per_sector", IN_NUMBER, 0)                     \
    X(GLOBAL_STORE_REQUESTS, "global_store_requests", IN_COUNT, 0)                                           \
    X(GLOBAL_STORE_SECTORS, "global_store_sectors", IN_COUNT, 0)                                             \
    X(GLOBAL_STORE_SECTORS_PER_REQUEST, "global_store_sectors_per_request", IN_NUMBER, 33)                   \
    X(GLOBAL_STORE_BYTES_PER_SECTOR, "global_store_useful_bytes_per_sector", IN_NUMBER, 0)                   \
    X(GLOBAL_SECTORS, "global_sectors", IN_COUNT, 0) /* as the addresses demand, before any cache */         \
    X(GLOBAL_SECTORS_EXCESS, "global_excess_sectors", IN_COUNT, 0) /* above a perfect layout's */            \
    /* local memory: spills and arrays */                                                                    \
    X(LOCAL_LOAD_REQUESTS, "local_load_requests", IN_COUNT, 0)                                               \
    X(LOCAL_STORE_REQUESTS, "local_store_requests", IN_COUNT, 0)                                             \
    X(LOCAL_LOAD_SECTORS, "local_load_sectors", IN_COUNT, 0)                                                 \
    X(LOCAL_STORE_SECTORS, "local_store_sectors", IN_COUNT, 0)                                               \
    X(SPILL_REQUESTS, "local_spill_requests", IN_COUNT, 0)                                                   \
    /* shared memory: a wavefront is one pass of a request through the banks */                              \
    X(SHARED_LOAD_REQUESTS, "shared_load_requests", IN_COUNT, 0)                                             \
    X(SHARED_STORE_REQUESTS, "shared_store_requests", IN_COUNT, 0)                                           \
    X(SHARED_LOAD_WAVEFRONTS, "shared_load_wavefronts", IN_COUNT, 0)                                         \
    X(SHARED_STORE_WAVEFRONTS, "shared_store_wavefronts", IN_COUNT, 0)                                       \
    X(SHARED_LOAD_CONFLICTS, "shared_load_conflicts", IN_COUNT, 0)                                           \
    X(SHARED_STORE_CONFLICTS, "shared_store_conflicts", IN_COUNT, 0)                                         \
    X(SHARED_ATOMIC_CONFLICTS, "shared_atomic_conflicts", IN_COUNT, 0)                                       \
    X(SHARED_CONFLICT, "shared_conflict_ratio", IN_RATIO, 1.02) /* conflicts ÷ wavefronts; counts some      \
                                                                        noise of arbitration too */          \
    X(SHARED_WAVEFRONTS, "shared_wavefronts", IN_COUNT, 0)      /* as the addresses demand: exact */         \
    X(SHARED_WAVEFRONTS_EXCESS, "shared_excess_wavefronts", IN_COUNT, 0)                                     \
    /* atomics */                                                                                            \
    X(GLOBAL_ATOMIC_REQUESTS, "global_atomic_requests", IN_COUNT, 0) /* with and without result */           \
    X(GLOBAL_ATOMIC_SECTORS, "global_atomic_sectors", IN_COUNT, 0)                                           \
    X(L2_ATOMIC_SECTORS, "l2_atomic_sectors", IN_COUNT, 0)                                                   \
    X(L2_ATOMIC_THROUGHPUT, "l2_atomic_throughput_ratio", IN_RATIO, 1.1)                                     \
    X(SHARED_ATOMIC_INSTRUCTIONS, "shared_atomic_instructions", IN_COUNT, 0)

#define METRIC_ID_(id, key, unit, max) METRIC_##id,
enum metric { METRICS(METRIC_ID_) METRIC_COUNT };
#undef METRIC_ID_

struct metric_info {
    const char *key;
    enum metric_unit unit;
    double max;
};
extern const struct metric_info metric_infos[METRIC_COUNT];

/* Why warps could not issue, from latency that matters most to what is no stall: SELECTED issued. Those from
 * EXECUTION_DEPENDENCY on are nvprof's coarser classes. */
#define STALLS(X)                                                                                            \
    X(LONG_SCOREBOARD, "long_scoreboard")   /* waits for global, local, texture memory */                    \
    X(SHORT_SCOREBOARD, "short_scoreboard") /* waits for shared memory, special functions */                 \
    X(BARRIER, "barrier")                                                                                    \
    X(MEMBAR, "membar")                                                                                      \
    X(LG_THROTTLE, "lg_throttle")   /* queue of global and local accesses full */                            \
    X(MIO_THROTTLE, "mio_throttle") /* queue of shared memory and special functions full */                  \
    X(TEX_THROTTLE, "tex_throttle")                                                                          \
    X(DRAIN, "drain") /* exits once its stores are done */                                                   \
    X(MATH_PIPE_THROTTLE, "math_pipe_throttle")                                                              \
    X(WAIT, "wait") /* fixed latency of the instruction before */                                            \
    X(GMMA, "gmma")                                                                                          \
    X(WARPGROUP_ARRIVE, "warpgroup_arrive")                                                                  \
    X(BRANCH_RESOLVING, "branch_resolving")                                                                  \
    X(NO_INSTRUCTION, "no_instruction")                                                                      \
    X(IMC_MISS, "imc_miss") /* constant cache */                                                             \
    X(DISPATCH, "dispatch_stall")                                                                            \
    X(SLEEPING, "sleeping")                                                                                  \
    X(MISC, "misc")                                                                                          \
    X(NOT_SELECTED, "not_selected") /* another warp was issued */                                            \
    X(SELECTED, "selected")                                                                                  \
    X(EXECUTION_DEPENDENCY, "execution_dependency") /* short scoreboard or wait */                           \
    X(SYNCHRONIZATION, "synchronization")           /* barrier or membar */                                  \
    X(PIPE_BUSY, "pipe_busy")                       /* MIO or math pipe throttle */                          \
    X(MEMORY_THROTTLE, "memory_throttle")           /* drain or LG throttle */                               \
    X(OTHER, "other")

#define STALL_ID_(id, key) STALL_##id,
enum stall { STALLS(STALL_ID_) STALL_COUNT, STALL_NONE = STALL_COUNT };
#undef STALL_ID_
extern const char *const stall_keys[STALL_COUNT];

/* Counters of places, as the sources name them, in one set. Excess is what the access pattern costs above a
 * perfect one. */
#define PLACE_METRICS(X)                                                                                     \
    X(SAMPLES, "samples")                       /* of the warp sampler */                                    \
    X(STALL_SAMPLES, "stall_samples")           /* with a reason: see place_stall() */                       \
    X(NOT_ISSUED_SAMPLES, "not_issued_samples") /* taken while the scheduler issued nothing */               \
    X(INSTRUCTIONS, "instructions")             /* executed, once a warp */                                  \
    X(THREAD_INSTRUCTIONS, "thread_instructions")                                                            \
    X(THREAD_INSTRUCTIONS_ON, "predicated_on_thread_instructions")                                           \
    X(GLOBAL_SECTORS, "global_sectors")                                                                      \
    X(GLOBAL_SECTORS_IDEAL, "global_sectors_ideal")                                                          \
    X(LOCAL_SECTORS, "local_sectors")                                                                        \
    X(GLOBAL_TAG_REQUESTS, "global_tag_requests")                                                            \
    X(SHARED_WAVEFRONTS, "shared_wavefronts")                                                                \
    X(SHARED_WAVEFRONTS_IDEAL, "shared_wavefronts_ideal")                                                    \
    X(BRANCHES_DIVERGENT, "divergent_branches")                                                              \
    X(SPILL_STORE_BYTES, "spill_store_bytes") /* of the code: for each execution by a thread */              \
    X(SPILL_LOAD_BYTES, "spill_load_bytes")

#define PLACE_METRIC_ID_(id, key) PLACE_##id,
enum place_metric { PLACE_METRICS(PLACE_METRIC_ID_) PLACE_METRIC_COUNT, PLACE_OTHER = PLACE_METRIC_COUNT };
#undef PLACE_METRIC_ID_
extern const char *const place_metric_keys[PLACE_METRIC_COUNT];

/* The counters of a run by profile and name. Keeps a pointer to the run. */
struct metrics {
    const struct run *run;
    struct map rows; /* profile << 32 | name → row of run->counters */
};

struct metric_value {
    double value; /* NAN unless state is COUNTER_VALUE or COUNTER_IMPLAUSIBLE */
    enum counter_state state;
    const char *formula; /* how it came about, in names of the source; NULL where it did not */
};

/* O(counters). run must stay as it is until metrics_release(). */
void metrics_init(struct metrics *m, const struct run *run);
void metrics_release(struct metrics *m);

/* A canonical metric of run->profiles[profile]. What no counter tells follows from the launch shape and the
 * device where it can: theoretical occupancy, waves. */
struct metric_value metric_get(const struct metrics *m, uint32_t profile, enum metric id);
/* A counter by the name of its source; those in percent come as ratios. */
struct metric_value counter_get(const struct metrics *m, uint32_t profile, const char *name);

enum stall_source {
    STALLS_UNKNOWN,
    STALLS_COUNTED, /* warp cycles by reason, measured for every instruction */
    STALLS_SAMPLED, /* by the warp sampler */
};
/* The share of each reason in the time that warps were resident; NAN where it is not known. The known ones
 * sum to about 1. Counted shares win over sampled ones. */
enum stall_source metric_stalls(const struct metrics *m, uint32_t profile, double share[STALL_COUNT]);

/* What a counter of a place means, whatever its source calls it; PLACE_OTHER. */
enum place_metric place_metric_of(const char *name);
/* The stall reason that a counter of a place speaks of, STALL_NONE; not_issued: only of samples in which the
 * scheduler issued nothing. */
enum stall place_stall(const char *name, bool *not_issued);

/* The formulas of a metric in the order in which they are tried; ends with NULL. */
extern const char *const *const metric_formulas[METRIC_COUNT];

#endif

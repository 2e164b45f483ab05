/* What the analyses found: plain data, filled by pure functions from a sealed run, printed by views.
 *
 * Conventions: *_ns are int64_t nanoseconds, UNKNOWN where nobody knows; *_ratio are doubles 0–1, NAN where
 * unknown; *_index refer to rows of the run; text fields are ids in run->strings unless the type is
 * const char *, which is then a literal or msgid. Rows are sorted as the section's comment says. */
#ifndef WARPLIGHT_ANALYZE_REPORT_H
#define WARPLIGHT_ANALYZE_REPORT_H

#include "analyze/metrics.h"
#include "analyze/msg.h"
#include "model/run.h"

/* ---- the ledger (doc/internals/ledger.md) -------------------------------------------------------------- */

enum account {
    ACCOUNT_COMPUTE,
    ACCOUNT_COMPUTE_COPY,
    ACCOUNT_COMPUTE_COMM,
    ACCOUNT_COMM,
    ACCOUNT_COPY,
    ACCOUNT_BUSY_COUNT, /* accounts before this one are busy time */
    IDLE_STARTUP = ACCOUNT_BUSY_COUNT,
    IDLE_DATA_LOADING,
    IDLE_LAUNCH_BOUND,
    IDLE_HOST_SYNC,
    IDLE_HOST_COMPUTE,
    IDLE_HOST_IO,
    IDLE_HOST_WAIT,
    IDLE_ALLOCATOR,
    IDLE_WARMUP,
    IDLE_DEPENDENCY,
    IDLE_QUEUE,
    IDLE_LAUNCH_LATENCY,
    IDLE_PROFILER,
    IDLE_UNKNOWN,
    IDLE_SHUTDOWN,
    ACCOUNT_COUNT,
};

/* "compute", "compute+copy", "idle:data-loading", …: fixed names for machines. */
const char *account_name(enum account account);
/* One line for people: what the account means (msgid). */
const char *account_meaning(enum account account);

/* Of the busy time, by the driver's counters (GPM); NAN where they cover less than half of it. */
struct gpu_use {
    double sm_active_ratio;        /* SMs with a warp, on average */
    double sm_occupancy_ratio;     /* warps by those that the SMs could hold */
    double tensor_active_ratio;    /* of the tensor cores' cycles */
    double memory_bandwidth_ratio; /* of the memory's highest */
};

struct device_report {
    uint32_t device; /* run->devices */
    struct interval window;
    int64_t wall_ns; /* = Σ ledger_ns, exactly */
    int64_t busy_ns; /* = Σ of the accounts that are not idle */
    int64_t ledger_ns[ACCOUNT_COUNT];
    int64_t gap_count;
    int64_t longest_gap_ns;
    int64_t op_count;  /* kernels, copies, memsets, graphs in the window */
    int64_t op_sum_ns; /* plain sum of their durations; > busy_ns where they overlap */
    struct gpu_use use;
};

/* One piece of one gap: a stretch of device idle time with one cause and one culprit. Sorted by time. */
struct gap_piece {
    int64_t start, end;
    uint32_t gap;        /* number of the gap, per report, pieces of one gap are adjacent */
    uint32_t device;     /* run->devices */
    uint32_t next_op;    /* run->ops: the op that ended the gap; NONE at the end of the window */
    uint32_t thread;     /* the culprit thread, run->threads; NONE */
    uint32_t call;       /* outermost API, OS or overhead span of that thread then; NONE */
    uint32_t operator_;  /* innermost framework operator; NONE */
    uint32_t annotation; /* innermost annotation; NONE */
    uint32_t frame;      /* innermost Python frame span, else native function; NONE */
    uint32_t native;     /* innermost native function; NONE */
    uint32_t line;       /* that the frame was at, 0 not known */
    uint32_t stack;      /* text of a recorded call stack, 0 */
    uint8_t cause;       /* enum account, IDLE_* */
};

/* What most of an amount of time was spent on. */
struct most_of {
    uint32_t value; /* 0 nothing that is known */
    int64_t ns;     /* so much of it */
};

/* Idle time of one device summed by cause and culprit. Sorted by total_ns, largest first. */
struct culprit_row {
    uint32_t device;
    enum account cause;
    uint32_t thread;
    uint32_t call;          /* name id, 0 none */
    uint32_t operator_;     /* name id */
    uint32_t frame;         /* name id */
    struct most_of file;    /* text id: what the operating-system call worked on */
    struct most_of line;    /* of the frame's file */
    struct most_of inside;  /* name id: the native function that ran, if it is not the frame */
    struct most_of library; /* name id: any function of the library that ran, if it is not the frame's */
    const char *mostly_in;  /* for people: the function, else the library, in which more than half of total_ns
                               was spent; owned by the run or report->arena; NULL none */
    const char *annotation; /* numbers replaced by '*' ("step *"), owned by report->arena; NULL none */
    const char *code_file;  /* of the frame, owned by report->arena; NULL not known */
    int64_t code_line;      /* at which the frame mostly was, else that its function begins at; 0 not known */
    int64_t count;          /* stretches of idle time, each without a break */
    int64_t total_ns, longest_ns;
    int64_t longest_at; /* moment of the longest stretch */
};

/* ---- tables ------------------------------------------------------------------------------------------- */

/* One row per distinct kernel name (all devices together), largest total first. */
struct kernel_row {
    uint32_t name;          /* full, demangled where it can be */
    const char *short_name; /* owned by report->arena */
    int64_t count, total_ns, min_ns, median_ns, max_ns;
    int64_t covered_ns; /* time in which at least one of its launches ran: total_ns unless they overlap */
    double busy_share_ratio; /* covered_ns ÷ Σ busy_ns of the devices */
    uint32_t shape;          /* the most frequent launch configuration; NONE */
    int64_t shape_count;     /* number of distinct configurations */
    double occupancy_ratio;  /* theoretical, of that shape; NAN */
    /* SM coverage: blocks ÷ SMs, at most 1, weighted by time over the launches; NAN. Below 1 some SMs got no
     * block at all; how full the others were is occupancy's matter. */
    double sm_fill_ratio;
    bool is_graph; /* launches of a graph that were recorded whole */
    bool is_comm, is_tuned_library, is_matrix, uses_tensor_cores, is_fp64;
};

/* One row per direction and memory kinds, largest total first. */
struct copy_row {
    enum copy_dir dir;
    enum mem_kind src, dst;
    bool is_memset;
    const char *kind; /* "HtoD pageable", "DtoD", "memset": English, for machines; owned by report->arena */
    int64_t count, bytes; /* bytes: UNKNOWN if any copy's size is unknown and none is known */
    int64_t unknown_bytes_count;
    int64_t total_ns, min_ns, median_ns, max_ns;
    double rate_bytes_per_s; /* known bytes ÷ their time; NAN */
    double overlapped_ratio; /* share of total_ns during which a kernel ran on the same device */
    int64_t small_count;     /* copies below 64 KiB */
};

/* One row per API call name, largest total first. */
struct call_row {
    uint32_t name;
    int64_t count, total_ns, min_ns, median_ns, max_ns;
    int64_t launched_ops; /* GPU ops whose launching call it is */
};

struct launch_stats {
    int64_t launches; /* API calls that started at least one GPU op */
    int64_t call_total_ns, call_median_ns;
    int64_t delay_count; /* ops with a call */
    int64_t delay_total_ns, delay_median_ns, delay_p95_ns,
        delay_max_ns;            /* op start − call end, if positive */
    int64_t delay_own_stream_ns; /* part during which the op's own stream was still busy */
    int64_t delay_hardware_ns;   /* the rest */
    /* The run's own launch latency: 5th percentile of call start → op start, of kernels and graphs whose
     * device had been idle since before the call; UNKNOWN. */
    int64_t floor_ns;
    int64_t shorter_than_call; /* kernels shorter than their launch call */
    double launches_per_s;
};

/* Framework operators, as torch.profiler's key_averages() counts them. Largest device_total first, then
 * host_total. */
struct operator_row {
    uint32_t name;
    int64_t count;
    int64_t host_total_ns, host_self_ns, device_total_ns, device_self_ns;
};

struct step_row {
    int64_t start, end; /* from one step's first launch to the next one's */
    uint32_t name;      /* annotation that names it, or 0 */
    int64_t busy_ns, idle_ns;
    int64_t ops;
    bool outlier;
    enum account outlier_cause; /* the account that grew most against the median step */
    int64_t outlier_cause_ns;   /* by so much, at most outlier_excess_ns */
    int64_t outlier_excess_ns;
};

enum step_origin { STEPS_NONE, STEPS_SEQUENCE /* found in the launch sequence */, STEPS_ANNOTATED };

struct step_report {
    enum step_origin origin;
    uint32_t device;
    int64_t count, period_launches;
    int64_t median_ns, min_ns, max_ns, p95_ns;
    double coverage_ratio; /* share of the window that lies in steps */
    VEC(struct step_row) rows;
};

/* Busiest first; streams without ops in the window are left out. */
struct stream_row {
    uint32_t stream; /* run->streams */
    int64_t ops, busy_ns, sum_ns;
    double alone_ratio; /* share of busy_ns during which no other stream of the device ran */
};

struct concurrency_report { /* how much ran at once on each device */
    uint32_t device;
    int64_t max_streams; /* most streams busy at one moment */
    double mean_streams; /* over busy time */
    int64_t ns_at_least_two;
};

struct memory_report {
    uint32_t device;
    uint32_t process;
    int64_t peak_allocated_bytes, peak_reserved_bytes; /* UNKNOWN */
    int64_t peak_time;
    int64_t first_allocated_bytes, last_allocated_bytes;
    int64_t total_bytes; /* the device's memory, 0 unknown */
    int64_t samples;
};

struct comm_row { /* per collective and group size, largest total first */
    uint32_t name;
    int64_t count, total_ns, exposed_ns, bytes; /* bytes UNKNOWN */
    int64_t group_size;
};

struct rank_row {
    int32_t rank; /* −1: not a rank, source number counts */
    uint32_t source, device;
    int64_t wall_ns, busy_ns, compute_ns, comm_exposed_ns, idle_ns;
    int64_t step_median_ns;
    bool straggler;      /* the others wait for it: least waiting in collectives, latest arrivals */
    double excess_ratio; /* its compute + host time over the median rank's */
    /* In collectives that could be matched across ranks, UNKNOWN where none was: how long it waited for the
     * last rank to arrive, and how long all others waited where it was the last. */
    int64_t waited_ns, caused_ns;
};

/* How much faster could it get at all. */
struct amdahl_report {
    uint32_t device;
    /* wall = gpu + host_only + comm. gpu: the compute accounts; comm: exposed; host_only: idle, exposed
     * copies. */
    int64_t wall_ns, gpu_ns, host_only_ns, comm_ns;
    double speedup_gpu_twice;    /* a GPU twice as fast */
    double speedup_gpu_infinite; /* = wall ÷ (host_only + comm); INFINITY if that is 0 */
    double speedup_second_gpu;   /* half of gpu_ns each, communication unchanged */
};

/* ---- findings (doc/internals/findings.md) -------------------------------------------------------------- */

enum severity { SEVERITY_INFO, SEVERITY_WARN, SEVERITY_CRITICAL };

struct finding {
    const char *id;     /* "idle-data-loading" */
    const char *class_; /* "idle", "transfer", "kernel", "scale", "health", "trust" */
    enum severity severity;
    double confidence_ratio;
    int64_t lost_ns; /* device time that this explains */
    int64_t
        saving_ns[2]; /* low, high: of the run's wall time; of counters: of the kernel's time in the run */
    double saving_ratio[2]; /* of counters: of the kernel's time; else 0 */
    uint32_t device;        /* NONE: all */
    const char *file;       /* of the code to look at, as its source spells it; NULL not known */
    int64_t line;           /* in file, from 1; 0 not known */
    struct msg title;
    VEC(struct msg) evidence;
    struct msg action;
};

/* ---- machine code (codes.h) -----------------------------------------------------------------------------
 */

enum code_fit { FIT_NOT_ASKED, FIT_RUNS, FIT_COMPILES /* the driver compiles the PTX */, FIT_NO };

/* Why code does not run on a GPU; code_reason_msg() says it. */
enum code_reason {
    REASON_NONE,
    REASON_OTHER_MAJOR, /* machine code runs within one major compute capability */
    REASON_LATER_MINOR, /* and not on an earlier minor one */
    REASON_SPECIFIC,    /* sm_90a: on 9.0 alone */
    REASON_FAMILY,      /* compute_100f: within its family */
    REASON_EMBEDDED,    /* machine code of Tegra is for that chip alone, and no other code for it */
    REASON_PTX_NEWER,   /* PTX is compiled for its own architecture or a later one */
    REASON_UNKNOWN,     /* the architecture is not known */
};

/* A source line at which a thread touches local memory, all its instructions together. */
struct code_site {
    uint32_t place; /* run->places: one of them */
    bool is_spill;
    int64_t store_bytes, load_bytes;
};

/* A kernel for one architecture; equal ones, such as a template that many files instantiate, are one row. */
struct code_row {
    uint32_t code;             /* run->codes */
    struct kernel_code kernel; /* a copy of it */
    const char *architecture;  /* "sm_90a", "compute_120" for PTX; owned by report->arena */
    int64_t copies;            /* in how many places the same code lies */
    int64_t block_threads;     /* that the occupancy is of */
    const char *block_origin;  /* "required", "launch bounds", "assumed", "given": also msgids */
    double occupancy_ratio;    /* theoretical; NAN */
    int64_t blocks_per_sm;     /* UNKNOWN */
    unsigned limiters;         /* bit 1 << enum occupancy_limit */
    enum code_fit fit;         /* to the GPU that was asked for */
    enum code_reason reason;
    uint32_t first_site, site_count; /* report->sites, most bytes first */
    VEC(struct finding) findings;
};

/* A kernel, and which of its codes a GPU would run. */
struct image_row {
    uint32_t source; /* run->sources */
    uint32_t name;   /* demangled */
    enum code_fit fit;
    uint32_t code; /* run->codes; NONE */
};

/* ---- profiled kernels (profiles.h) ---------------------------------------------------------------------
 */

/* A metric over the launches of a row, each launch being one value. Times, counts and bytes are of one
 * launch: their mean. Ratios, rates and averages are weighted by the launches' durations. */
struct metric_stat {
    double value;     /* NAN unless state is COUNTER_VALUE */
    double min, max;  /* over the launches */
    double deviation; /* standard deviation over the launches; NAN of fewer than two */
    enum counter_state state;
    const char *formula; /* of the first launch that had a value; NULL */
};

/* What a kernel cannot get past as it is. */
enum bound {
    BOUND_UNKNOWN,
    BOUND_MEMORY,  /* a level of memory */
    BOUND_COMPUTE, /* instruction issue or an arithmetic pipe */
    BOUND_LATENCY, /* neither: warps wait */
};

enum memory_level { LEVEL_NONE, LEVEL_DRAM, LEVEL_L2, LEVEL_L1 };

enum peak_source {
    PEAK_UNKNOWN,
    PEAK_COUNTER, /* a counter gives it, at the clock of the measurement */
    PEAK_RATIO,   /* from a rate and its share of the peak */
    PEAK_DEVICE,  /* from what the source says of the device */
    PEAK_TABLE,   /* from the units of an SM of this compute capability */
};

/* Williams, Waterman, Patterson: Roofline (2009), for device memory and ordinary floating-point units. */
struct roofline {
    double flop_per_s, bytes_per_s;           /* reached; NAN */
    double peak_flop_per_s, peak_bytes_per_s; /* NAN */
    enum peak_source flop_source, bytes_source;
    double flop_per_byte;   /* arithmetic intensity; NAN */
    double roof_flop_per_s; /* at that intensity; NAN */
    double reached_ratio;   /* of the roof; where nothing is known of the FLOP, of the memory's; NAN */
    bool is_fp64;           /* most FLOP are fp64: so is the peak */
    bool is_memory_side;    /* the roof over it is the memory's */
    bool has_tensor;        /* tensor cores worked too, whose FLOP are not counted */
};

/* A source line, or an instruction where no line is known, all its instructions together. */
struct hot_line {
    uint32_t place;                    /* run->places: one of them */
    uint32_t hottest;                  /* the one with most samples */
    double values[PLACE_METRIC_COUNT]; /* Σ over the launches */
    double stalls[STALL_COUNT];        /* samples by reason */
};

/* What the counters at hand cannot tell; the msgid of its name for people is undecided_title(). */
enum undecided {
    UNDECIDED_COALESCING,
    UNDECIDED_CONFLICTS,
    UNDECIDED_DIVERGENCE,
    UNDECIDED_LOCAL,
    UNDECIDED_ATOMICS,
    UNDECIDED_PIPES,
    UNDECIDED_STALLS,
    UNDECIDED_COUNT,
};

/* A counter as its source calls it. */
struct raw_counter {
    uint32_t name; /* text */
    double value;  /* in its own unit: .pct in percent; NAN */
};

/* The launches of one kernel on one device with one grid and block, together. */
struct profile_row {
    uint32_t profile;   /* run->profiles: the first of them */
    uint32_t device;    /* run->devices; NONE */
    uint32_t name;      /* text: demangled where it can be */
    uint32_t shape;     /* run->shapes; NONE */
    uint32_t code;      /* run->codes: the machine code that ran, or that its GPU would run; NONE */
    int64_t profiled;   /* launches that were measured */
    int64_t launches;   /* launches in the run: at least those */
    int64_t total_ns;   /* of all launches in the run; UNKNOWN */
    double share_ratio; /* of the time of all kernels in the run; NAN */
    struct metric_stat metrics[METRIC_COUNT];
    double stalls[STALL_COUNT]; /* share of resident warps' time; NAN */
    enum stall_source stall_source;
    enum stall top_stall;   /* largest that is a stall; STALL_NONE */
    double occupancy_ratio; /* theoretical; NAN */
    unsigned limiters;      /* bit 1 << enum occupancy_limit: all that equal the least; 0 not known */
    double waves;           /* blocks ÷ blocks that fit at once; NAN */
    struct roofline roofline;
    enum bound bound;
    enum memory_level level;               /* of BOUND_MEMORY */
    double bound_ratio;                    /* how busy that is; NAN */
    unsigned undecided;                    /* bit 1 << enum undecided */
    uint32_t first_line, line_count;       /* report->lines: most samples first */
    uint32_t first_counter, counter_count; /* report->counters */
    VEC(struct finding) findings;          /* most saved first */
};

/* ---- what changed between two measurements (changes.h) --------------------------------------------------
 */

struct metric_change {
    enum metric id;
    double before, after;
    double change_ratio; /* after ÷ before − 1; of ratios that were 0, the difference */
};

struct finding_change {
    const char *id;
    bool came; /* else it went */
};

/* A kernel before and after. */
struct profile_change {
    uint32_t before, after; /* report->baseline->profiles, report->profiles; NONE: it is not there */
    const char *name;
    int64_t before_ns, after_ns; /* of a launch on average; UNKNOWN */
    int64_t before_total_ns, after_total_ns;
    double change_ratio; /* of a launch: after ÷ before − 1; NAN */
    double noise_ratio;  /* smaller changes say nothing; NAN */
    bool is_noise;
    const char *before_finding, *after_finding; /* ids of the first ones; NULL */
    /* Only what is more than noise, largest change first. */
    uint32_t first_metric, metric_count;   /* report->metric_changes */
    uint32_t first_finding, finding_count; /* report->finding_changes */
    VEC(struct msg) notes;                 /* what makes the two hard to compare, or explains the change */
};

struct report {
    const struct run *run;
    struct arena arena;
    struct interval window;
    bool narrowed; /* the window or the device was chosen by the user */
    VEC(struct device_report) devices;
    VEC(struct gap_piece) gaps;
    VEC(struct culprit_row) culprits;
    VEC(struct kernel_row) kernels;
    VEC(struct copy_row) copies;
    VEC(struct call_row) calls;
    struct launch_stats launches;
    VEC(struct operator_row) operators;
    struct step_report steps;
    VEC(struct stream_row) streams;
    VEC(struct concurrency_report) concurrency;
    VEC(struct memory_report) memory;
    VEC(struct comm_row) comms;
    VEC(struct rank_row) ranks;
    VEC(struct amdahl_report) amdahl;
    /* Best first; findings.at[0] is "the answer". With steady they are about that part alone. */
    VEC(struct finding) findings;
    struct report *steady; /* tables of the steady part (steady.h), without findings; NULL: not told apart */
    VEC(struct code_row)
    codes; /* as asked for: by name and architecture, or by what codes_build() was told */
    VEC(struct code_site) sites;
    VEC(struct image_row) images;     /* in the order of their names; empty unless a GPU was asked for */
    VEC(struct profile_row) profiles; /* most time first; filled by profiles_build() alone */
    VEC(struct hot_line) lines;
    VEC(struct raw_counter) counters;   /* by profile row; only where they were asked for */
    const struct report *baseline;      /* that changes are from; NULL */
    VEC(struct profile_change) changes; /* largest change of total time first; filled by changes_build() */
    VEC(struct metric_change) metric_changes;
    VEC(struct finding_change) finding_changes;
};

/* Narrows what is analysed. Zeroed: everything. */
struct report_options {
    bool has_from, has_to;
    int64_t from_ns, to_ns; /* on the run's clock */
    bool has_device;
    int64_t device; /* the source's number */
};

/* Fills report (release it with report_release()). The run must be sealed and outlive the report. */
void report_build(struct report *report, const struct run *run, const struct report_options *options);
void report_release(struct report *report);

#endif

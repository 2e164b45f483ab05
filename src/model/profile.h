/* What is known about the inside of kernels: their code, as a binary holds it, and what counters said of
 * their launches.
 *
 * Counters keep the name that their source gives them ("dram__bytes_read.sum", "gld_efficiency"); what they
 * mean, and which of them are the same quantity, is the analysis's business. Values are in base units: bytes,
 * seconds become ns, ratios and percent stay as the unit says. */
#ifndef WARPLIGHT_MODEL_PROFILE_H
#define WARPLIGHT_MODEL_PROFILE_H

#include <stdint.h>

#include "model/table.h"

/* One profiled launch; or several equal ones of which the source gives the mean. */
struct kernel_profile {
    uint32_t source;        /* run->sources */
    uint32_t device;        /* run->devices; NONE */
    uint32_t process;       /* run->processes; NONE */
    uint32_t name;          /* as the source spells it, mangled or not */
    uint32_t mangled;       /* text: as the linker knows it; 0 where the source does not say */
    uint32_t shape;         /* run->shapes; NONE */
    uint32_t code;          /* run->codes: the machine code that ran; NONE */
    uint32_t image;         /* run->images: the machine code that came with the recording; NONE */
    uint32_t graph_kernels; /* of a CUDA graph that was measured as a whole: kernels in it; 0 no graph, or not
                               known */
    uint32_t range;         /* text: the range that the launch was in, outermost first, joined by '/'; 0 */
    int64_t launch;         /* number in its source, from 0; UNKNOWN */
    int64_t launches;       /* how many launches the values stand for, at least 1 */
    int64_t measured;       /* of them; 0: all */
};

enum counter_state {
    COUNTER_VALUE,         /* there is a value */
    COUNTER_UNSUPPORTED,   /* not on this chip */
    COUNTER_NO_PERMISSION, /* counters are locked */
    COUNTER_NOT_MEASURED,  /* the source was not asked for it, or could not tell: "n/a" */
    COUNTER_IMPLAUSIBLE,   /* measured, and cannot be: a hit rate of 171 %, a NaN */
    COUNTER_UNDEFINED,     /* a share of nothing: sectors per request of a kernel without requests */
};

/* Counters of a whole launch. The same name stands once for a profile. Where a source shows labels in place
 * of names, a counter is called "section/label". */
#define RUN_COUNTERS(X)                                                                                      \
    X(uint32_t, profile) /* run->profiles */                                                                 \
    X(uint32_t, name)    /* text */                                                                          \
    X(uint32_t, unit) /* text: "byte", "ns", "%", "cycle", "byte/s", … in base units; 0 a plain number */  \
    X(double, value)  /* of COUNTER_VALUE and COUNTER_IMPLAUSIBLE */                                         \
    X(uint8_t, state) /* enum counter_state */
TABLE_DECLARE(counter_table, RUN_COUNTERS)

/* A place in code: a source line, an instruction, or both. */
#define RUN_PLACES(X)                                                                                        \
    X(uint32_t, code)     /* run->codes; NONE where only the source is known */                              \
    X(uint32_t, image)    /* run->images: the machine code that pc is in; NONE: that of the profile */       \
    X(uint32_t, file)     /* text; 0 not known */                                                            \
    X(uint32_t, line)     /* from 1; 0 not known */                                                          \
    X(uint32_t, function) /* text: the function that the line is in; 0 not known */                          \
    X(uint32_t, inlined)  /* run->places: the call that this was inlined into; NONE */                       \
    X(uint32_t, sass)     /* text: the instruction, disassembled; 0 not known */                             \
    X(uint64_t, pc)       /* bytes from the start of the kernel; UINT64_MAX not known */
TABLE_DECLARE(place_table, RUN_PLACES)

/* Counters of a place, e.g. samples by stall reason, sectors, executed instructions; with profile NONE what
 * the code itself says of a place, e.g. bytes spilled there. */
#define RUN_PLACE_COUNTERS(X)                                                                                \
    X(uint32_t, profile) /* run->profiles; NONE */                                                           \
    X(uint32_t, place)   /* run->places */                                                                   \
    X(uint32_t, name)    /* text */                                                                          \
    X(double, value)
TABLE_DECLARE(place_counter_table, RUN_PLACE_COUNTERS)

/* What the tool that measured said of a launch itself: its own rules and their estimates. */
enum advice_kind { ADVICE_INFO, ADVICE_OPTIMIZE, ADVICE_WARNING, ADVICE_ERROR };

struct advice {
    uint32_t profile; /* run->profiles */
    uint32_t rule;    /* text: identifier, "SOLBottleneck"; 0 not known */
    uint32_t section; /* text: as the source names it, title or identifier */
    uint32_t text;    /* in the language of the tool */
    enum advice_kind kind;
    double speedup_ratio;     /* of the run time, or of what the section is about; NAN where it gives none */
    uint8_t is_local_speedup; /* of what the section is about */
};

/* Machine code (an ELF) and source files that a recording brought along. */
struct code_image {
    uint32_t source; /* run->sources */
    uint32_t bytes;  /* text, which may hold any byte */
    int64_t id;      /* the source's own number */
};

struct source_file {
    uint32_t source;
    uint32_t path, text;
};

/* A kernel in a binary, for one architecture. UNKNOWN where the binary does not say.
 *
 * Local memory is what a thread spills, arrays that no register can hold, and registers that a called
 * function saves. place_counters of a code (profile NONE) say where: "spill_store_bytes", "spill_load_bytes",
 * "local_store_bytes", "local_load_bytes", of one thread that runs each instruction once. */
struct kernel_code {
    uint32_t source;
    uint32_t name;       /* mangled */
    uint32_t demangled;  /* equal to name where that is not mangled */
    uint32_t container;  /* text: path of the file, and of what in it holds the code */
    uint32_t toolkit;    /* text: assembler version and options; 0 */
    int32_t sm;          /* 90 for sm_90; 0 not known */
    uint8_t is_ptx;      /* no machine code: the driver compiles it for its GPU */
    uint8_t is_specific; /* runs on this architecture alone: sm_90a */
    uint8_t is_family;   /* runs on this family: sm_100f */
    uint8_t is_object;   /* not linked yet: what it calls in other files is not counted */
    uint8_t has_lines;   /* there is a line table (-lineinfo, -G) */
    int64_t registers_per_thread;
    int64_t static_shared_bytes;   /* without what the architecture reserves */
    int64_t dynamic_shared_bytes;  /* that its launcher asks for */
    int64_t reserved_shared_bytes; /* for each block */
    int64_t barriers;
    int64_t stack_bytes; /* frame of a thread */
    int64_t parameter_bytes;
    int64_t max_threads_per_block;               /* of its launch bounds */
    int64_t min_blocks_per_sm;                   /* of its launch bounds; only PTX says */
    int64_t required_block[3];                   /* of __block_size__, .reqntid or its launcher; UNKNOWN */
    int64_t cluster[3];                          /* blocks, of __cluster_dims__; UNKNOWN */
    int64_t spill_store_bytes, spill_load_bytes; /* of a thread; UNKNOWN: spills and other local memory cannot
                                                    be told apart, and local_* are all of it */
    int64_t local_store_bytes, local_load_bytes; /* local memory that is no spill */
    int64_t code_bytes;
};

#endif

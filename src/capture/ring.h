/* What the injected library and the collector share: one file a process, mapped by both.
 *
 * CUPTI writes its activity buffers straight into the slots of this file, so that a target that is killed
 * loses only what the driver had not handed over, and everything else — decoding, encoding, compressing —
 * happens in the collector. The library never waits for the collector: when no slot is free, records are
 * dropped and counted.
 *
 * Ownership of a slot follows its state: FREE (library may lend it to CUPTI) → LENT (CUPTI writes) → FULL
 * (collector reads, zeroes and frees it). A slot is all zero when it is lent, so that after the target's
 * death the collector can read the complete records of LENT slots too. Only slots that have memory behind
 * them are lent: the file starts as one hole, and where its disk is full a touch would be a fatal signal.
 *
 * Texts (names of kernels and API calls) live in the target's memory; the library appends each once to an
 * append-only log, keyed by its address there.
 *
 * This header needs nothing but libc: both sides of the fence include it. */
#ifndef WARPLIGHT_CAPTURE_RING_H
#define WARPLIGHT_CAPTURE_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define RING_MAGIC "WLRING\n"
/* Times beyond are nonsense, and would overflow in sums. */
#define RING_LATEST_NS (INT64_MAX / 4)

enum {
    RING_VERSION = 6,
    RING_SLOTS = 32,
    RING_SLOT_BYTES = 2 << 20,
    RING_TEXT_BYTES = 16 << 20,
    RING_KINDS = 72, /* CUPTI activity kinds that records can have, and our own */
    RING_MESSAGE_BYTES = 512,
    RING_HEADER_BYTES = 16 << 10,
};

enum ring_state {
    RING_STARTING,
    RING_RECORDING,
    RING_PAUSED,
    RING_FINISHED, /* the process left in good order: everything was flushed */
    RING_FAILED,   /* nothing is recorded; message says why. A pause and a start try once more */
};

/* What the collector asks for, any number of times. RING_PAUSE: hand everything over and record no more until
 * RING_RECORD. RING_STOP is final. */
enum ring_wanted { RING_RECORD, RING_PAUSE, RING_STOP };

enum ring_slot_state {
    RING_SLOT_FREE,
    RING_SLOT_LENT,
    RING_SLOT_FULL,
    RING_SLOT_BACKING /* the library is getting memory for it, and holds it: what lies there is nothing */
};

struct ring_slot {
    _Atomic uint32_t state; /* enum ring_slot_state */
    _Atomic uint32_t lent;  /* how often it was, and how often it came back */
    uint64_t valid_bytes;   /* of a FULL slot */
    uint64_t text_bytes;    /* of the text log when it became FULL: addresses mean what was logged by then */
};

enum ring_text_kind {
    RING_TEXT_POINTER,  /* key: address of the text in the target, as records name it */
    RING_TEXT_RUNTIME,  /* key: callback id of a CUDA runtime call */
    RING_TEXT_DRIVER,   /* key: callback id of a CUDA driver call */
    RING_TEXT_HASH,     /* key: hash of the text, for names whose address means nothing */
    RING_TEXT_THREAD,   /* key: thread, as the kernel numbers it */
    RING_TEXT_CATEGORY, /* key: ring_category_key() */
    RING_TEXT_SCHEMA,   /* key: ring_schema_key(); struct ring_schema rather than a text */
};

/* Besides CUPTI's records, slots hold the library's own, in the place of CUPTI activity kinds; CUPTI's end at
 * 59 in CUDA 13.5. First, NVTX ranges that have ended, and marks. */
enum { RING_PAYLOAD_RANGE = 60, RING_MARK = 62, RING_RANGE = 63 };
/* As NVTX numbers what a payload is (nvtxPayloadType_t). */
enum ring_payload {
    RING_PAYLOAD_NONE,
    RING_PAYLOAD_UINT64,
    RING_PAYLOAD_INT64,
    RING_PAYLOAD_DOUBLE,
    RING_PAYLOAD_UINT32,
    RING_PAYLOAD_INT32,
    RING_PAYLOAD_FLOAT,
};
struct ring_range {
    uint32_t kind; /* RING_RANGE */
    uint32_t thread;
    int64_t start, end;    /* CLOCK_REALTIME, ns; of a mark, only start */
    uint64_t name;         /* RING_TEXT_HASH keys */
    uint64_t domain;       /* 0: the default domain */
    uint32_t category;     /* 0 none */
    uint32_t payload_type; /* enum ring_payload */
    uint64_t payload;      /* its bits */
    uint32_t end_thread;   /* of a range that need not nest, else 0 */
    uint32_t unused;
};
/* A range with a payload that a schema describes. */
enum { RING_PAYLOAD_BYTES = 48, RING_SCHEMA_ENTRIES = 16 };
struct ring_payload_range {
    struct ring_range range; /* kind: RING_PAYLOAD_RANGE */
    uint64_t schema;         /* RING_TEXT_SCHEMA key */
    uint32_t bytes, unused;
    uint8_t data[RING_PAYLOAD_BYTES];
};

/* Ranges that have begun live in the file as well: a target that dies leaves them there. */
enum ring_open_state { RING_OPEN_FREE, RING_OPEN_TAKEN /* being written or read */, RING_OPEN_BEGUN };
struct ring_open {
    _Atomic uint32_t state;
    uint32_t number; /* how often it was taken */
    struct ring_payload_range range;
};
enum { RING_OPEN_RANGES = 2048, RING_OPEN_BYTES = 68 * 4096 };
_Static_assert(RING_OPEN_RANGES * sizeof(struct ring_open) <= RING_OPEN_BYTES, "they have their own pages");

/* And PyTorch's operators. */
enum { RING_OP = 61 };
/* As PyTorch numbers them (at::RecordScope). */
enum ring_op_scope { RING_OP_FUNCTION = 0, RING_OP_BACKWARD = 1, RING_OP_SCRIPT = 2, RING_OP_USER = 7 };
struct ring_op {
    uint32_t kind; /* RING_OP */
    uint32_t thread;
    int64_t start, end; /* CLOCK_REALTIME, ns */
    uint64_t name;      /* RING_TEXT_HASH key */
    uint32_t scope;     /* enum ring_op_scope */
    uint32_t unused;
};

/* What an NVTX payload holds: entries of which only numbers are kept, in the order of the schema. */
struct ring_schema_entry {
    uint32_t offset;
    uint16_t bytes; /* 1, 2, 4 or 8 */
    uint8_t is_signed, is_float;
    char name[40];
};
struct ring_schema {
    uint32_t count, unused;
    struct ring_schema_entry entries[RING_SCHEMA_ENTRIES];
};

static inline uint64_t ring_category_key(uint64_t domain, uint32_t category)
{
    return domain ^ ((uint64_t)category + 1) * 0x9e3779b97f4a7c15u;
}
static inline uint64_t ring_schema_key(uint64_t domain, uint64_t schema)
{
    return domain ^ (schema + 1) * 0xbf58476d1ce4e5b9u;
}

/* And where warps were, by instruction and by reason why they did not go on. */
enum { RING_PC = 66, RING_PC_AT_ONCE = 13 };
struct ring_pc {
    uint32_t kind; /* RING_PC */
    uint32_t count;
    uint64_t function; /* RING_TEXT_HASH keys, as the names */
    uint64_t cubin;    /* as CUPTI hashes it */
    uint64_t pc;       /* bytes from the start of the function */
    struct {
        uint64_t name;
        uint64_t samples;
    } at[RING_PC_AT_ONCE];
};

/* And what several passes will count on a chip, before the first of them. */
enum { RING_PLAN = 67 };
struct ring_plan {
    uint32_t kind; /* RING_PLAN */
    uint32_t counters, passes, unused;
    char chip[32]; /* ends with a zero */
};

/* And launches whose counters were measured, each followed by RING_COUNTERS of the same thread. */
enum { RING_LAUNCH = 64, RING_COUNTERS = 65, RING_COUNTERS_AT_ONCE = 14 };
enum ring_launch_flags {
    RING_LAUNCH_COOPERATIVE = 1,
    RING_LAUNCH_TOTAL = 2,   /* no launch: at the end, how many there were of a kernel; number says it */
    RING_LAUNCH_GRAPH = 4,   /* of a CUDA graph, which was measured as a whole */
    RING_LAUNCH_ALONE = 8,   /* total of what was never measured: it waits for other GPUs */
    RING_LAUNCH_OTHERS = 16, /* total of all kernels that are too many to be told apart; it has no name */
    RING_LAUNCH_MISSED = 32, /* total of kernels that came only while others had the counters; as OTHERS */
};
struct ring_launch {
    uint32_t kind; /* RING_LAUNCH */
    uint32_t device;
    uint64_t name;   /* RING_TEXT_HASH key */
    int64_t number;  /* of the launch in its process, from 0 */
    uint64_t stream; /* handle */
    uint32_t context;
    uint32_t grid[3], block[3];
    uint32_t registers_per_thread, static_shared_bytes, dynamic_shared_bytes, local_bytes_per_thread;
    uint32_t flags;    /* enum ring_launch_flags */
    uint32_t counters; /* that follow */
    uint32_t kernels;  /* in a graph; 0 not known */
};
struct ring_counters {
    uint32_t kind; /* RING_COUNTERS */
    uint32_t count;
    int64_t number; /* of the launch */
    struct {
        uint64_t name; /* RING_TEXT_HASH key */
        double value;
    } at[RING_COUNTERS_AT_ONCE];
};

/* Followed by length bytes and zeros up to a multiple of 8. */
struct ring_text {
    uint64_t key;
    uint32_t kind;
    uint32_t length;
};

struct ring {
    char magic[8];
    uint32_t version;
    int32_t pid;
    _Atomic uint32_t state;
    uint32_t cupti_version;  /* as cuptiGetVersion() says, 0 unknown */
    uint32_t driver_version; /* as cuDriverGetVersion() says, 0 unknown */
    _Atomic uint32_t wanted; /* enum ring_wanted, set by the collector; a futex that it wakes */
    /* One moment on both clocks, taken at every start: CUPTI's timestamps and CLOCK_REALTIME, ns. */
    _Atomic int64_t cupti_ns, realtime_ns;
    _Atomic uint32_t taken_over; /* another profiler in the process gets CUPTI's buffers since some moment */
    _Atomic uint64_t records;    /* seen in completed buffers */
    _Atomic uint64_t dropped_by_cupti; /* what CUPTI said it dropped */
    _Atomic uint64_t dropped_here;     /* no slot was free */
    _Atomic uint64_t dropped_texts;    /* the log was full */
    _Atomic uint64_t text_used;        /* bytes of the log that are complete */
    /* Size of a record of each kind in this version of CUPTI, 0 not known. */
    _Atomic uint32_t record_bytes[RING_KINDS];
    char cupti_path[RING_MESSAGE_BYTES];
    /* Why not everything is recorded: an English sentence of the library, translated when printed, and what
     * stands for {0} in it. */
    char message[RING_MESSAGE_BYTES];
    char detail[RING_MESSAGE_BYTES];
    struct ring_slot slots[RING_SLOTS];
};

_Static_assert(sizeof(struct ring) <= RING_HEADER_BYTES, "the header has its own pages");

enum {
    RING_TEXT_AT = RING_HEADER_BYTES,
    RING_OPEN_AT = RING_TEXT_AT + RING_TEXT_BYTES,
    RING_SLOTS_AT = RING_OPEN_AT + RING_OPEN_BYTES
};
#define RING_FILE_BYTES ((int64_t)RING_SLOTS_AT + (int64_t)RING_SLOTS * RING_SLOT_BYTES)

static inline char *ring_text_log(struct ring *ring)
{
    return (char *)ring + RING_TEXT_AT;
}
static inline struct ring_open *ring_open(struct ring *ring, int number)
{
    return (struct ring_open *)((char *)ring + RING_OPEN_AT) + number;
}
static inline uint8_t *ring_slot_data(struct ring *ring, int slot)
{
    return (uint8_t *)ring + RING_SLOTS_AT + (int64_t)slot * RING_SLOT_BYTES;
}
static inline uint64_t ring_text_size(uint32_t length)
{
    return sizeof(struct ring_text) + (((uint64_t)length + 7) & ~7ull);
}

/* Beside its ring a process leaves the machine code that it loads, where instructions are sampled, in files
 * PID-CRC.cubin: CRC is what samples call it (ring_pc.cubin), in decimal. */
enum { RING_CUBINS_BYTES = 256 << 20 }; /* of a process */

/* How `record` tells the library where to write: a folder in which every process makes PID-MOMENT.ring. Where
 * it cannot, it leaves a symbolic link PID-MOMENT.failed to a sentence that says why: that needs no space and
 * heeds no limit on the size of files. */
#define RING_ENV_DIR "WARPLIGHT_RECORD_DIR"
/* An empty file there that every process with a ring has mapped, and its children until they exec: these give
 * the ring up, and say nothing because they have nothing to say. */
#define RING_FAMILY "family"
/* What to record besides the usual: words of the table in inject/options.c, separated by commas. */
#define RING_ENV_OPTIONS "WARPLIGHT_RECORD_OPTIONS"
/* A library that was named in CUDA_INJECTION64_PATH before and is loaded after ours. */
#define RING_ENV_CHAIN "WARPLIGHT_CHAIN_INJECTION"

#endif

/* Columns as data: where a cell lies in its row, what it is called for machines and for people, what it means
 * when it is unknown. Text, JSON and CSV are generic printers over these. */
#ifndef WARPLIGHT_VIEW_COLUMNS_H
#define WARPLIGHT_VIEW_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/report.h"

enum cell_kind {
    CELL_UNKNOWN,
    CELL_VALUE,   /* value */
    CELL_BOOL,    /* yes */
    CELL_TRIPLE,  /* triple: a grid or block */
    CELL_DEVICE,  /* index: run->devices; its number for machines, a label for people */
    CELL_THREAD,  /* index: run->threads; the same */
    CELL_PATH,    /* path: names from the outermost to the innermost, NULL where absent */
    CELL_MSG,     /* msg */
    CELL_VERSION, /* version: major, minor */
};

enum { PATH_LENGTH = 4 };

struct cell {
    enum cell_kind kind;
    union {
        struct value value;
        bool yes;
        uint32_t triple[3];
        uint32_t index;
        const char *path[PATH_LENGTH];
        const struct msg *msg;
        int32_t version[2];
    };
};

enum column_type {                   /* the C type at offset, and what it means */
                   COLUMN_COUNT,     /* int64_t */
                   COLUMN_INT32,     /* int32_t */
                   COLUMN_ID,        /* int64_t: a number that names something */
                   COLUMN_NS,        /* int64_t */
                   COLUMN_BYTES,     /* int64_t */
                   COLUMN_MOMENT,    /* int64_t ns on the run's clock */
                   COLUMN_RATIO,     /* double */
                   COLUMN_NUMBER,    /* double */
                   COLUMN_RATE,      /* double, bytes per second */
                   COLUMN_BOOL,      /* bool */
                   COLUMN_STRING,    /* uint32_t: run->strings; 0 is unknown */
                   COLUMN_KERNEL,    /* uint32_t: run->strings, a kernel's full name, shortened for people */
                   COLUMN_LITERAL,   /* const char * for machines and people alike */
                   COLUMN_TERM,      /* const char *: a msgid, translated for people */
                   COLUMN_MSG,       /* struct msg */
                   COLUMN_DEVICE,    /* uint32_t: run->devices */
                   COLUMN_THREAD,    /* uint32_t: run->threads */
                   COLUMN_OP_NAME,   /* uint32_t: run->ops */
                   COLUMN_SPAN_NAME, /* uint32_t: run->spans */
                   COLUMN_GET,       /* get() fills the cell */
};

enum column_flags {
    COLUMN_MACHINE = 1,   /* not for people: JSON and CSV only */
    COLUMN_PEOPLE = 2,    /* not for machines: text only */
    COLUMN_NO_JSON = 4,   /* JSON nests it otherwise */
    COLUMN_FLEXIBLE = 8,  /* text that may be cut to fit */
    COLUMN_BAR = 16,      /* a ratio that people see as a bar as well */
    COLUMN_POSITIVE = 32, /* an integer that is unknown unless > 0 */
    COLUMN_RIGHT = 64,    /* flush right although its type does not say so */
};

struct column {
    const char *key;   /* fixed name for machines, with its unit */
    const char *title; /* msgid; NULL with COLUMN_MACHINE */
    enum column_type type;
    size_t offset;
    unsigned flags;
    int rank; /* for people: 0 stays always, 1 is in the overview, the highest goes first where space is short
               */
    const char *why; /* English: why the value can be unknown; NULL: it never is */
    void (*get)(const struct report *report, const void *row, struct cell *cell);
};

#define COLUMN_END                                                                                           \
    {                                                                                                        \
        .key = NULL                                                                                          \
    }

/* Fills the cell of a row. */
void column_cell(const struct column *column, const struct report *report, const void *row,
                 struct cell *cell);
/* Whether people read it best flush right. */
bool column_is_number(const struct column *column);

struct cell_style {
    bool translate;
    bool full_names; /* kernels as recorded */
    int width;       /* kernel names and paths are shortened to it; 0: no limit but a readable length */
};

/* Appends the cell as people read it, "—" where unknown. The result holds no control characters, whatever the
 * recording held. */
void cell_text(struct str *out, const struct cell *cell, const struct report *report,
               const struct cell_style *style);

/* "GPU 0", and "GPU 0 (trace-1.json)" where several devices have that number. */
void device_label(struct str *out, const struct report *report, uint32_t device);
/* Thread name and number; the process too where there are several. */
void thread_label(struct str *out, const struct report *report, uint32_t thread);
/* Row of report->devices that speaks of run->devices row `device`, or −1. */
int64_t device_row(const struct report *report, uint32_t device);

#endif

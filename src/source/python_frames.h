/* Stacks of Python threads of another process, read while it runs.
 *
 * The interpreter is not stopped, so what is read may change under the reader. Everything is checked: a frame
 * counts only if it leads to what calls itself a code object and has a sane file, name and line. A stack that
 * fails is given up; another sample comes soon. */
#ifndef WARPLIGHT_SOURCE_PYTHON_FRAMES_H
#define WARPLIGHT_SOURCE_PYTHON_FRAMES_H

#include "base/hash.h"
#include "base/intern.h"
#include "base/vec.h"
#include "source/python_layout.h"

enum {
    PYTHON_WALK_MAX = 16384, /* frames of one stack: a longer chain is a cycle, or is given up */
    PYTHON_STACK_MAX =
        128, /* frames that are kept: the outermost ones, and the innermost in the last place */
};

struct python_frame {
    uint32_t name; /* "FILE(FIRST LINE): FUNCTION", as torch.profiler spells it; id in the reader's texts */
    uint32_t file; /* id of its file */
    uint32_t line; /* that is running; 0 unknown */
};

struct python_stack {
    size_t count;
    struct python_frame frames[PYTHON_STACK_MAX]; /* outermost first */
};

/* A code object that was read. */
struct python_code {
    uint64_t filename, qualname, linetable; /* the objects that it led to: others mean that it is another */
    uint32_t first_line;
    uint32_t name, file; /* ids of texts */
    unsigned char *table;
    uint32_t table_length;
    uint32_t last_instruction, last_line; /* what was looked up last */
};

struct python_reader {
    struct remote_memory *memory;
    struct python_layout layout;
    struct intern *texts;
    struct map by_address; /* of a code object → codes */
    VEC(struct python_code) codes;
    size_t table_bytes; /* of all line tables */
};

enum python_read {
    PYTHON_READ,
    PYTHON_NO_THREAD, /* no Python thread of that id, or it runs no Python code */
    PYTHON_TORN,      /* changed while it was read, or damaged */
};

/* memory and texts are the caller's and must outlive the reader. */
void python_reader_init(struct python_reader *r, struct remote_memory *memory,
                        const struct python_layout *layout, struct intern *texts);
/* Reads the stack of the thread with that native id. *state remembers where the interpreter keeps it: 0 at
 * first, and again after PYTHON_NO_THREAD. */
enum python_read python_reader_stack(struct python_reader *r, uint32_t tid, uint64_t *state,
                                     struct python_stack *stack);
void python_reader_release(struct python_reader *r);

/* The line of an instruction (counted in code units) in a location table (PEP 626; CPython's
 * Objects/locations.md); 0 if the table does not say. */
uint32_t python_line(const unsigned char *table, size_t length, uint32_t first_line, uint32_t instruction);

#endif

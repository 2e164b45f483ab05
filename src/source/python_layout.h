/* Where CPython 3.11 to 3.14 keeps the stacks of its threads in memory.
 *
 * From 3.13 on the interpreter says it itself, in a table at the start of _PyRuntime that is made for tools
 * like this one (Include/internal/pycore_runtime.h of 3.13, pycore_debug_offsets.h of 3.14). For 3.11
 * and 3.12 the offsets are those of the structures in their own headers (64-bit builds without Py_DEBUG; they
 * did not change within a minor version). */
#ifndef WARPLIGHT_SOURCE_PYTHON_LAYOUT_H
#define WARPLIGHT_SOURCE_PYTHON_LAYOUT_H

#include "source/remote_memory.h"

/* Offsets in bytes within the named structure. */
struct python_layout {
    uint32_t version;   /* as PY_VERSION_HEX */
    uint64_t runtime;   /* address of _PyRuntime */
    uint64_t code_type; /* address of PyCode_Type: every code object points to it */
    uint32_t runtime_interpreters;
    uint32_t interpreter_next, interpreter_threads;
    uint32_t thread_next, thread_native_id, thread_frame;
    uint32_t cframe_frame; /* 3.11, 3.12: thread_frame leads to a struct with the frame here; else NONE */
    uint32_t frame_previous, frame_code, frame_instruction, frame_owner;
    uint32_t
        first_internal_owner; /* frames with this owner or a higher one belong to the interpreter itself */
    uint32_t code_filename, code_qualname, code_linetable, code_firstlineno, code_instructions;
    uint32_t object_type;
    uint32_t bytes_size, bytes_data;
    uint32_t text_state, text_length, text_ascii_data, text_data; /* text_data: of what is not ASCII */
    uint32_t text_kind_bit;                                       /* first bit of the kind in the state */
};

enum python_found {
    PYTHON_ABSENT, /* the image holds no interpreter */
    PYTHON_FOUND,
    PYTHON_UNKNOWN, /* an interpreter of a version that is not known here */
};

/* Looks at the ELF image mapped at start, and fills l if it is an interpreter; of PYTHON_UNKNOWN, only
 * l->version. */
enum python_found python_layout_find(struct python_layout *l, struct remote_memory *m, uint64_t start);

#endif

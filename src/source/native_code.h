/* What the samples of a process's threads (source/perf_samples.h) say: the mappings of its code, whose code
 * it is, and the names of its functions.
 *
 * Names are "OBJECT: FUNCTION", OBJECT being the last part of the mapped file's path and FUNCTION as the
 * linker knows it; "OBJECT+0xADDRESS" where a function has no name, with the address at which it begins in
 * the file; and "generated code" for what no file is mapped for.
 *
 * The program's own code is its executable and what lies in the same tree of folders. Where other code runs
 * (libc, a codec, the driver), the function of its own that the program is in is found by the nearest word
 * on the stack that is a return address into own code: it lies in code and follows a call. That needs
 * neither frame pointers nor tables, but a word that an earlier call left behind can pass for one. */
#ifndef WARPLIGHT_SOURCE_NATIVE_CODE_H
#define WARPLIGHT_SOURCE_NATIVE_CODE_H

#include "base/hash.h"
#include "base/intern.h"
#include "base/vec.h"
#include "source/perf_samples.h"
#include "source/remote_memory.h"

/* A range of addresses of an object that is one function, or has none. */
struct native_range {
    uint64_t start, end; /* offsets in the file */
    uint32_t name;
};

struct native_object {
    char *path;
    uint64_t inode;
    uint64_t image; /* where its first page is mapped; 0 nowhere */
    bool own;       /* of the program itself */
    bool telltale;  /* the CUDA driver, this tool's library or a Python interpreter: calls and frames that are
                       recorded say better what runs there */
    bool mapped;    /* still */
    VEC(struct native_range) ranges;
};

struct native_mapping {
    uint64_t start, end, offset;
    uint32_t object; /* NONE: generated code */
};

struct native_code {
    int folder; /* /proc/PID; the caller's */
    struct remote_memory *memory;
    struct intern *texts;
    VEC(struct native_mapping) mappings; /* executable ones, by address */
    VEC(struct native_object) objects;
    struct map by_address; /* of an instruction → name */
    uint64_t seen;         /* hash of the mappings */
    int64_t read_at;
    uint32_t generated;
};

/* What runs: names in the texts, 0 none. */
struct native_frame {
    uint32_t function;  /* of the program's own code if it can be told, else the innermost */
    uint32_t inside;    /* the innermost one, if that is another */
    bool around_driver; /* the innermost one is the CUDA driver's */
};

/* folder, memory and texts are the caller's and must outlive it. */
void native_code_init(struct native_code *c, int folder, struct remote_memory *memory, struct intern *texts);
void native_code_release(struct native_code *c);
/* The process runs another program. */
void native_code_forget(struct native_code *c);
/* now: ns of any steady clock; mappings are read anew at most ten times and at least once a second. */
struct native_frame native_code_frame(struct native_code *c, const struct perf_sample *sample, int64_t now);

#endif

/* Fatbins: machine code and PTX for several architectures, as nvcc puts them into a program's section
 * .nv_fatbin. Layout: doc/formats/cubin.md. */
#ifndef WARPLIGHT_SYMBOL_FATBIN_H
#define WARPLIGHT_SYMBOL_FATBIN_H

#include "base/str.h"
#include "symbol/elf.h"

enum fatbin_kind {
    FATBIN_PTX = 1,
    FATBIN_CUBIN = 2,
    FATBIN_NVVM = 8, /* intermediate code for link-time optimisation; other kinds exist */
};

enum fatbin_compression { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

struct fatbin_entry {
    uint16_t kind; /* enum fatbin_kind, or another number */
    uint32_t sm;   /* 90 */
    bool is_specific, is_family;
    enum fatbin_compression compression;
    struct bytes payload; /* as it lies there */
    uint64_t full_size;   /* of the payload, decompressed */
    struct bytes name;    /* of the source file; may be empty */
};

/* A walk over the entries of all containers in data, which may have other bytes between them. */
struct fatbin_walk {
    struct bytes data;
    bool is_search;   /* data is of anything: only whole containers of a known layout are taken for one */
    uint64_t at, end; /* next entry and the end of its container; at == end: look for the next container */
    uint64_t damaged; /* containers that end before their last entry does */
};

/* Zeroed except data and is_search before the first call. */
bool fatbin_next(struct fatbin_walk *walk, struct fatbin_entry *entry);
bool fatbin_is(struct bytes data);

/* Where a program or library has fatbins: in nvcc's own sections, and in data, from where libraries load
 * code by themselves (cuFFT). */
enum fatbin_place { FATBIN_NOWHERE, FATBIN_SECTION, FATBIN_DATA };
enum fatbin_place fatbin_place(const struct elf_section *section);
/* The walk over a section. */
struct fatbin_walk fatbin_walk_section(const struct elf *elf, const struct elf_section *section);

struct ZSTD_DCtx_s;
/* Memory that decompression uses again and again. Zeroed is valid. */
struct fatbin_buffer {
    struct ZSTD_DCtx_s *zstd;
    uint8_t *at;
    size_t size;
};

/* What the payload is, decompressed where it must be: valid until the next call with this buffer. False, with
 * an English msgid in *why, if it is damaged or asks for more memory than it can mean. */
bool fatbin_unpack(struct fatbin_buffer *buffer, const struct fatbin_entry *entry, struct bytes *out,
                   const char **why);
void fatbin_release(struct fatbin_buffer *buffer);

#endif

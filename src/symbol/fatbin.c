#include "symbol/fatbin.h"

#include <lz4.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/i18n.h"
#include "base/mem.h"

enum {
    CONTAINER_HEADER = 16,
    VERSION = 1,
    ENTRY_HEADER = 64, /* at least */
    ALIGNMENT = 8,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_SPECIFIC = 0x100000,
    FLAG_FAMILY = 0x200000,
};

/* LZ4 cannot do better than 255:1; code does not come near it with zstd either. */
enum { RATIO_MAX = 256, SIZE_SLACK = 4096, SIZE_MAX_BYTES = 1 << 30 };

static const uint8_t magic[4] = {0x50, 0xed, 0x55, 0xba};

bool fatbin_is(struct bytes data)
{
    return bytes_start_with(data, magic, sizeof magic) && data.size >= CONTAINER_HEADER;
}

/* Whether what looks like a container is one for sure: data may hold its magic by chance, or on purpose, as
 * tools that look for it do. */
static bool is_container(struct bytes data, uint64_t at, uint64_t header, uint64_t size)
{
    uint64_t first = at + header;
    return bytes_u16(data, at + 4) == VERSION && header == CONTAINER_HEADER && size >= ENTRY_HEADER &&
           bytes_have(data, first, size) && bytes_u16(data, first) != 0 &&
           bytes_u32(data, first + 4) >= ENTRY_HEADER && bytes_u32(data, first + 4) <= size;
}

/* Containers start at multiples of 8, usually where the last one ended. */
static bool next_container(struct fatbin_walk *walk)
{
    uint64_t at = (walk->at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    for (; bytes_have(walk->data, at, CONTAINER_HEADER); at += ALIGNMENT) {
        if (memcmp(walk->data.at + at, magic, sizeof magic) != 0)
            continue;
        uint64_t header = bytes_u16(walk->data, at + 6);
        uint64_t size = bytes_u64(walk->data, at + 8);
        if (header < CONTAINER_HEADER || !bytes_have(walk->data, at, header) ||
            (walk->is_search && !is_container(walk->data, at, header, size)))
            continue;
        walk->at = at + header;
        bool whole = bytes_have(walk->data, walk->at, size);
        walk->end = whole ? walk->at + size : walk->data.size;
        walk->damaged += !whole;
        return true;
    }
    walk->at = walk->end = walk->data.size;
    return false;
}

static bool read_entry(struct fatbin_walk *walk, struct fatbin_entry *entry)
{
    struct bytes container = bytes_part(walk->data, 0, walk->end);
    uint64_t header_size = bytes_u32(container, walk->at + 4);
    uint64_t size = bytes_u64(container, walk->at + 8);
    struct bytes header = bytes_part(container, walk->at, header_size);
    if (header.size < ENTRY_HEADER || !bytes_have(container, walk->at + header_size, size))
        return false;
    struct bytes payload = bytes_part(container, walk->at + header_size, size);
    uint64_t flags = bytes_u64(header, 40);
    *entry = (struct fatbin_entry){
        .kind = bytes_u16(header, 0),
        .sm = bytes_u32(header, 28),
        .is_specific = flags & FLAG_SPECIFIC,
        .is_family = flags & FLAG_FAMILY,
        .payload = payload,
        .full_size = size,
        .name = bytes_part(header, bytes_u32(header, 32), bytes_u32(header, 36)),
    };
    if (flags & (FLAG_LZ4 | FLAG_ZSTD)) {
        entry->compression = flags & FLAG_ZSTD ? FATBIN_ZSTD : FATBIN_LZ4;
        entry->full_size = bytes_u64(header, 56);
        /* The payload is padded; both decoders want its exact end. */
        entry->payload = bytes_part(payload, 0, bytes_u32(header, 16));
    }
    walk->at += header_size + size;
    return true;
}

bool fatbin_next(struct fatbin_walk *walk, struct fatbin_entry *entry)
{
    for (;;) {
        if (walk->at >= walk->end && !next_container(walk))
            return false;
        if (walk->at >= walk->end) /* an empty container */
            continue;
        if (read_entry(walk, entry))
            return true;
        walk->damaged++;
        walk->at = walk->end;
    }
}

enum fatbin_place fatbin_place(const struct elf_section *section)
{
    if (strcmp(section->name, ".nv_fatbin") == 0 || strcmp(section->name, "__nv_relfatbin") == 0)
        return FATBIN_SECTION;
    bool is_data =
        section->type == ELF_PROGBITS && (section->flags & (ELF_ALLOC | ELF_EXECUTABLE)) == ELF_ALLOC;
    return is_data ? FATBIN_DATA : FATBIN_NOWHERE;
}

struct fatbin_walk fatbin_walk_section(const struct elf *elf, const struct elf_section *section)
{
    /* Containers are aligned in memory, and so in the file; a section of data may begin in between. */
    bool is_search = fatbin_place(section) == FATBIN_DATA;
    uint64_t start = section->data.at ? (uint64_t)(section->data.at - elf->file.at) : 0;
    uint64_t skip = is_search ? (ALIGNMENT - start % ALIGNMENT) % ALIGNMENT : 0;
    return (struct fatbin_walk){.data = bytes_up_to(section->data, skip, section->data.size),
                                .is_search = is_search};
}

bool fatbin_unpack(struct fatbin_buffer *buffer, const struct fatbin_entry *entry, struct bytes *out,
                   const char **why)
{
    *out = entry->payload;
    if (entry->compression == FATBIN_PLAIN)
        return true;
    uint64_t packed = entry->payload.size, full = entry->full_size;
    if (packed == 0 || full > SIZE_MAX_BYTES || full > packed * RATIO_MAX + SIZE_SLACK) {
        *why = N_("compressed GPU code says that it is larger than it can be");
        return false;
    }
    if (buffer->size < full) {
        buffer->at = mem_resize(buffer->at, full, 1);
        buffer->size = full;
    }
    size_t got;
    if (entry->compression == FATBIN_LZ4) {
        int count =
            LZ4_decompress_safe((const char *)entry->payload.at, (char *)buffer->at, (int)packed, (int)full);
        got = count < 0 ? 0 : (size_t)count;
    } else {
        if (!buffer->zstd)
            buffer->zstd = ZSTD_createDCtx();
        size_t count = ZSTD_decompressDCtx(buffer->zstd, buffer->at, full, entry->payload.at, packed);
        got = ZSTD_isError(count) ? 0 : count;
    }
    if (got != full) {
        *why = N_("compressed GPU code is damaged");
        return false;
    }
    *out = (struct bytes){buffer->at, full};
    return true;
}

void fatbin_release(struct fatbin_buffer *buffer)
{
    ZSTD_freeDCtx(buffer->zstd);
    free(buffer->at);
    *buffer = (struct fatbin_buffer){0};
}

/* Bytes of a file that nobody vouches for. Every read is bounded: past the end there are zeros, and a part
 * that does not lie inside is empty. Little-endian, as all files with GPU code are. */
#ifndef WARPLIGHT_SYMBOL_BYTES_H
#define WARPLIGHT_SYMBOL_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *at;
    size_t size;
};

static inline bool bytes_have(struct bytes b, uint64_t offset, uint64_t size)
{
    return offset <= b.size && size <= b.size - offset;
}

static inline struct bytes bytes_part(struct bytes b, uint64_t offset, uint64_t size)
{
    return b.at && bytes_have(b, offset, size) ? (struct bytes){b.at + offset, size} : (struct bytes){0};
}

/* From offset on, at most size bytes. */
static inline struct bytes bytes_up_to(struct bytes b, uint64_t offset, uint64_t size)
{
    if (!b.at || offset > b.size)
        return (struct bytes){0};
    uint64_t left = b.size - offset;
    return (struct bytes){b.at + offset, size < left ? size : left};
}

static inline uint64_t bytes_uint(struct bytes b, uint64_t offset, size_t size)
{
    uint64_t value = 0;
    if (bytes_have(b, offset, size))
        memcpy(&value, b.at + offset, size);
    return value;
}
static inline uint8_t bytes_u8(struct bytes b, uint64_t offset)
{
    return (uint8_t)bytes_uint(b, offset, 1);
}
static inline uint16_t bytes_u16(struct bytes b, uint64_t offset)
{
    return (uint16_t)bytes_uint(b, offset, 2);
}
static inline uint32_t bytes_u32(struct bytes b, uint64_t offset)
{
    return (uint32_t)bytes_uint(b, offset, 4);
}
static inline uint64_t bytes_u64(struct bytes b, uint64_t offset)
{
    return bytes_uint(b, offset, 8);
}

/* The NUL-terminated text at offset; "" if it does not end inside. Lives as long as the bytes. */
static inline const char *bytes_text(struct bytes b, uint64_t offset)
{
    if (offset >= b.size || !memchr(b.at + offset, '\0', b.size - offset))
        return "";
    return (const char *)b.at + offset;
}

static inline bool bytes_start_with(struct bytes b, const void *magic, size_t size)
{
    return b.size >= size && memcmp(b.at, magic, size) == 0;
}

#endif

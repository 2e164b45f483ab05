#include "source/remote_symbol.h"

#include <elf.h>
#include <string.h>

enum { MOST_SEGMENTS = 256, MOST_DYNAMIC = 1024, MOST_IN_BUCKET = 4096, MOST_NAME = 64 };

/* Loaders relocate the addresses in the dynamic section where it can be written; where they do not, they
 * count from the bias. */
static uint64_t relocated(const struct remote_image *image, uint64_t address)
{
    return address < image->bias ? address + image->bias : address;
}

static bool read_dynamic(struct remote_image *image, struct remote_memory *m, uint64_t at)
{
    Elf64_Dyn entry;
    for (int i = 0; i < MOST_DYNAMIC; i++, at += sizeof entry) {
        if (!remote_memory_read(m, at, &entry, sizeof entry) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_SYMTAB)
            image->symbols = relocated(image, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_STRTAB)
            image->strings = relocated(image, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_GNU_HASH)
            image->hash = relocated(image, entry.d_un.d_ptr);
    }
    return image->symbols && image->strings && image->hash;
}

bool remote_image_open(struct remote_image *image, struct remote_memory *m, uint64_t start)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint64_t dynamic = 0;
    bool has_bias = false;
    *image = (struct remote_image){0};
    if (!remote_memory_read(m, start, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof segment || header.e_phnum > MOST_SEGMENTS)
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (!remote_memory_read(m, start + header.e_phoff + i * sizeof segment, &segment, sizeof segment))
            return false;
        if (segment.p_type == PT_LOAD && segment.p_offset == 0 && !has_bias) {
            image->bias = start - segment.p_vaddr;
            has_bias = true;
        }
        if (segment.p_type == PT_DYNAMIC)
            dynamic = segment.p_vaddr;
    }
    return has_bias && dynamic && read_dynamic(image, m, image->bias + dynamic);
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* The address of symbol number index if it is defined here under that name, else 0. */
static uint64_t defined_as(const struct remote_image *image, struct remote_memory *m, uint64_t index,
                           const char *name)
{
    Elf64_Sym symbol;
    char found[MOST_NAME];
    size_t length = strlen(name) + 1;
    if (length > sizeof found ||
        !remote_memory_read(m, image->symbols + index * sizeof symbol, &symbol, sizeof symbol) ||
        symbol.st_shndx == SHN_UNDEF ||
        !remote_memory_read(m, image->strings + symbol.st_name, found, length) ||
        memcmp(found, name, length) != 0)
        return 0;
    return image->bias + symbol.st_value;
}

/* The table: four counts, a Bloom filter that only saves time, buckets with the first symbol of each, and the
 * hashes of the symbols from number first on, whose lowest bit ends a bucket. */
uint64_t remote_image_symbol(const struct remote_image *image, struct remote_memory *m, const char *name)
{
    struct {
        uint32_t buckets, first, bloom_words, bloom_shift;
    } header;
    uint32_t hash = gnu_hash(name), index, other;
    if (!remote_memory_read(m, image->hash, &header, sizeof header) || header.buckets == 0)
        return 0;
    uint64_t buckets = image->hash + sizeof header + (uint64_t)header.bloom_words * sizeof(uint64_t);
    uint64_t hashes = buckets + (uint64_t)header.buckets * sizeof(uint32_t);
    if (!remote_memory_read(m, buckets + (uint64_t)(hash % header.buckets) * sizeof index, &index,
                            sizeof index) ||
        index < header.first)
        return 0;
    for (int i = 0; i < MOST_IN_BUCKET; i++, index++) {
        if (!remote_memory_read(m, hashes + (uint64_t)(index - header.first) * sizeof other, &other,
                                sizeof other))
            return 0;
        uint64_t address = (other | 1) == (hash | 1) ? defined_as(image, m, index, name) : 0;
        if (address || (other & 1))
            return address;
    }
    return 0;
}

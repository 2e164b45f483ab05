#include "symbol/elf.h"

#include <stdlib.h>

#include "base/i18n.h"
#include "base/mem.h"

enum {
    HEADER_SIZE = 64,
    SECTION_SIZE = 64,
    SYMBOL_SIZE = 24,
    SYMTAB_SHNDX = 18,
    INDEX_ELSEWHERE = 0xffff, /* SHN_XINDEX */
    INDEX_RESERVED = 0xff00,  /* SHN_LORESERVE */
};

bool elf_is(struct bytes file)
{
    return bytes_start_with(file, "\177ELF", 4);
}

static struct elf_section read_section(struct bytes file, struct bytes header)
{
    struct elf_section section = {
        .name = "",
        .type = bytes_u32(header, 4),
        .flags = bytes_u64(header, 8),
        .size = bytes_u64(header, 32),
        .link = bytes_u32(header, 40),
        .info = bytes_u32(header, 44),
    };
    if (section.type != ELF_NOBITS)
        section.data = bytes_part(file, bytes_u64(header, 24), section.size);
    return section;
}

static struct bytes section_data(const struct elf *elf, uint32_t index)
{
    return index < elf->section_count ? elf->sections[index].data : (struct bytes){0};
}

static void find_symbols(struct elf *elf)
{
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const struct elf_section *section = &elf->sections[i];
        if (section->type == ELF_SYMTAB && elf->symbol_count == 0) {
            elf->symbols = section->data;
            elf->symbol_names = section_data(elf, section->link);
            uint64_t count = section->data.size / SYMBOL_SIZE;
            elf->symbol_count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        } else if (section->type == SYMTAB_SHNDX) {
            elf->symbol_sections = section->data;
        }
    }
}

bool elf_open(struct elf *elf, struct bytes file, const char **why)
{
    *elf = (struct elf){.file = file};
    if (!elf_is(file) || file.size < HEADER_SIZE) {
        *why = N_("an ELF file ends in its header");
        return false;
    }
    if (file.at[4] != 2 || file.at[5] != 1) {
        *why = N_("an ELF file is not a 64-bit little-endian one");
        return false;
    }
    elf->os_abi = file.at[7];
    elf->abi_version = file.at[8];
    elf->type = bytes_u16(file, 16);
    elf->machine = bytes_u16(file, 18);
    elf->flags = bytes_u32(file, 48);
    uint64_t start = bytes_u64(file, 40);
    uint64_t count = bytes_u16(file, 60);
    uint32_t names = bytes_u16(file, 62);
    struct bytes first = bytes_part(file, start, SECTION_SIZE);
    if (start == 0 || first.size == 0) {
        *why = N_("an ELF file has no table of sections where its header says");
        return false;
    }
    if (count == 0) /* more than fit into the header */
        count = bytes_u64(first, 32);
    if (names == INDEX_ELSEWHERE)
        names = bytes_u32(first, 40);
    struct bytes table = bytes_up_to(file, start, count < file.size ? count * SECTION_SIZE : file.size);
    elf->section_count = (uint32_t)(table.size / SECTION_SIZE);
    elf->sections = mem_zalloc(elf->section_count, sizeof *elf->sections);
    for (uint32_t i = 0; i < elf->section_count; i++)
        elf->sections[i] = read_section(file, bytes_part(table, (uint64_t)i * SECTION_SIZE, SECTION_SIZE));
    struct bytes text = section_data(elf, names);
    for (uint32_t i = 0; i < elf->section_count; i++)
        elf->sections[i].name = bytes_text(text, bytes_u32(table, (uint64_t)i * SECTION_SIZE));
    find_symbols(elf);
    return true;
}

void elf_close(struct elf *elf)
{
    free(elf->sections);
    *elf = (struct elf){0};
}

const struct elf_section *elf_find(const struct elf *elf, const char *name)
{
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (strcmp(elf->sections[i].name, name) == 0)
            return &elf->sections[i];
    return NULL;
}

struct elf_symbol elf_symbol(const struct elf *elf, uint32_t index)
{
    struct bytes raw = bytes_part(elf->symbols, (uint64_t)index * SYMBOL_SIZE, SYMBOL_SIZE);
    uint32_t section = bytes_u16(raw, 6);
    if (section == INDEX_ELSEWHERE)
        section = bytes_u32(elf->symbol_sections, (uint64_t)index * 4);
    else if (section >= INDEX_RESERVED)
        section = 0;
    return (struct elf_symbol){
        .name = bytes_text(elf->symbol_names, bytes_u32(raw, 0)),
        .type = bytes_u8(raw, 4) & 15,
        .other = bytes_u8(raw, 5),
        .section = section < elf->section_count ? section : 0,
        .value = bytes_u64(raw, 8),
        .size = bytes_u64(raw, 16),
    };
}

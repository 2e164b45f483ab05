#include "source/elf_function.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_SECTIONS = 65536,
    MOST_SYMBOLS = 1 << 22, /* 96 MiB */
    SYMBOLS_AT_ONCE = 1024,
    MOST_NOTES = 4096,
    MOST_UNWIND_ROWS = 1 << 24,
};

static bool read_at(int fd, uint64_t offset, void *out, size_t length)
{
    return offset <= (uint64_t)INT64_MAX - length && pread(fd, out, length, (off_t)offset) == (ssize_t)length;
}

/* ---- the file's tables ----------------------------------------------------------------------------------
 */

static void read_notes(struct elf_file *file, const Elf64_Phdr *segment)
{
    unsigned char notes[MOST_NOTES];
    Elf64_Nhdr note;
    size_t length = segment->p_filesz < sizeof notes ? segment->p_filesz : sizeof notes;
    if (file->build_id_bytes || !read_at(file->fd, segment->p_offset, notes, length))
        return;
    for (size_t at = 0; at + sizeof note <= length;) {
        memcpy(&note, notes + at, sizeof note);
        size_t name = at + sizeof note, left = length - name;
        if (note.n_namesz > left || note.n_descsz > left)
            return;
        size_t description = name + ((size_t)note.n_namesz + 3) / 4 * 4;
        if (description > length || note.n_descsz > length - description)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0 &&
            note.n_descsz > 1 && note.n_descsz <= sizeof file->build_id) {
            memcpy(file->build_id, notes + description, note.n_descsz);
            file->build_id_bytes = note.n_descsz;
            return;
        }
        at = description + ((size_t)note.n_descsz + 3) / 4 * 4;
    }
}

static void read_segments(struct elf_file *file, const Elf64_Ehdr *header)
{
    Elf64_Phdr segment;
    for (unsigned i = 0; i < header->e_phnum && i < 4 * ELF_SEGMENTS; i++) {
        if (!read_at(file->fd, header->e_phoff + i * sizeof segment, &segment, sizeof segment))
            return;
        if (segment.p_type == PT_LOAD && file->segment_count < ELF_SEGMENTS) {
            file->segments[file->segment_count].offset = segment.p_offset;
            file->segments[file->segment_count].bytes = segment.p_filesz;
            file->segments[file->segment_count++].address = segment.p_vaddr;
        } else if (segment.p_type == PT_NOTE) {
            read_notes(file, &segment);
        } else if (segment.p_type == PT_GNU_EH_FRAME) {
            file->unwind = segment.p_offset;
            file->unwind_address = segment.p_vaddr;
            file->unwind_bytes = segment.p_filesz;
        }
    }
}

static void read_table(struct elf_file *file, const Elf64_Ehdr *header, const Elf64_Shdr *section,
                       struct elf_table *table)
{
    Elf64_Shdr names;
    uint64_t count = section->sh_size / sizeof(Elf64_Sym);
    if (table->count || section->sh_link >= MOST_SECTIONS ||
        !read_at(file->fd, header->e_shoff + (uint64_t)section->sh_link * sizeof names, &names, sizeof names))
        return;
    *table = (struct elf_table){.symbols = section->sh_offset,
                                .count = count < MOST_SYMBOLS ? count : MOST_SYMBOLS,
                                .names = names.sh_offset,
                                .names_bytes = names.sh_size};
}

static void read_sections(struct elf_file *file, const Elf64_Ehdr *header)
{
    Elf64_Shdr section;
    uint64_t count = header->e_shnum;
    if (header->e_shoff == 0 || header->e_shentsize != sizeof section)
        return;
    if (count == 0 && read_at(file->fd, header->e_shoff, &section, sizeof section))
        count = section.sh_size; /* more than fit into the header */
    for (uint64_t i = 0; i < count && i < MOST_SECTIONS; i++) {
        if (!read_at(file->fd, header->e_shoff + i * sizeof section, &section, sizeof section))
            return;
        if (section.sh_type == SHT_SYMTAB)
            read_table(file, header, &section, &file->all);
        else if (section.sh_type == SHT_DYNSYM)
            read_table(file, header, &section, &file->exported);
    }
}

bool elf_file_open(struct elf_file *file, int fd)
{
    Elf64_Ehdr header;
    const uint16_t one = 1;
    unsigned char little;
    memcpy(&little, &one, 1);
    *file = (struct elf_file){.fd = fd};
    if (!read_at(fd, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != (little ? ELFDATA2LSB : ELFDATA2MSB))
        return false;
    if (header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phoff < INT64_MAX)
        read_segments(file, &header);
    if (header.e_shoff < INT64_MAX)
        read_sections(file, &header);
    return true;
}

bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *address)
{
    for (unsigned i = 0; i < file->segment_count; i++) {
        uint64_t start = file->segments[i].offset;
        if (offset >= start && offset - start < file->segments[i].bytes) {
            *address = file->segments[i].address + (offset - start);
            return true;
        }
    }
    return false;
}

/* ---- symbols --------------------------------------------------------------------------------------------
 */

/* Of the functions that begin at or before the address, the last; and where the next one begins. */
struct nearest {
    bool found;
    Elf64_Sym symbol;
    uint64_t next;
};

static bool is_function(const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/* Of several names of one function the one that others may use. */
static bool is_better(const Elf64_Sym *symbol, const struct nearest *n)
{
    if (!n->found || symbol->st_value != n->symbol.st_value)
        return !n->found || symbol->st_value > n->symbol.st_value;
    return ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL && ELF64_ST_BIND(n->symbol.st_info) != STB_GLOBAL;
}

static void find_nearest(int fd, const struct elf_table *table, uint64_t address, struct nearest *n)
{
    Elf64_Sym symbols[SYMBOLS_AT_ONCE];
    *n = (struct nearest){.next = UINT64_MAX};
    for (uint64_t at = 0; at < table->count; at += SYMBOLS_AT_ONCE) {
        size_t count = table->count - at < SYMBOLS_AT_ONCE ? table->count - at : SYMBOLS_AT_ONCE;
        if (!read_at(fd, table->symbols + at * sizeof *symbols, symbols, count * sizeof *symbols))
            return;
        for (size_t i = 0; i < count; i++) {
            if (!is_function(&symbols[i]))
                continue;
            if (symbols[i].st_value > address) {
                n->next = symbols[i].st_value < n->next ? symbols[i].st_value : n->next;
            } else if (is_better(&symbols[i], n)) {
                n->symbol = symbols[i];
                n->found = true;
            }
        }
    }
}

static void read_name(int fd, const struct elf_table *table, uint32_t at, char out[ELF_NAME_BYTES])
{
    uint64_t left = at < table->names_bytes ? table->names_bytes - at : 0;
    size_t room = left < ELF_NAME_BYTES - 1 ? left : ELF_NAME_BYTES - 1;
    ssize_t length =
        table->names < INT64_MAX - UINT32_MAX ? pread(fd, out, room, (off_t)(table->names + at)) : 0;
    out[length > 0 ? length : 0] = '\0';
}

/* Narrows *out to what the table says around the address, and names it if a function is there. */
static void look_in_table(int fd, const struct elf_table *table, uint64_t address, struct elf_function *out)
{
    struct nearest n;
    find_nearest(fd, table, address, &n);
    out->end = n.next < out->end ? n.next : out->end;
    if (!n.found)
        return;
    uint64_t value = n.symbol.st_value, size = n.symbol.st_size;
    if (address - value < size || (size == 0 && value >= out->start)) {
        out->start = value;
        out->end = size && size < out->end - value ? value + size : out->end;
        out->bounded = true;
        read_name(fd, table, n.symbol.st_name, out->name);
    } else if (value + size > out->start && value + size <= address) {
        out->start = value + size;
        out->bounded = false;
    }
}

/* ---- the table for unwinding ----------------------------------------------------------------------------
 */

/* The length of the function that begins at start, from the entry that its row leads to, which lies in the
 * same segment. Where a start is written is said elsewhere; if it is where it always is, so is the length. */
static bool read_length(const struct elf_file *file, uint64_t row, uint64_t start, uint32_t *bytes)
{
    struct {
        uint32_t length, parent; /* of the entry */
        int32_t start;           /* from here */
        uint32_t bytes;
    } entry;
    int32_t distance;
    if (!read_at(file->fd, row + sizeof distance, &distance, sizeof distance) ||
        !read_at(file->fd, file->unwind + (uint64_t)(int64_t)distance, &entry, sizeof entry))
        return false;
    uint64_t here = file->unwind_address + (uint64_t)(int64_t)distance + 2 * sizeof(uint32_t);
    *bytes = entry.bytes;
    return here + (uint64_t)(int64_t)entry.start == start;
}

/* Rows (function, how to unwind it) by address, as 32-bit distances from the table: the only form in use. */
static void look_in_unwind_table(const struct elf_file *file, uint64_t address, struct elf_function *out)
{
    enum { VERSION = 1, PCREL_SDATA4 = 0x1b, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b, HEADER = 12, ROW = 8 };
    unsigned char header[HEADER];
    uint32_t count, bytes;
    if (file->unwind_bytes < HEADER || !read_at(file->fd, file->unwind, header, sizeof header) ||
        header[0] != VERSION || header[1] != PCREL_SDATA4 || header[2] != UDATA4 ||
        header[3] != DATAREL_SDATA4)
        return;
    memcpy(&count, header + 8, sizeof count);
    if (count > MOST_UNWIND_ROWS || count > (file->unwind_bytes - HEADER) / ROW)
        return;
    uint64_t start = 0, end = UINT64_MAX;
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int32_t distance;
        if (!read_at(file->fd, file->unwind + HEADER + (uint64_t)middle * ROW, &distance, sizeof distance))
            return;
        uint64_t begins = file->unwind_address + (uint64_t)(int64_t)distance;
        if (begins <= address) {
            start = begins;
            low = middle + 1;
        } else {
            end = begins;
            high = middle;
        }
    }
    if (low == 0)
        return;
    out->start = start;
    out->end = end > address ? end : out->end;
    out->bounded = true;
    if (!read_length(file, file->unwind + HEADER + (uint64_t)(low - 1) * ROW, start, &bytes))
        return;
    if (address - start < bytes) {
        out->end = bytes < out->end - start ? start + bytes : out->end;
    } else { /* in code of which the table knows nothing, such as an assembler's */
        out->start = start + bytes;
        out->bounded = false;
    }
}

/* ---- the separate file with symbols ---------------------------------------------------------------------
 */

static bool open_debug_file(const struct elf_file *file, struct elf_file *debug)
{
    char path[64 + 2 * ELF_BUILD_ID_BYTES] = "/usr/lib/debug/.build-id/";
    size_t length = strlen(path);
    if (file->build_id_bytes < 2)
        return false;
    for (unsigned i = 0; i < file->build_id_bytes; i++)
        length += (size_t)snprintf(path + length, sizeof path - length, i == 0 ? "%02x/" : "%02x",
                                   file->build_id[i]);
    snprintf(path + length, sizeof path - length, ".debug");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && elf_file_open(debug, fd))
        return true;
    close(fd);
    return false;
}

void elf_file_function(const struct elf_file *file, uint64_t address, struct elf_function *out)
{
    struct elf_file debug;
    *out = (struct elf_function){.end = UINT64_MAX};
    look_in_unwind_table(file, address, out);
    if (file->all.count) {
        look_in_table(file->fd, &file->all, address, out);
    } else if (open_debug_file(file, &debug)) {
        look_in_table(debug.fd, &debug.all, address, out);
        close(debug.fd);
    }
    if (!*out->name && file->exported.count && !file->all.count)
        look_in_table(file->fd, &file->exported, address, out);
    if (out->start > address || out->end <= address)
        *out = (struct elf_function){.start = address, .end = address + 1};
}

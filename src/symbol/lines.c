#include "symbol/lines.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/i18n.h"
#include "base/time.h"

enum {
    ROWS_MAX = 1 << 24,
    FILES_MAX = 1 << 16,
    SEQUENCES_TRIED = 64,  /* a section has one or a few */
    STANDARD_OPCODES = 10, /* of DWARF 2 */
    COPY = 1,
    ADVANCE_PC,
    ADVANCE_LINE,
    SET_FILE,
    CONST_ADD_PC = 8,
    FIXED_ADVANCE_PC,
    EXTENDED = 0,
    END_SEQUENCE = 1,
    SET_ADDRESS,
    INLINED_CALL = 0x90, /* NVIDIA's: calling row of the sequence from 1 (0: none), name in .debug_str */
};

struct cursor {
    struct bytes data;
    uint64_t at;
    bool failed;
};

struct program {
    struct line_table *table;
    struct map addresses; /* offset of a relocated address in .debug_line + 1 → section */
    struct cursor in;
    uint8_t unit_length, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[256];
    uint32_t first_file; /* of this unit, in table->files */
    /* registers of the machine */
    uint64_t pc;
    int64_t line;
    uint64_t file, context, function;
    uint32_t section;
    /* the open sequence */
    uint32_t first_row;
};

/* ---- reading ------------------------------------------------------------------------------------------- */

static uint64_t read_uint(struct cursor *in, size_t size)
{
    in->failed |= !bytes_have(in->data, in->at, size);
    uint64_t value = bytes_uint(in->data, in->at, size);
    in->at += size;
    return in->failed ? 0 : value;
}

/* Bits beyond the 64th are lost, as nothing means them. */
static uint64_t read_leb(struct cursor *in, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)read_uint(in, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && !in->failed);
    if (is_signed && shift < 64 && byte & 0x40)
        value |= ~UINT64_C(0) << shift;
    return value;
}

static const char *read_text(struct cursor *in)
{
    const char *text = bytes_text(in->data, in->at);
    in->failed |= in->at >= in->data.size;
    in->at += strlen(text) + 1;
    return text;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void close_sequence(struct program *p)
{
    struct line_table *table = p->table;
    uint32_t count = (uint32_t)table->rows.count - p->first_row;
    if (count > 0 && p->section > 0)
        vec_push(&table->sequences, ((struct line_sequence){p->section, p->first_row, count, p->pc}));
    p->first_row = (uint32_t)table->rows.count;
}

static void add_row(struct program *p)
{
    struct line_table *table = p->table;
    uint32_t row = (uint32_t)table->rows.count;
    if (row >= ROWS_MAX) {
        p->in.failed = true;
        return;
    }
    uint32_t files = (uint32_t)table->files.count - p->first_file;
    /* Ascending whatever the file says, so that a search ends where it should. */
    uint64_t before = row > p->first_row ? table->rows.at[row - 1].pc : 0;
    bool inlined = p->context > 0 && p->context <= row - p->first_row;
    vec_push(&table->rows,
             ((struct line_row){
                 .pc = p->pc < before ? before : p->pc,
                 .file = p->file > 0 && p->file <= files ? p->first_file + (uint32_t)p->file - 1 : NONE,
                 .line = p->line > 0 && p->line < INT32_MAX ? (uint32_t)p->line : 0,
                 .caller = inlined ? p->first_row + (uint32_t)p->context - 1 : NONE,
                 .function = inlined && p->function < NONE ? (uint32_t)p->function : NONE,
             }));
}

static void reset(struct program *p)
{
    p->pc = p->context = p->function = 0;
    p->line = p->file = 1;
    p->section = 0;
}

/* ---- the line program ---------------------------------------------------------------------------------- */

static void run_extended(struct program *p)
{
    uint64_t length = read_leb(&p->in, false);
    uint64_t end = p->in.at + length;
    if (length == 0 || !bytes_have(p->in.data, p->in.at, length)) {
        p->in.failed = true;
        return;
    }
    switch (read_uint(&p->in, 1)) {
    case END_SEQUENCE:
        close_sequence(p);
        reset(p);
        break;
    case SET_ADDRESS: {
        uint32_t section = map_get(&p->addresses, p->in.at + 1);
        if (p->section > 0 && section != p->section)
            close_sequence(p);
        p->section = section == MAP_ABSENT ? 0 : section;
        p->pc = read_uint(&p->in, length - 1 < 8 ? length - 1 : 8);
        break;
    }
    case INLINED_CALL:
        p->context = read_leb(&p->in, false);
        p->function = read_leb(&p->in, false);
        break;
    }
    p->in.at = end;
}

static void run_standard(struct program *p, uint8_t opcode)
{
    switch (opcode) {
    case COPY:
        add_row(p);
        break;
    case ADVANCE_PC:
        p->pc += read_leb(&p->in, false) * p->unit_length;
        break;
    case ADVANCE_LINE:
        p->line = (int64_t)((uint64_t)p->line + read_leb(&p->in, true));
        break;
    case SET_FILE:
        p->file = read_leb(&p->in, false);
        break;
    case CONST_ADD_PC:
        p->pc += (uint64_t)((255 - p->opcode_base) / p->line_range) * p->unit_length;
        break;
    case FIXED_ADVANCE_PC:
        p->pc += read_uint(&p->in, 2);
        break;
    default:
        for (int i = 0; i < p->operands[opcode]; i++)
            read_leb(&p->in, false);
    }
}

static void run_program(struct program *p, uint64_t end)
{
    reset(p);
    p->first_row = (uint32_t)p->table->rows.count;
    while (p->in.at < end && !p->in.failed) {
        uint8_t opcode = (uint8_t)read_uint(&p->in, 1);
        if (opcode == EXTENDED) {
            run_extended(p);
        } else if (opcode < p->opcode_base) {
            run_standard(p, opcode);
        } else {
            unsigned adjusted = opcode - p->opcode_base;
            p->pc += (uint64_t)(adjusted / p->line_range) * p->unit_length;
            p->line =
                (int64_t)((uint64_t)p->line + (uint64_t)(p->line_base + (int)(adjusted % p->line_range)));
            add_row(p);
        }
    }
    close_sequence(p);
}

static void read_files(struct program *p)
{
    struct line_table *table = p->table;
    VEC(const char *) folders = {0};
    const char *text;
    while (*(text = read_text(&p->in)) && !p->in.failed && folders.count < FILES_MAX)
        vec_push(&folders, text);
    p->first_file = (uint32_t)table->files.count;
    while (*(text = read_text(&p->in)) && !p->in.failed && table->files.count < FILES_MAX) {
        uint64_t folder = read_leb(&p->in, false);
        read_leb(&p->in, false); /* time and size */
        read_leb(&p->in, false);
        bool known = folder > 0 && folder <= folders.count && text[0] != '/';
        vec_push(&table->files, ((struct line_file){known ? folders.at[folder - 1] : "", text}));
    }
    vec_release(&folders);
}

/* One unit; false, with *why, if it is none. */
static bool read_unit(struct program *p, const char **why)
{
    uint64_t length = read_uint(&p->in, 4);
    uint64_t end = p->in.at + length;
    unsigned version = (unsigned)read_uint(&p->in, 2);
    uint64_t header = read_uint(&p->in, 4);
    uint64_t start = p->in.at + header;
    p->unit_length = (uint8_t)read_uint(&p->in, 1);
    read_uint(&p->in, 1); /* whether lines are statements by default */
    p->line_base = (int8_t)read_uint(&p->in, 1);
    p->line_range = (uint8_t)read_uint(&p->in, 1);
    p->opcode_base = (uint8_t)read_uint(&p->in, 1);
    if (p->in.failed || end > p->in.data.size || start > end || p->line_range == 0 || p->opcode_base == 0) {
        *why = N_("a line table is damaged");
        return false;
    }
    if (version != 2) {
        *why = N_("a line table is of another version of DWARF than 2");
        return false;
    }
    for (int i = 1; i < p->opcode_base; i++)
        p->operands[i] = (uint8_t)read_uint(&p->in, 1);
    read_files(p);
    if (!p->in.failed) {
        p->in.at = start;
        run_program(p, end);
    }
    if (p->in.failed)
        *why = N_("a line table is damaged");
    p->in.at = end;
    return !p->in.failed;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

/* The addresses of a line program are zeros that a relocation names the section for, in linked cubins too. */
static void read_relocations(struct program *p, const struct elf *elf)
{
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const struct elf_section *section = &elf->sections[i];
        bool is_rela = section->type == ELF_RELA && strcmp(section->name, ".rela.debug_line") == 0;
        bool is_rel = section->type == ELF_REL && strcmp(section->name, ".rel.debug_line") == 0;
        uint64_t size = is_rela ? 24 : 16;
        for (uint64_t at = 0; (is_rela || is_rel) && at + size <= section->data.size; at += size) {
            uint32_t symbol = bytes_u32(section->data, at + 12);
            if (symbol < elf->symbol_count)
                map_set(&p->addresses, bytes_u64(section->data, at) + 1, elf_symbol(elf, symbol).section);
        }
    }
}

static int by_section(const void *a, const void *b)
{
    const struct line_sequence *left = a, *right = b;
    if (left->section != right->section)
        return left->section < right->section ? -1 : 1;
    return left->first < right->first ? -1 : left->first > right->first;
}

bool lines_open(struct line_table *table, const struct elf *elf, const char **why)
{
    *table = (struct line_table){0};
    *why = NULL;
    const struct elf_section *lines = elf_find(elf, ".debug_line");
    if (!lines || lines->data.size == 0)
        return false;
    const struct elf_section *names = elf_find(elf, ".debug_str");
    if (names)
        table->names = names->data;
    struct program p = {.table = table, .in = {.data = lines->data}};
    read_relocations(&p, elf);
    while (p.in.at < lines->data.size && read_unit(&p, why))
        continue;
    map_release(&p.addresses);
    if (table->sequences.count)
        qsort(table->sequences.at, table->sequences.count, sizeof *table->sequences.at, by_section);
    return table->sequences.count > 0;
}

void lines_close(struct line_table *table)
{
    vec_release(&table->rows);
    vec_release(&table->sequences);
    vec_release(&table->files);
}

/* The last row of the sequence that does not lie behind pc, or NONE. */
static uint32_t find_row(const struct line_table *table, const struct line_sequence *sequence, uint64_t pc)
{
    uint32_t low = 0,
             high = sequence->count; /* rows before low lie at or before pc, those from high on behind */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->rows.at[sequence->first + middle].pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && pc < sequence->end ? sequence->first + low - 1 : NONE;
}

uint32_t lines_find(const struct line_table *table, uint32_t section, uint64_t pc)
{
    size_t low = 0, high = table->sequences.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->sequences.at[middle].section < section)
            low = middle + 1;
        else
            high = middle;
    }
    size_t stop =
        low + SEQUENCES_TRIED < table->sequences.count ? low + SEQUENCES_TRIED : table->sequences.count;
    for (; low < stop && table->sequences.at[low].section == section; low++) {
        uint32_t row = find_row(table, &table->sequences.at[low], pc);
        if (row != NONE)
            return row;
    }
    return NONE;
}

const char *lines_function(const struct line_table *table, const struct line_row *row)
{
    return row->function == NONE ? "" : bytes_text(table->names, row->function);
}

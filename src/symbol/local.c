#include "symbol/local.h"

#include <stdlib.h>

#include "base/i18n.h"

enum {
    INSTRUCTION = 16, /* bytes, from sm_70 on */
    FIRST_SM = 70,
    OPCODE_MASK = 0xfff,
    STORE_LOCAL = 0x387,         /* STL */
    STORE_LOCAL_UNIFORM = 0x987, /* STL with a uniform register in its address */
    LOAD_LOCAL = 0x983,          /* LDL, both forms */
    SPILL = 1,                   /* type of an annotation */
    PLACES_MAX = 1 << 20,
    CHAIN_MAX = 64, /* inlined calls around a line */
};

enum access { ACCESS_NONE, ACCESS_SPILL_STORE, ACCESS_SPILL_LOAD, ACCESS_LOCAL_STORE, ACCESS_LOCAL_LOAD };

static const char *const counter_names[] = {
    [ACCESS_SPILL_STORE] = "spill_store_bytes",
    [ACCESS_SPILL_LOAD] = "spill_load_bytes",
    [ACCESS_LOCAL_STORE] = "local_store_bytes",
    [ACCESS_LOCAL_LOAD] = "local_load_bytes",
};

void local_open(struct local_scan *scan, struct code_reader *reader, const struct elf *elf)
{
    const struct elf_section *lines = elf_find(elf, ".debug_line");
    *scan = (struct local_scan){.reader = reader, .elf = elf, .has_lines = lines && lines->data.size > 0};
}

void local_close(struct local_scan *scan)
{
    if (scan->lines_read)
        lines_close(&scan->lines);
    free(scan->files);
    map_release(&scan->places);
}

/* ---- places -------------------------------------------------------------------------------------------- */

/* Most cubins have no local memory: their line tables are never read. */
static void read_lines(struct local_scan *scan)
{
    const char *why;
    if (scan->lines_read)
        return;
    scan->lines_read = true;
    lines_open(&scan->lines, scan->elf, &why);
    if (why)
        run_repair(scan->reader->run, scan->reader->source, why, 1, -1);
    scan->files = mem_alloc(scan->lines.files.count * sizeof *scan->files + 1);
    for (size_t i = 0; i < scan->lines.files.count; i++)
        scan->files[i] = NONE;
}

static uint32_t file_text(struct local_scan *scan, uint32_t file)
{
    if (file == NONE)
        return 0;
    if (scan->files[file] == NONE) {
        const struct line_file *f = &scan->lines.files.at[file];
        struct str path = {0};
        if (*f->folder)
            str_addf(&path, "%s/", f->folder);
        str_puts(&path, f->name);
        scan->files[file] = intern_add(&scan->reader->run->strings, str_text(&path), path.len);
        str_release(&path);
    }
    return scan->files[file];
}

static uint32_t function_text(struct local_scan *scan, const struct line_row *row,
                              const struct kernel_code *code)
{
    const char *name = lines_function(&scan->lines, row);
    if (!*name)
        return row->caller == NONE ? code->demangled : 0;
    return code_demangle(scan->reader, intern_puts(&scan->reader->run->strings, name));
}

static uint32_t add_place(struct local_scan *scan, const struct kernel_code *code, const struct line_row *row,
                          uint32_t inlined, uint64_t pc)
{
    struct run *run = scan->reader->run;
    uint32_t file = row ? file_text(scan, row->file) : 0;
    uint32_t function = row ? function_text(scan, row, code) : code->demangled;
    size_t place = place_table_add(&run->places);
    run->places.code[place] = (uint32_t)run->codes.count - 1;
    run->places.file[place] = file;
    run->places.line[place] = row ? row->line : 0;
    run->places.function[place] = function;
    run->places.inlined[place] = inlined;
    run->places.pc[place] = pc;
    return (uint32_t)place;
}

/* The place of a line that calls were inlined into: one for all its instructions. */
static uint32_t caller_place(struct local_scan *scan, const struct kernel_code *code, uint32_t row)
{
    uint32_t chain[CHAIN_MAX];
    int depth = 0;
    for (; row != NONE && depth < CHAIN_MAX; row = scan->lines.rows.at[row].caller)
        chain[depth++] = row;
    uint32_t place = NONE;
    while (depth-- > 0) {
        const struct line_row *caller = &scan->lines.rows.at[chain[depth]];
        uint64_t key = hash_pair(hash_pair(scan->reader->run->codes.count, place),
                                 hash_pair((uint64_t)caller->file << 32 | caller->line, caller->function));
        uint32_t known = map_get(&scan->places, key);
        if (known == MAP_ABSENT) {
            known = add_place(scan, code, caller, place, UINT64_MAX);
            map_set(&scan->places, key, known);
        }
        place = known;
    }
    return place;
}

static void count_at(struct local_scan *scan, const struct kernel_code *code, uint32_t section, uint64_t pc,
                     enum access access, int bytes)
{
    struct run *run = scan->reader->run;
    if (run->places.count >= PLACES_MAX) {
        run_repair(run, scan->reader->source, N_("places of local memory beyond a million were left out"), 1,
                   -1);
        return;
    }
    read_lines(scan);
    uint32_t row = lines_find(&scan->lines, section, pc);
    const struct line_row *line = row == NONE ? NULL : &scan->lines.rows.at[row];
    uint32_t inlined = line ? caller_place(scan, code, line->caller) : NONE;
    uint32_t place = add_place(scan, code, line, inlined, pc);
    size_t counter = place_counter_table_add(&run->place_counters);
    run->place_counters.profile[counter] = NONE;
    run->place_counters.place[counter] = place;
    run->place_counters.name[counter] = intern_puts(&run->strings, counter_names[access]);
    run->place_counters.value[counter] = bytes;
}

/* ---- the code ------------------------------------------------------------------------------------------ */

/* One bit an instruction, set for those that the annotations call spills. */
static uint8_t *mark_spills(struct bytes text, struct bytes annotations)
{
    uint8_t *marks = mem_zalloc(text.size / INSTRUCTION / 8 + 1, 1);
    for (uint64_t at = 0; at + 8 <= annotations.size; at += 8) {
        uint64_t pc = bytes_u32(annotations, at + 4);
        if (bytes_u32(annotations, at) == SPILL && pc < text.size)
            marks[pc / INSTRUCTION / 8] |= (uint8_t)(1 << pc / INSTRUCTION % 8);
    }
    return marks;
}

/* Bytes that an access of one thread moves: bits 73 to 75 of the instruction. */
static int access_bytes(uint64_t high)
{
    static const int bytes[8] = {1, 1, 2, 2, 4, 8, 16, 16};
    return bytes[high >> 9 & 7];
}

static void scan_code(struct local_scan *scan, struct kernel_code *code, uint32_t section,
                      struct bytes annotations)
{
    struct bytes text = scan->elf->sections[section].data;
    int64_t sums[ACCESS_LOCAL_LOAD + 1] = {0};
    uint8_t *spills = mark_spills(text, annotations);
    for (uint64_t pc = 0; pc + INSTRUCTION <= text.size; pc += INSTRUCTION) {
        uint64_t low, high;
        memcpy(&low, text.at + pc, sizeof low);
        unsigned opcode = low & OPCODE_MASK;
        if (opcode != STORE_LOCAL && opcode != STORE_LOCAL_UNIFORM && opcode != LOAD_LOCAL)
            continue;
        memcpy(&high, text.at + pc + 8, sizeof high);
        bool spill = spills[pc / INSTRUCTION / 8] >> pc / INSTRUCTION % 8 & 1;
        enum access access = (spill ? ACCESS_SPILL_STORE : ACCESS_LOCAL_STORE) + (opcode == LOAD_LOCAL);
        sums[access] += access_bytes(high);
        count_at(scan, code, section, pc, access, access_bytes(high));
    }
    free(spills);
    code->spill_store_bytes = sums[ACCESS_SPILL_STORE];
    code->spill_load_bytes = sums[ACCESS_SPILL_LOAD];
    code->local_store_bytes = sums[ACCESS_LOCAL_STORE];
    code->local_load_bytes = sums[ACCESS_LOCAL_LOAD];
}

void local_read(struct local_scan *scan, struct kernel_code *code, uint32_t section, struct bytes annotations,
                bool is_annotated)
{
    if (code->sm < FIRST_SM) { /* its instructions are encoded otherwise; without a frame there is nothing */
        if (code->stack_bytes == 0)
            code->spill_store_bytes = code->spill_load_bytes = code->local_store_bytes =
                code->local_load_bytes = 0;
        return;
    }
    scan_code(scan, code, section, annotations);
    if (!is_annotated && code->local_store_bytes + code->local_load_bytes > 0)
        code->spill_store_bytes = code->spill_load_bytes = UNKNOWN;
}

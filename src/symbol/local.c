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
    if (!scan->lines_read)
        return;
    line_places_release(&scan->places);
    lines_close(&scan->lines);
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
    line_places_init(&scan->places, scan->reader, &scan->lines);
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
    struct line_owner owner = {.code = (uint32_t)run->codes.count - 1, .name = code->demangled};
    size_t place = place_table_add(&run->places);
    run->places.code[place] = owner.code;
    run->places.image[place] = run->places.inlined[place] = NONE;
    run->places.pc[place] = pc;
    line_places_fill(&scan->places, &owner, lines_find(&scan->lines, section, pc), (uint32_t)place);
    size_t counter = place_counter_table_add(&run->place_counters);
    run->place_counters.profile[counter] = NONE;
    run->place_counters.place[counter] = (uint32_t)place;
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

/* Kernels of a cubin: the resources that the assembler wrote down, and where its code touches local memory.
 * Layout and sources: doc/formats/cubin.md. */
#include <stdio.h>
#include <stdlib.h>

#include "base/i18n.h"
#include "symbol/code.h"
#include "symbol/elf.h"
#include "symbol/local.h"

enum {
    ABI_FROM_13 = 0x41,    /* e_ident[EI_OSABI]; 0x33 before CUDA 13 */
    FLAG_SPECIFIC = 0x800, /* in e_flags before CUDA 13 */
    ENTRY_SYMBOL = 0x10,   /* st_other of a kernel's symbol */
    NO_REGISTER_CAP = 255,
    WITH_ANNOTATIONS = 126, /* CUDA 12.6 is the first whose assembler marks spills */
    RESERVED_SHARED = 1024,
    RECORDS_MAX = 1 << 20, /* of one section */
};

enum attribute { /* EIATTR_… as cuobjdump --dump-elf names them */
                 ATTR_MAX_THREADS = 0x05,
                 ATTR_REQUIRED_BLOCK = 0x10,
                 ATTR_FRAME_SIZE = 0x11,
                 ATTR_MIN_STACK_SIZE = 0x12,
                 ATTR_PARAMETER_BYTES = 0x19,
                 ATTR_REGISTERS = 0x2f,
                 ATTR_CUDA_VERSION = 0x37,
                 ATTR_CLUSTER = 0x3d,
                 ATTR_BARRIERS = 0x4c,
                 ATTR_ANNOTATIONS = 0x55,
};

enum { COMPAT_ACCELERATOR = 0x09 }; /* of .nv.compat */

struct record {
    uint8_t attribute;
    uint32_t value;       /* formats without a payload */
    struct bytes payload; /* else empty */
};

/* What global records say of a symbol. */
struct symbol_facts {
    int64_t registers, frame, stack;
};

struct cubin {
    struct code_reader *reader;
    struct code_origin origin;
    struct elf elf;
    struct local_scan scan;
    struct symbol_facts *symbols;      /* by symbol */
    const struct elf_section **info;   /* by section of code: .nv.info.NAME */
    const struct elf_section **shared; /* .nv.shared.NAME */
    uint32_t toolkit;                  /* text */
    bool is_annotated;                 /* the assembler marks spills */
};

/* ---- records ------------------------------------------------------------------------------------------- */

/* Reads the record at *at and moves on; false at the end. */
static bool next_record(struct bytes data, uint64_t *at, struct record *record)
{
    enum { IN_BYTE = 2, IN_HALF = 3, IN_PAYLOAD = 4 };
    if (!bytes_have(data, *at, 4))
        return false;
    unsigned format = bytes_u8(data, *at);
    *record = (struct record){.attribute = bytes_u8(data, *at + 1), .value = bytes_u16(data, *at + 2)};
    *at += 4;
    if (format == IN_BYTE)
        record->value &= 0xff;
    if (format != IN_PAYLOAD)
        return true;
    record->payload = bytes_part(data, *at, record->value);
    *at += record->value;
    return *at <= data.size;
}

static void read_global(struct cubin *cubin, const struct elf_section *section)
{
    struct record record;
    for (uint64_t at = 0; next_record(section->data, &at, &record);) {
        uint32_t symbol = bytes_u32(record.payload, 0);
        if (record.payload.size < 8 || symbol >= cubin->elf.symbol_count)
            continue;
        int64_t value = bytes_u32(record.payload, 4);
        struct symbol_facts *facts = &cubin->symbols[symbol];
        if (record.attribute == ATTR_REGISTERS)
            facts->registers = value;
        else if (record.attribute == ATTR_FRAME_SIZE)
            facts->frame = value;
        else if (record.attribute == ATTR_MIN_STACK_SIZE && value != UINT32_MAX) /* recursion: no bound */
            facts->stack = value;
    }
}

static void read_triple(int64_t *triple, struct bytes payload)
{
    for (unsigned i = 0; i < 3 && payload.size >= 12; i++)
        triple[i] = bytes_u32(payload, i * 4);
}

/* A product that hostile numbers cannot make overflow. */
static int64_t threads_of(const int64_t *triple)
{
    int64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (triple[i] == UNKNOWN || threads > UINT16_MAX)
            return UNKNOWN;
        threads *= triple[i];
    }
    return threads;
}

/* Returns the annotations. */
static struct bytes read_info(const struct elf_section *section, struct kernel_code *code)
{
    struct bytes annotations = {0};
    int64_t bounds[3] = {UNKNOWN, UNKNOWN, UNKNOWN};
    struct record record;
    int records = 0;
    for (uint64_t at = 0; records < RECORDS_MAX && next_record(section->data, &at, &record); records++) {
        switch (record.attribute) {
        case ATTR_MAX_THREADS:
            read_triple(bounds, record.payload);
            break;
        case ATTR_REQUIRED_BLOCK:
            read_triple(code->required_block, record.payload);
            break;
        case ATTR_CLUSTER:
            read_triple(code->cluster, record.payload);
            break;
        case ATTR_PARAMETER_BYTES:
            code->parameter_bytes = record.value;
            break;
        case ATTR_BARRIERS:
            code->barriers = record.value;
            break;
        case ATTR_ANNOTATIONS:
            annotations = record.payload;
            break;
        }
    }
    if (bounds[0] != UNKNOWN)
        code->max_threads_per_block = threads_of(bounds);
    return annotations;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

/* ".nv.info.NAME" and ".nv.shared.NAME" say in sh_info which section of code they are of. */
static void link_sections(struct cubin *cubin)
{
    const struct elf *elf = &cubin->elf;
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const struct elf_section *section = &elf->sections[i];
        if (strncmp(section->name, ".nv.", 4) != 0)
            continue;
        if (strcmp(section->name, ".nv.info") == 0)
            read_global(cubin, section);
        else if (section->info > 0 && section->info < elf->section_count) {
            if (strncmp(section->name, ".nv.info.", 9) == 0)
                cubin->info[section->info] = section;
            else if (strncmp(section->name, ".nv.shared.", 11) == 0)
                cubin->shared[section->info] = section;
        }
    }
}

/* "V13.0.88" of "Cuda compilation tools, release 13.0, V13.0.88". */
static const char *version_of(const char *text)
{
    const char *comma = strrchr(text, ',');
    return comma && comma[1] == ' ' ? comma + 2 : text;
}

static bool option_ends_with(const char *options, char letter)
{
    const char *arch = strstr(options, "-arch sm_");
    if (!arch)
        return false;
    arch += strlen("-arch sm_");
    return arch[strspn(arch, "0123456789")] == letter;
}

/* The note of the assembler: its name, version and options, at offsets that the note begins with. */
static void read_toolkit(struct cubin *cubin)
{
    enum { NOTE_HEADER = 24, OFFSETS = 8, TEXTS = 24 };
    struct intern *strings = &cubin->reader->run->strings;
    const struct elf_section *note = elf_find(&cubin->elf, ".note.nv.tkinfo");
    struct bytes body =
        note ? bytes_part(note->data, NOTE_HEADER, bytes_u32(note->data, 4)) : (struct bytes){0};
    struct bytes texts = bytes_up_to(body, TEXTS, body.size);
    const char *tool = bytes_text(texts, bytes_u32(body, OFFSETS));
    const char *version = version_of(bytes_text(texts, bytes_u32(body, OFFSETS + 4)));
    const char *options = bytes_text(texts, bytes_u32(body, OFFSETS + 12));
    struct str text = {0};
    if (*tool) {
        str_addf(&text, "%.64s %.64s %.256s", tool, version, options);
        while (text.len > 0 && text.ptr[text.len - 1] == ' ')
            str_cut(&text, text.len - 1);
        cubin->toolkit = intern_add(strings, text.ptr, text.len);
        cubin->origin.is_specific |= option_ends_with(options, 'a');
        cubin->origin.is_family |= option_ends_with(options, 'f');
    }
    str_release(&text);
}

static void read_architecture(struct cubin *cubin)
{
    const struct elf *elf = &cubin->elf;
    bool from_13 = elf->os_abi == ABI_FROM_13;
    uint32_t sm = from_13 ? elf->flags >> 8 & 0xff : elf->flags & 0xff;
    if (sm > 0)
        cubin->origin.sm = sm;
    cubin->origin.is_specific |= !from_13 && elf->flags & FLAG_SPECIFIC;
    const struct elf_section *compat = elf_find(elf, ".nv.compat");
    struct record record;
    for (uint64_t at = 0; compat && next_record(compat->data, &at, &record);)
        cubin->origin.is_specific |= record.attribute == COMPAT_ACCELERATOR && record.value == 1;
}

/* The version of CUDA that the first kernel was assembled for: 130 for 13.0; 0 not known. */
static uint32_t cuda_version(const struct cubin *cubin)
{
    struct record record;
    for (uint32_t i = 0; i < cubin->elf.section_count; i++)
        for (uint64_t at = 0; cubin->info[i] && next_record(cubin->info[i]->data, &at, &record);)
            if (record.attribute == ATTR_CUDA_VERSION)
                return bytes_u32(record.payload, 0);
    return 0;
}

static void read_version(struct cubin *cubin)
{
    uint32_t version = cuda_version(cubin);
    cubin->is_annotated = version >= WITH_ANNOTATIONS;
    if (cubin->toolkit || version == 0 || version > 10000)
        return;
    char text[64];
    int length = snprintf(text, sizeof text, "CUDA %u.%u", version / 10, version % 10);
    cubin->toolkit = intern_add(&cubin->reader->run->strings, text, (size_t)length);
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static void read_shared(const struct cubin *cubin, uint32_t section, struct kernel_code *code)
{
    const struct elf_section *shared = cubin->shared[section];
    int64_t bytes = shared && shared->size < INT32_MAX ? (int64_t)shared->size : 0;
    code->reserved_shared_bytes = code->sm >= 80 ? RESERVED_SHARED : 0;
    /* From sm_90 on the section holds what is reserved as well, once the code is linked. */
    if (code->sm >= 90 && bytes >= RESERVED_SHARED && shared->type == ELF_NOBITS)
        bytes -= RESERVED_SHARED;
    code->static_shared_bytes = bytes;
}

static void read_kernel(struct cubin *cubin, uint32_t index, const struct elf_symbol *symbol)
{
    const struct elf_section *text = &cubin->elf.sections[symbol->section];
    struct kernel_code *code = code_add(cubin->reader, &cubin->origin, symbol->name, strlen(symbol->name));
    const struct symbol_facts *facts = &cubin->symbols[index];
    code->toolkit = cubin->toolkit;
    code->is_object = cubin->elf.type == ELF_RELOCATABLE;
    code->has_lines = cubin->scan.has_lines;
    code->code_bytes = text->data.size < INT64_MAX ? (int64_t)text->data.size : UNKNOWN;
    code->stack_bytes = facts->stack != UNKNOWN ? facts->stack : facts->frame;
    /* Older files say both in the header of the code's section only. */
    code->registers_per_thread = facts->registers;
    if (code->registers_per_thread == UNKNOWN && text->info >> 24)
        code->registers_per_thread = text->info >> 24;
    code->barriers = code->sm < 90 ? (int64_t)(text->flags >> 20 & 0x7f) : 0;
    read_shared(cubin, symbol->section, code);
    struct bytes annotations = {0};
    if (cubin->info[symbol->section])
        annotations = read_info(cubin->info[symbol->section], code);
    local_read(&cubin->scan, code, symbol->section, annotations, cubin->is_annotated || annotations.size > 0);
}

/* Separately compiled functions have sections of their own, and nothing says which kernels call them. */
static void count_shared_functions(const struct cubin *cubin, const bool *is_kernel)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < cubin->elf.symbol_count; i++) {
        struct elf_symbol symbol = elf_symbol(&cubin->elf, i);
        int64_t frame = cubin->symbols[i].frame;
        count += symbol.type == ELF_FUNCTION && symbol.section > 0 && !is_kernel[symbol.section] &&
                 frame != UNKNOWN && frame > 0;
    }
    if (count > 0)
        run_repair(cubin->reader->run, cubin->reader->source,
                   N_("separately compiled functions use local memory, which is not booked to the kernels "
                      "that call them"),
                   count, -1);
}

/* A section holds one kernel: what claims to be another one of it would only cost time. */
static void read_kernels(struct cubin *cubin)
{
    bool *seen = mem_zalloc(cubin->elf.section_count + 1, sizeof *seen);
    for (uint32_t i = 0; i < cubin->elf.symbol_count; i++) {
        struct elf_symbol symbol = elf_symbol(&cubin->elf, i);
        if (symbol.type != ELF_FUNCTION || !(symbol.other & ENTRY_SYMBOL) || symbol.section == 0 ||
            seen[symbol.section] || !*symbol.name)
            continue;
        seen[symbol.section] = true;
        read_kernel(cubin, i, &symbol);
    }
    count_shared_functions(cubin, seen);
    free(seen);
}

void cubin_read(struct code_reader *reader, struct bytes file, const struct code_origin *origin)
{
    struct cubin cubin = {.reader = reader, .origin = *origin};
    const char *why;
    if (elf_open(&cubin.elf, file, &why)) {
        cubin.symbols = mem_alloc(cubin.elf.symbol_count * sizeof *cubin.symbols + 1);
        for (uint32_t i = 0; i < cubin.elf.symbol_count; i++)
            cubin.symbols[i] = (struct symbol_facts){UNKNOWN, UNKNOWN, UNKNOWN};
        cubin.info = mem_zalloc(cubin.elf.section_count + 1, sizeof *cubin.info);
        cubin.shared = mem_zalloc(cubin.elf.section_count + 1, sizeof *cubin.shared);
        link_sections(&cubin);
        read_architecture(&cubin);
        read_toolkit(&cubin);
        read_version(&cubin);
        local_open(&cubin.scan, reader, &cubin.elf);
        read_kernels(&cubin);
        local_close(&cubin.scan);
        free(cubin.symbols);
        free(cubin.info);
        free(cubin.shared);
    } else {
        run_repair(reader->run, reader->source, why, 1, -1);
    }
    elf_close(&cubin.elf);
}

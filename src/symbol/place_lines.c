#include "symbol/place_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "symbol/lines.h"

enum { SECTION_NONE = 0 }; /* the first section of an ELF file is empty by definition */

struct image {
    struct elf elf;
    struct line_table table;
};

/* The section that holds a kernel's code. */
static uint32_t find_section(const struct elf *elf, const char *kernel)
{
    static const char prefix[] = ".text.";
    size_t length = strlen(prefix);
    for (uint32_t i = 1; i < elf->section_count; i++) {
        const char *name = elf->sections[i].name;
        if (strncmp(name, prefix, length) == 0 && strcmp(name + length, kernel) == 0)
            return i;
    }
    return SECTION_NONE;
}

static uint32_t file_of(struct run *run, const struct line_table *table, uint32_t file)
{
    struct str path = {0};
    if (file >= table->files.count)
        return 0;
    const struct line_file *f = &table->files.at[file];
    str_addf(&path, "%s%s%s", f->folder, *f->folder ? "/" : "", f->name);
    uint32_t id = intern_add(&run->strings, str_text(&path), path.len);
    str_release(&path);
    return id;
}

static void find_line(struct run *run, const struct line_table *table, uint32_t section, uint32_t place)
{
    struct place_table *places = &run->places;
    if (places->line[place] != 0 || places->pc[place] == UINT64_MAX)
        return;
    uint32_t row = lines_find(table, section, places->pc[place]);
    if (row == NONE || table->rows.at[row].line == 0)
        return;
    places->line[place] = table->rows.at[row].line;
    places->file[place] = file_of(run, table, table->rows.at[row].file);
}

/* Sections of the profiles that ran this image; SECTION_NONE: none of it. False if there is none at all. */
static bool find_sections(const struct run *run, uint32_t image, const struct elf *elf, uint32_t *section_of)
{
    bool any = false;
    for (size_t i = 0; i < run->profiles.count; i++) {
        const struct kernel_profile *profile = &run->profiles.at[i];
        uint32_t name = profile->mangled ? profile->mangled : profile->name;
        section_of[i] = profile->image == image ? find_section(elf, run_text(run, name)) : SECTION_NONE;
        any |= section_of[i] != SECTION_NONE;
    }
    return any;
}

static void find_lines(struct run *run, uint32_t image, uint32_t *section_of)
{
    struct image code = {0};
    const char *why;
    uint32_t text = run->images.at[image].bytes;
    struct bytes bytes = {(const uint8_t *)run_text(run, text), intern_length(&run->strings, text)};
    if (elf_open(&code.elf, bytes, &why) && find_sections(run, image, &code.elf, section_of) &&
        lines_open(&code.table, &code.elf, &why)) {
        const struct place_counter_table *counters = &run->place_counters;
        for (size_t i = 0; i < counters->count; i++)
            if (counters->profile[i] != NONE && section_of[counters->profile[i]] != SECTION_NONE)
                find_line(run, &code.table, section_of[counters->profile[i]], counters->place[i]);
    }
    lines_close(&code.table);
    elf_close(&code.elf);
}

void places_find_lines(struct run *run)
{
    if (run->place_counters.count == 0)
        return;
    uint32_t *section_of = mem_zalloc(run->profiles.count + 1, sizeof *section_of);
    for (uint32_t i = 0; i < run->images.count; i++)
        find_lines(run, i, section_of);
    free(section_of);
}

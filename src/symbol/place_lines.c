#include "symbol/place_lines.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/line_places.h"

enum { SECTION_NONE = 0 }; /* the first section of an ELF file is empty by definition */

/* Machine code, while the places in it are looked up. */
struct image {
    uint32_t number; /* run->images */
    struct elf elf;
    struct line_table lines;
    struct line_places places;
    uint32_t *section_of; /* by profile: the section that holds its code, once asked; else NONE */
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

static uint32_t section_of(const struct run *run, struct image *image, uint32_t profile)
{
    const struct kernel_profile *p = &run->profiles.at[profile];
    if (image->section_of[profile] == NONE)
        image->section_of[profile] =
            find_section(&image->elf, run_text(run, p->mangled ? p->mangled : p->name));
    return image->section_of[profile];
}

/* Whether the place of a counter is an instruction of this image without a line. */
static bool is_wanted(const struct run *run, uint32_t image, size_t counter)
{
    uint32_t profile = run->place_counters.profile[counter], place = run->place_counters.place[counter];
    if (profile == NONE || run->places.line[place] != 0 || run->places.pc[place] == UINT64_MAX)
        return false;
    uint32_t its = run->places.image[place];
    return (its == NONE ? run->profiles.at[profile].image : its) == image;
}

static void find_line(struct code_reader *reader, struct image *image, uint32_t profile, uint32_t place)
{
    const struct run *run = reader->run;
    uint32_t section = section_of(run, image, profile);
    uint32_t row = section == SECTION_NONE ? NONE : lines_find(&image->lines, section, run->places.pc[place]);
    struct line_owner owner = {.code = run->places.code[place], .name = run->profiles.at[profile].name};
    if (row != NONE && image->lines.rows.at[row].line != 0)
        line_places_fill(&image->places, &owner, row, place);
}

static void find_lines(struct code_reader *reader, struct image *image, size_t first)
{
    struct run *run = reader->run;
    const char *why;
    uint32_t text = run->images.at[image->number].bytes;
    struct bytes bytes = {(const uint8_t *)run_text(run, text), intern_length(&run->strings, text)};
    bool readable = elf_open(&image->elf, bytes, &why) && lines_open(&image->lines, &image->elf, &why);
    if (readable) {
        image->section_of = mem_alloc(run->profiles.count * sizeof *image->section_of + 1);
        for (size_t i = 0; i < run->profiles.count; i++)
            image->section_of[i] = NONE;
        line_places_init(&image->places, reader, &image->lines);
        for (size_t i = first; i < run->place_counters.count; i++)
            if (is_wanted(run, image->number, i))
                find_line(reader, image, run->place_counters.profile[i], run->place_counters.place[i]);
        line_places_release(&image->places);
        free(image->section_of);
    }
    lines_close(&image->lines);
    elf_close(&image->elf);
}

void places_find_lines(struct run *run)
{
    struct code_reader reader = {.run = run};
    for (uint32_t i = 0; i < run->images.count; i++) {
        size_t first = 0;
        while (first < run->place_counters.count && !is_wanted(run, i, first))
            first++;
        if (first < run->place_counters.count) /* else its line table need not be read */
            find_lines(&reader, &(struct image){.number = i}, first);
    }
    map_release(&reader.demangled);
}

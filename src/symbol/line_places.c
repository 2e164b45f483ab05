#include "symbol/line_places.h"

#include <stdlib.h>

enum { CHAIN_MAX = 64 }; /* inlined calls around a line */

void line_places_init(struct line_places *p, struct code_reader *reader, const struct line_table *lines)
{
    *p = (struct line_places){.reader = reader, .lines = lines};
    p->files = mem_alloc(lines->files.count * sizeof *p->files + 1);
    for (size_t i = 0; i < lines->files.count; i++)
        p->files[i] = NONE;
}

void line_places_release(struct line_places *p)
{
    free(p->files);
    map_release(&p->callers);
}

static uint32_t file_text(struct line_places *p, uint32_t file)
{
    if (file >= p->lines->files.count)
        return 0;
    if (p->files[file] == NONE) {
        const struct line_file *f = &p->lines->files.at[file];
        struct str path = {0};
        str_addf(&path, "%s%s%s", f->folder, *f->folder ? "/" : "", f->name);
        p->files[file] = intern_add(&p->reader->run->strings, str_text(&path), path.len);
        str_release(&path);
    }
    return p->files[file];
}

static uint32_t function_text(struct line_places *p, const struct line_owner *owner,
                              const struct line_row *row)
{
    const char *name = lines_function(p->lines, row);
    if (!*name)
        return row->caller == NONE ? owner->name : 0;
    return code_demangle(p->reader, intern_puts(&p->reader->run->strings, name));
}

static void fill(struct line_places *p, const struct line_owner *owner, const struct line_row *row,
                 uint32_t inlined, uint32_t place)
{
    struct place_table *places = &p->reader->run->places;
    places->file[place] = file_text(p, row->file);
    places->line[place] = row->line;
    places->function[place] = function_text(p, owner, row);
    places->inlined[place] = inlined;
}

/* The place of a line that calls were inlined into. */
static uint32_t caller_place(struct line_places *p, const struct line_owner *owner, uint32_t row)
{
    struct place_table *places = &p->reader->run->places;
    uint32_t chain[CHAIN_MAX], place = NONE;
    int depth = 0;
    for (; row != NONE && depth < CHAIN_MAX; row = p->lines->rows.at[row].caller)
        chain[depth++] = row;
    while (depth-- > 0) {
        const struct line_row *caller = &p->lines->rows.at[chain[depth]];
        uint64_t key = hash_pair(hash_pair((uint64_t)owner->code << 32 | owner->name, place),
                                 hash_pair((uint64_t)caller->file << 32 | caller->line, caller->function));
        uint32_t known = map_get(&p->callers, key);
        if (known == MAP_ABSENT) {
            known = (uint32_t)place_table_add(places);
            places->code[known] = owner->code;
            places->image[known] = NONE;
            places->pc[known] = UINT64_MAX;
            fill(p, owner, caller, place, known);
            map_set(&p->callers, key, known);
        }
        place = known;
    }
    return place;
}

void line_places_fill(struct line_places *p, const struct line_owner *owner, uint32_t row, uint32_t place)
{
    if (row == NONE) {
        p->reader->run->places.function[place] = owner->name;
        return;
    }
    const struct line_row *line = &p->lines->rows.at[row];
    fill(p, owner, line, caller_place(p, owner, line->caller), place);
}

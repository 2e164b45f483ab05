#include "symbol/sass.h"

#include <ctype.h>
#include <string.h>

#include "symbol/elf.h"

enum { MOST_TEXT = 512 };

/* ---- reading ---------------------------------------------------------------------------------------------
 */

struct span {
    const char *at;
    size_t length;
};

static bool skip(struct span *s, const char *what)
{
    size_t length = strlen(what);
    if (s->length < length || memcmp(s->at, what, length) != 0)
        return false;
    *s = (struct span){s->at + length, s->length - length};
    return true;
}

static void skip_blanks(struct span *s)
{
    while (s->length && (*s->at == ' ' || *s->at == '\t'))
        *s = (struct span){s->at + 1, s->length - 1};
}

/* The offset between the marks of a comment. */
static bool read_offset(struct span *s, uint64_t *offset)
{
    enum { MOST_DIGITS = 15, BITS = 4 };
    int digits = 0;
    *offset = 0;
    if (!skip(s, "/*"))
        return false;
    for (; s->length && isxdigit((unsigned char)*s->at) && digits < MOST_DIGITS; digits++) {
        int c = tolower((unsigned char)*s->at);
        *offset = *offset << BITS | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        *s = (struct span){s->at + 1, s->length - 1};
    }
    return digits > 0 && skip(s, "*/");
}

/* Up to the semicolon that ends it: encodings may follow. */
static bool read_instruction(struct span *s)
{
    skip_blanks(s);
    const char *end = s->length && *s->at != '.' ? memrchr(s->at, ';', s->length) : NULL;
    if (!end)
        return false;
    s->length = (size_t)(end - s->at);
    while (s->length && (s->at[s->length - 1] == ' ' || s->at[s->length - 1] == '\t'))
        s->length--;
    return s->length > 0 && s->length <= MOST_TEXT;
}

void sass_read(const char *output, size_t length, sass_take *take, void *context)
{
    struct span kernel = {0};
    for (const char *at = output, *end = output + length; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct span line = {at, (size_t)((newline ? newline : end) - at)};
        at += line.length + 1;
        uint64_t offset;
        skip_blanks(&line);
        if (skip(&line, ".section")) {
            skip_blanks(&line);
            const char *comma = memchr(line.at, ',', line.length);
            line.length = comma ? (size_t)(comma - line.at) : line.length;
            kernel = skip(&line, ".text.") ? line : (struct span){0};
        } else if (kernel.length && read_offset(&line, &offset) && read_instruction(&line)) {
            take(context, kernel.at, kernel.length, offset, line.at, line.length);
        }
    }
}

/* ---- places ----------------------------------------------------------------------------------------------
 */

static uint64_t key_of(const char *kernel, size_t length, uint64_t offset)
{
    return hash_pair(hash_bytes(kernel, length), offset);
}

/* Whether the place of a counter is an instruction of this image without its text. */
static bool is_wanted(const struct run *run, uint32_t image, size_t counter)
{
    uint32_t profile = run->place_counters.profile[counter], place = run->place_counters.place[counter];
    if (profile == NONE || run->places.sass[place] != 0 || run->places.pc[place] == UINT64_MAX)
        return false;
    uint32_t its = run->places.image[place];
    return (its == NONE ? run->profiles.at[profile].image : its) == image;
}

static uint32_t name_of_counter(const struct run *run, size_t counter)
{
    const struct kernel_profile *p = &run->profiles.at[run->place_counters.profile[counter]];
    return p->mangled ? p->mangled : p->name;
}

static uint64_t key_of_counter(const struct run *run, size_t counter)
{
    uint32_t name = name_of_counter(run, counter);
    return key_of(run_text(run, name), intern_length(&run->strings, name),
                  run->places.pc[run->place_counters.place[counter]]);
}

static void add_symbols(struct str *symbols, const struct elf *elf, const struct map *functions)
{
    for (uint32_t i = 0; i < elf->symbol_count; i++) {
        struct elf_symbol symbol = elf_symbol(elf, i);
        if (symbol.type == ELF_FUNCTION &&
            map_get(functions, hash_bytes(symbol.name, strlen(symbol.name))) != MAP_ABSENT)
            str_addf(symbols, "%s%u", symbols->len ? "," : "", i);
    }
}

void places_want_sass(const struct run *run, uint32_t image, struct str *symbols)
{
    uint32_t code = run->images.at[image].bytes;
    struct map functions = {0};
    struct elf elf = {0};
    const char *why;
    for (size_t i = 0; i < run->place_counters.count; i++) {
        if (!is_wanted(run, image, i))
            continue;
        uint32_t name = name_of_counter(run, i);
        map_set(&functions, hash_bytes(run_text(run, name), intern_length(&run->strings, name)), 0);
    }
    struct bytes file = {(const uint8_t *)run_text(run, code), intern_length(&run->strings, code)};
    if (functions.count && code && elf_open(&elf, file, &why))
        add_symbols(symbols, &elf, &functions);
    elf_close(&elf);
    map_release(&functions);
}

struct filling {
    struct run *run;
    struct map texts; /* by key: 0 wanted, else the text */
};

static void take_instruction(void *context, const char *kernel, size_t kernel_length, uint64_t offset,
                             const char *text, size_t length)
{
    struct filling *filling = context;
    uint64_t key = key_of(kernel, kernel_length, offset);
    if (map_get(&filling->texts, key) == 0)
        map_set(&filling->texts, key, intern_add(&filling->run->strings, text, length));
}

void places_take_sass(struct run *run, uint32_t image, const char *output, size_t length)
{
    struct filling filling = {.run = run};
    for (size_t i = 0; i < run->place_counters.count; i++)
        if (is_wanted(run, image, i))
            map_set(&filling.texts, key_of_counter(run, i), 0);
    sass_read(output, length, take_instruction, &filling);
    for (size_t i = 0; i < run->place_counters.count; i++)
        if (is_wanted(run, image, i))
            run->places.sass[run->place_counters.place[i]] = map_get(&filling.texts, key_of_counter(run, i));
    map_release(&filling.texts);
}

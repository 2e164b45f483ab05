/* Nsight Compute's source page as CSV: for each launch a line with the kernel's name, a header, and a row for
 * each instruction or source line. */
#include <string.h>

#include "base/i18n.h"
#include "base/json.h"
#include "import/ncu.h"

struct source_page {
    struct run *run;
    struct profiles profiles;
    struct csv csv;
    enum number_style style;
    int address, line, source;
    VEC(uint32_t) names; /* of the columns; 0 where it holds no number */
    uint32_t profile;    /* NONE before the first kernel */
    uint64_t first_address;
    bool in_rows, has_first;
};

static bool is_kernel_row(const struct csv *c)
{
    return c->cells.count >= 2 && c->cells.count <= 3 && csv_is(c->cells.at[0], "Kernel Name");
}

static bool read_address(struct csv_cell text, uint64_t *value)
{
    *value = 0;
    if (text.length < 3 || text.length > 18 || memcmp(text.at, "0x", 2) != 0)
        return false;
    for (size_t i = 2; i < text.length; i++) {
        char c = text.at[i];
        int digit = c >= '0' && c <= '9'                     ? c - '0'
                    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                             : -1;
        if (digit < 0)
            return false;
        *value = *value << 4 | (uint64_t)digit;
    }
    return true;
}

static void read_header(struct source_page *s)
{
    const struct csv *c = &s->csv;
    s->address = csv_find(c, "Address");
    s->source = csv_find(c, "Source");
    s->line = csv_find(c, "Line No") >= 0 ? csv_find(c, "Line No") : s->address < 0 ? csv_find(c, "#") : -1;
    s->in_rows = s->profile != NONE && s->source >= 0 && (s->address >= 0 || s->line >= 0);
    s->names.count = 0;
    for (int i = 0; i < (int)c->cells.count; i++) {
        bool number = i != s->address && i != s->line && i != s->source && !csv_is(c->cells.at[i], "#");
        vec_push(&s->names,
                 number ? intern_add(&s->run->strings, c->cells.at[i].at, c->cells.at[i].length) : 0);
    }
}

static void take_row(struct source_page *s)
{
    struct run *run = s->run;
    uint64_t address = 0, line = 0;
    bool has_address = read_address(csv_get(&s->csv, s->address), &address);
    if (!has_address && (!csv_uint(csv_get(&s->csv, s->line), &line) || line > UINT32_MAX))
        return;
    if (has_address && (!s->has_first || address < s->first_address)) {
        s->first_address = address;
        s->has_first = true;
    }
    uint32_t place = profiles_place(&s->profiles, run->profiles.at[s->profile].name,
                                    has_address ? address - s->first_address : UINT64_MAX, 0, (uint32_t)line);
    struct csv_cell text = csv_get(&s->csv, s->source);
    for (; text.length > 0 && *text.at == ' '; text.length--)
        text.at++;
    if (has_address)
        run->places.sass[place] = intern_add(&run->strings, text.at, text.length);
    for (size_t i = 0; i < s->names.count; i++) {
        double value;
        if (s->names.at[i] && number_read(csv_get(&s->csv, (int)i), s->style, &value) && value > 0)
            profiles_place_value(&s->profiles, s->profile, place, s->names.at[i], value);
    }
}

/* Goes through the page; with evidence only that is gathered. */
static void read_rows(struct source_page *s, struct number_evidence *evidence)
{
    s->profile = NONE;
    while (csv_next(&s->csv)) {
        if (is_kernel_row(&s->csv)) {
            s->in_rows = s->has_first = false;
            struct csv_cell name = csv_get(&s->csv, 1);
            s->profile = evidence ? 0 : profiles_add(&s->profiles, name.at, name.length);
        } else if (csv_find(&s->csv, "Source") >= 0) {
            read_header(s);
        } else if (s->in_rows && evidence) {
            for (size_t i = 0; i < s->names.count; i++)
                if (s->names.at[i])
                    number_evidence_add(evidence, csv_get(&s->csv, (int)i));
        } else if (s->in_rows) {
            take_row(s);
        }
    }
}

int ncu_read_source(struct run *run, struct stream *in, const struct str *text, size_t offset, char separator,
                    struct err *err)
{
    struct source_page s = {.run = run};
    struct number_evidence evidence = {0};
    csv_open(&s.csv, str_text(text) + offset, text->len - offset, separator);
    read_rows(&s, &evidence);
    csv_close(&s.csv);
    const char *doubt = number_style_of(&evidence, &s.style);
    int code = doubt ? ncu_refuse_numbers(stream_path(in), doubt, err) : 0;
    if (code == 0) {
        uint32_t source = run_add_source(run, stream_path(in), "ncu CSV, source page");
        run->sources.at[source].bytes = stream_size(in);
        profiles_begin(&s.profiles, run, source);
        size_t before = run->profiles.count;
        csv_open(&s.csv, str_text(text) + offset, text->len - offset, separator);
        read_rows(&s, NULL);
        csv_close(&s.csv);
        profiles_end(&s.profiles);
        if (run->profiles.count == before)
            code = ncu_refuse(stream_path(in), str_text(text), text->len, err);
    }
    vec_release(&s.names);
    return code;
}

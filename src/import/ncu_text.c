/* What ncu prints on a terminal: for each launch its name, shape and device in a line, then sections with a
 * table between dashed lines and the findings of ncu's rules below. Between them may stand whatever the
 * program printed.
 *
 * The dashed lines tell where the columns are, in every version; the numbers follow the locale as in tables.
 */
#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json.h"
#include "import/ncu.h"

struct ncu_text {
    struct run *run;
    struct profiles profiles;
    const char *at, *end;
    enum number_style style;
    struct number_evidence *evidence; /* not NULL: only gather this */
    uint32_t profile;                 /* NONE: not inside a launch */
    struct csv_cell section;
    size_t columns[3][2]; /* first byte and end of name, unit and value; 0 0: no table */
    bool in_table;
    struct str rule; /* text of the rule that is being read */
    enum advice_kind rule_kind;
    int64_t pid;
    struct csv_cell process;
    int64_t launches;
};

static struct csv_cell trimmed(const char *at, size_t length)
{
    while (length > 0 && (*at == ' ' || *at == '\t')) {
        at++;
        length--;
    }
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t' || at[length - 1] == '\r'))
        length--;
    return (struct csv_cell){at, length};
}

static bool begins(struct csv_cell line, const char *text)
{
    size_t length = strlen(text);
    return line.length >= length && memcmp(line.at, text, length) == 0;
}

/* ---- rules --------------------------------------------------------------------------------------------- */

/* "Est. Speedup: 50%" or "Est. Local Speedup: 19.35%" stands before the text. */
static void take_estimate(const struct ncu_text *t, struct csv_cell *text, struct advice *advice)
{
    static const char *const titles[] = {"Est. Speedup: ", "Est. Local Speedup: "};
    for (int i = 0; i < 2; i++) {
        if (!begins(*text, titles[i]))
            continue;
        const char *number = text->at + strlen(titles[i]), *end = text->at + text->length;
        const char *percent = memchr(number, '%', (size_t)(end - number));
        double value;
        if (!percent || !number_read((struct csv_cell){number, (size_t)(percent - number)}, t->style, &value))
            return;
        advice->speedup_ratio = value / 100;
        advice->is_local_speedup = i == 1;
        *text = trimmed(percent + 1, (size_t)(end - percent - 1));
    }
}

static void end_rule(struct ncu_text *t)
{
    struct csv_cell text = trimmed(str_text(&t->rule), t->rule.len);
    if (text.length > 0 && t->profile != NONE && !t->evidence) {
        struct advice advice = {.profile = t->profile, .kind = t->rule_kind, .speedup_ratio = NAN};
        take_estimate(t, &text, &advice);
        advice.section = intern_add(&t->run->strings, t->section.at, t->section.length);
        advice.text = intern_add(&t->run->strings, text.at, text.length);
        vec_push(&t->run->advices, advice);
    }
    str_cut(&t->rule, 0);
}

/* A rule begins with its kind in column 4 and goes on in lines that are indented further. */
static bool take_rule_line(struct ncu_text *t, const char *line, size_t length)
{
    static const char *const kinds[] = {"OPT", "INF", "WRN", "WARN", "ERR"};
    enum { INDENT = 4, TEXT = 10 };
    struct csv_cell text = trimmed(line, length);
    if (length < INDENT || memcmp(line, "    ", INDENT) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t size = strlen(kinds[i]);
        if (!begins(text, kinds[i]) || text.at != line + INDENT || text.length <= size ||
            text.at[size] != ' ')
            continue;
        end_rule(t);
        t->rule_kind = ncu_advice_kind((struct csv_cell){kinds[i], size});
        struct csv_cell rest = trimmed(text.at + size, text.length - size);
        str_add(&t->rule, rest.at, rest.length);
        return true;
    }
    if (t->rule.len == 0 || text.length == 0 || text.at < line + TEXT)
        return false;
    str_putc(&t->rule, ' ');
    str_add(&t->rule, text.at, text.length);
    return true;
}

/* ---- launches and tables ------------------------------------------------------------------------------- */

static bool read_after(const char *text, const char *end, const char *word, uint64_t *value)
{
    const char *at = memmem(text, (size_t)(end - text), word, strlen(word));
    size_t digits = 0;
    if (!at)
        return false;
    at += strlen(word);
    while (at + digits < end && at[digits] >= '0' && at[digits] <= '9')
        digits++;
    return json_to_uint((struct json_text){at, digits}, value);
}

/* "kernel(int) (8, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0"; before 2022 with a date in
 * place of the shape. */
static bool take_launch(struct ncu_text *t, struct csv_cell line)
{
    const char *end = line.at + line.length;
    const char *context = memmem(line.at, line.length, ", Context ", 10);
    uint64_t number;
    if (!context || !memmem(context, (size_t)(end - context), ", Stream ", 9))
        return false;
    end_rule(t);
    t->launches++;
    t->section.length = 0;
    t->in_table = false;
    if (t->evidence) {
        t->profile = 0;
        return true;
    }
    const char *block = memrchr(line.at, '(', (size_t)(context - line.at));
    const char *grid = block && block > line.at ? memrchr(line.at, '(', (size_t)(block - line.at)) : NULL;
    struct draft draft = {.shape = {.occupancy_percent = -1}};
    draft.has_shape = grid && block[-1] == 'x' &&
                      profiles_read_dim(grid, (size_t)(block - grid), draft.shape.grid) &&
                      profiles_read_dim(block, (size_t)(context - block), draft.shape.block);
    struct csv_cell name = trimmed(line.at, (size_t)((draft.has_shape ? grid : context) - line.at));
    t->profile = profiles_add(&t->profiles, name.at, name.length);
    *profiles_draft(&t->profiles, t->profile) = draft;
    struct kernel_profile *profile = &t->run->profiles.at[t->profile];
    profile->launch = t->launches - 1;
    if (t->pid != UNKNOWN) {
        profile->process = run_process(t->run, t->profiles.source, t->pid);
        t->run->processes.at[profile->process].name =
            intern_add(&t->run->strings, t->process.at, t->process.length);
    }
    if (read_after(context, end, "Device ", &number) && number <= INT32_MAX)
        profiles_set_device(&t->profiles, t->profile, (int64_t)number);
    const char *cc = memmem(context, (size_t)(end - context), "CC ", 3);
    if (cc)
        profiles_set_cc(&t->profiles, t->profile, cc + 3, (size_t)(end - cc - 3));
    return true;
}

/* A line of three groups of dashes opens a table, the next is below its titles, one more closes it. */
static bool take_dashes(struct ncu_text *t, const char *line, size_t length)
{
    size_t columns[3][2], groups = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] != '-' && line[i] != ' ' && line[i] != '\r')
            return false;
        if (line[i] != '-' || (i > 0 && line[i - 1] == '-'))
            continue;
        if (groups < 3)
            columns[groups][0] = i;
        size_t end = i;
        while (end < length && line[end] == '-')
            end++;
        if (groups < 3)
            columns[groups][1] = end;
        groups++;
    }
    if (groups != 3 || columns[0][1] - columns[0][0] < 4)
        return false;
    memcpy(t->columns, columns, sizeof columns);
    t->in_table = true;
    end_rule(t);
    return true;
}

/* A long cell may reach beyond its column: unit and value are the last two words then. */
static void take_table_row(struct ncu_text *t, const char *line, size_t length)
{
    size_t unit_start = t->columns[1][0], value_start = t->columns[2][0];
    if (length < value_start || (line[unit_start - 1] != ' ') || line[value_start - 1] != ' ')
        return;
    size_t name_start = t->columns[0][0];
    struct csv_cell name = trimmed(line + name_start, unit_start - name_start);
    struct csv_cell unit = trimmed(line + unit_start, value_start - unit_start);
    struct csv_cell value = trimmed(line + value_start, length - value_start);
    if (name.length == 0 || csv_is(name, "Metric Name") || csv_is(value, "Metric Value"))
        return;
    if (t->evidence)
        number_evidence_add(t->evidence, value);
    else
        ncu_take_value(&t->profiles, t->profile, ncu_counter_name(t->run, t->section, name), unit, value,
                       t->style);
}

/* "[602] transpose@127.0.0.1" */
static bool take_process(struct ncu_text *t, struct csv_cell line)
{
    uint64_t pid;
    const char *close = line.length > 2 && *line.at == '[' ? memchr(line.at, ']', line.length) : NULL;
    const char *host = close ? memrchr(close, '@', (size_t)(line.at + line.length - close)) : NULL;
    if (!host || !json_to_uint((struct json_text){line.at + 1, (size_t)(close - line.at - 1)}, &pid) ||
        pid > INT32_MAX)
        return false;
    t->pid = (int64_t)pid;
    t->process = trimmed(close + 1, (size_t)(host - close - 1));
    return true;
}

static void take_line(struct ncu_text *t, const char *line, size_t length)
{
    struct csv_cell text = trimmed(line, length);
    if (begins(text, "==") || take_process(t, text)) /* ncu's own messages */
        return;
    if (length > 2 && memcmp(line, "  ", 2) == 0 && line[2] != ' ' && take_launch(t, text))
        return;
    if (t->profile == NONE)
        return;
    if (begins(text, "Section: ")) {
        end_rule(t);
        t->section = trimmed(text.at + 9, text.length - 9);
        t->in_table = false;
    } else if (text.length == 0) {
        end_rule(t);
        t->in_table = false;
    } else if (!take_dashes(t, line, length) && !take_rule_line(t, line, length) && t->in_table) {
        take_table_row(t, line, length);
    }
}

static void read_lines(struct ncu_text *t, const struct str *text)
{
    t->at = str_text(text);
    t->end = t->at + text->len;
    t->profile = NONE;
    t->pid = UNKNOWN;
    t->launches = 0;
    t->in_table = false;
    while (t->at < t->end) {
        const char *newline = memchr(t->at, '\n', (size_t)(t->end - t->at));
        const char *stop = newline ? newline : t->end;
        take_line(t, t->at, (size_t)(stop - t->at));
        t->at = newline ? newline + 1 : t->end;
    }
    end_rule(t);
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static int sniff(const char *head, size_t length)
{
    struct str text = {0};
    csv_to_utf8(&text, head, length);
    const char *at = str_text(&text);
    int sure = memmem(at, text.len, "    Section: ", 13) && memmem(at, text.len, ", Context ", 10) ? 70
               : memmem(at, text.len, "==PROF== ", 9)                                              ? 30
                                                                                                   : 0;
    str_release(&text);
    return sure;
}

static int read_text(struct run *run, struct stream *in, const struct import_options *options,
                     struct err *err)
{
    (void)options;
    struct str text = {0};
    int code = csv_read_text(&text, in, err);
    struct number_evidence evidence = {0};
    struct ncu_text t = {.run = run, .evidence = &evidence};
    if (code == 0) {
        read_lines(&t, &text);
        const char *doubt = number_style_of(&evidence, &t.style);
        code = t.launches == 0 ? ncu_refuse(stream_path(in), str_text(&text), text.len, err)
               : doubt         ? ncu_refuse_numbers(stream_path(in), doubt, err)
                               : 0;
    }
    if (code == 0) {
        uint32_t source = run_add_source(run, stream_path(in), "ncu text");
        run->sources.at[source].bytes = stream_size(in);
        t.evidence = NULL;
        profiles_begin(&t.profiles, run, source);
        read_lines(&t, &text);
        profiles_end(&t.profiles);
    }
    str_release(&t.rule);
    str_release(&text);
    return code;
}

const struct importer import_ncu_text = {
    .name = "ncu-text",
    .title = N_("printed output of Nsight Compute"),
    .sniff = sniff,
    .read = read_text,
};

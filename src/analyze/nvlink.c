#include "analyze/nvlink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "know/know.h"

enum { REGISTERS = 7 };

struct registers {
    int64_t link;
    uint64_t value[REGISTERS];
    int count;
};

static bool read_registers(struct registers *r, const char *line)
{
    static const char before[] = " link ";
    const char *at = strstr(line, before);
    char *end;
    if (!at)
        return false;
    errno = 0;
    r->link = strtoll(at + strlen(before), &end, 10);
    if (errno || *end != '(')
        return false;
    for (r->count = 0; r->count < REGISTERS && (*end == '(' || *end == ',') && errno == 0; r->count++) {
        at = end + 1 + strspn(end + 1, " ");
        r->value[r->count] = strtoull(at, &end, 16);
        if (end == at)
            break;
    }
    return r->count > 0 && errno == 0;
}

static bool is_set(const struct registers *r, const struct know_nvlink *row)
{
    return row->reg <= r->count && r->value[row->reg - 1] >> row->bit & 1;
}

/* The bits of one register that mean the same: rows from first on with its text. */
static void add_bits(struct str *out, const struct registers *r, size_t first)
{
    const struct know_nvlink *row = &know_nvlinks[first];
    const char *between = "";
    for (size_t i = first; i < know_nvlink_count; i++) {
        const struct know_nvlink *other = &know_nvlinks[i];
        if (other->reg == row->reg && strcmp(other->en, row->en) == 0 && is_set(r, other)) {
            str_addf(out, "%s%" PRId64, between, other->bit);
            between = ", ";
        }
    }
}

static bool is_said(const struct registers *r, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (know_nvlinks[i].reg == know_nvlinks[row].reg && is_set(r, &know_nvlinks[i]) &&
            strcmp(know_nvlinks[i].en, know_nvlinks[row].en) == 0)
            return true;
    return false;
}

struct words nvlink_words(struct diagnosis *d, const char *line)
{
    struct registers r = {0};
    struct str plain = {0}, local = {0}, bits = {0};
    struct words words = {NULL, NULL};
    bool is_zh = i18n_lang() == LANG_ZH;
    for (size_t i = 0; read_registers(&r, line) && i < know_nvlink_count; i++) {
        const struct know_nvlink *row = &know_nvlinks[i];
        if (!is_set(&r, row) || is_said(&r, i))
            continue;
        str_cut(&bits, 0);
        add_bits(&bits, &r, i);
        struct words one = diagnosis_words(d, N_("Link %lld, register %lld, bits %s:"), (long long)r.link,
                                           (long long)row->reg, str_text(&bits));
        str_addf(&plain, "%s%s %s.", plain.len ? " " : "", one.plain, row->en);
        str_addf(&local, "%s%s%s%s", local.len && !is_zh ? " " : "", one.local, is_zh ? "" : " ",
                 know_text(row->en, row->zh));
        str_puts(&local, is_zh ? "。" : ".");
    }
    if (plain.len > 0)
        words = (struct words){diagnosis_text(d, str_text(&plain)), diagnosis_text(d, str_text(&local))};
    str_release(&plain);
    str_release(&local);
    str_release(&bits);
    return words;
}

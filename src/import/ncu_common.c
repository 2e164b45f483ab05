#include "base/str.h"
#include "import/ncu.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"
#include "model/counter_unit.h"

bool ncu_is_counter_name(const char *text, size_t length)
{
    bool underscores = false;
    if (length == 0 || !((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')))
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_.:", c)))
            return false;
        underscores |= i > 0 && c == '_' && text[i - 1] == '_';
    }
    return underscores;
}

uint32_t ncu_counter_name(struct run *run, struct csv_cell section, struct csv_cell label)
{
    if (section.length == 0 || ncu_is_counter_name(label.at, label.length) ||
        csv_is(section, "Command line profiler metrics"))
        return intern_add(&run->strings, label.at, label.length);
    struct str name = {0};
    str_add(&name, section.at, section.length);
    str_putc(&name, '/');
    str_add(&name, label.at, label.length);
    uint32_t id = intern_add(&run->strings, str_text(&name), name.len);
    str_release(&name);
    return id;
}

static bool is_missing(struct csv_cell value)
{
    static const char *const words[] = {"", "n/a", "(!) n/a", "no data", "-", "N/A", "(!) nan", "<error>"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (csv_is(value, words[i]))
            return true;
    return false;
}

void ncu_take_value(struct profiles *p, uint32_t profile, uint32_t name, struct csv_cell unit,
                    struct csv_cell value, enum number_style style)
{
    double number;
    if (unit.length == 0) {
        unit.at = counter_unit(run_text(p->run, name));
        unit.length = strlen(unit.at);
    }
    if (is_missing(value))
        profiles_no_value(p, profile, name, COUNTER_NOT_MEASURED);
    else if (number_read(value, style, &number))
        profiles_value(p, profile, name, unit.at, unit.length, number);
    else
        profiles_text(p, profile, name, value.at, value.length);
}

enum advice_kind ncu_advice_kind(struct csv_cell type)
{
    return csv_is(type, "OPT")                           ? ADVICE_OPTIMIZE
           : csv_is(type, "WRN") || csv_is(type, "WARN") ? ADVICE_WARNING
           : csv_is(type, "ERR")                         ? ADVICE_ERROR
                                                         : ADVICE_INFO;
}

int ncu_refuse(const char *path, const char *text, size_t length, struct err *err)
{
    enum { SHOWN = 200 };
    const char *error = memmem(text, length, "==ERROR==", 9);
    if (!error)
        return err_set(err, ERR_INPUT, path, -1,
                       _("print a report as a table: ncu --import FILE --page raw --csv"),
                       _("this output of Nsight Compute holds no results of a kernel"));
    error += 9;
    size_t left = length - (size_t)(error - text);
    const char *newline = memchr(error, '\n', left);
    size_t said = newline ? (size_t)(newline - error) : left;
    while (said > 0 && *error == ' ') {
        error++;
        said--;
    }
    return err_set(err, ERR_INPUT, path, error - text, _("run ncu again where it can write its report"),
                   _("this output of Nsight Compute holds no results; it says: %.*s"),
                   (int)(said < SHOWN ? said : SHOWN), error);
}

int ncu_refuse_numbers(const char *path, const char *why, struct err *err)
{
    return err_set(err, ERR_INPUT, path, -1,
                   _("print it again in the C locale: LC_ALL=C ncu --import FILE --csv"),
                   _("the numbers of this table are in doubt: %s"), _(why));
}

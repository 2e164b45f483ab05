/* PyTorch's message when memory ran out, old and new:
 *
 *     Tried to allocate 512.00 MiB (GPU 0; …; 5.10 GiB already allocated; …; 6.02 GiB reserved in total by
 * PyTorch) Tried to allocate 1.50 GiB. … and 402.00 MiB is reserved by PyTorch but unallocated.
 */
#include <string.h>

#include "import/logs/readers.h"

enum { AMOUNT_MAX = 24 };

/* MiB of "512.00 MiB" or "1.50 GiB"; negative: none. */
static double read_amount(const char *text, size_t length)
{
    static const struct {
        const char *unit;
        double mib;
    } units[] = {{" bytes", 1.0 / (1 << 20)},
                 {" KiB", 1.0 / (1 << 10)},
                 {" MiB", 1},
                 {" GiB", 1 << 10},
                 {" TiB", 1 << 20}};
    double value = 0, place = 1;
    size_t i = 0;
    for (bool dot = false;
         i < length && i < AMOUNT_MAX && ((text[i] >= '0' && text[i] <= '9') || text[i] == '.'); i++) {
        if (text[i] == '.') {
            dot = true;
            continue;
        }
        place /= dot ? 10 : 1;
        value = dot ? value + place * (text[i] - '0') : value * 10 + (text[i] - '0');
    }
    for (size_t u = 0; i > 0 && u < sizeof units / sizeof *units; u++) {
        size_t size = strlen(units[u].unit);
        if (length - i >= size && memcmp(text + i, units[u].unit, size) == 0)
            return value * units[u].mib;
    }
    return -1;
}

/* The amount behind a phrase, or before it ("402.00 MiB is reserved"). */
static double amount_after(const struct log_line *line, const char *phrase)
{
    const char *at = memmem(line->body, line->body_length, phrase, strlen(phrase));
    if (!at)
        return -1;
    at += strlen(phrase);
    return read_amount(at, (size_t)(line->body + line->body_length - at));
}

static double amount_before(const struct log_line *line, const char *phrase)
{
    const char *end = memmem(line->body, line->body_length, phrase, strlen(phrase));
    const char *at = end;
    while (at && at > line->body &&
           (at[-1] == '.' || (at[-1] >= '0' && at[-1] <= '9') || at[-1] == ' ' ||
            strchr("KMGTiBbytes", at[-1])) &&
           end - at < AMOUNT_MAX)
        at--;
    while (at && at < end && (*at < '0' || *at > '9'))
        at++;
    return at ? read_amount(at, (size_t)(end - at)) : -1;
}

void logs_oom(struct logs *logs, const struct log_line *line)
{
    double wanted = amount_after(line, "Tried to allocate ");
    if (wanted <= 0)
        return;
    double unused = amount_before(line, " is reserved by PyTorch but unallocated");
    double reserved = amount_before(line, " reserved in total by PyTorch");
    double allocated = amount_before(line, " already allocated");
    if (reserved > 0 && allocated >= 0)
        unused = reserved - allocated;
    if (unused >= wanted)
        logs_add_sign(logs, line, "oom-fragmentation", NULL, NULL);
}

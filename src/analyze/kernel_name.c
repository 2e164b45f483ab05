#include "analyze/kernel_name.h"

#include <stdbool.h>
#include <string.h>

/* Length of an operator's symbol at text ("operator<", "operator->"), which are no brackets; 0 if there is
 * none.
 */
static size_t operator_symbol(const char *text, size_t at)
{
    static const char word[] = "operator";
    size_t n = sizeof word - 1;
    if (at < n || memcmp(text + at - n, word, n) != 0)
        return 0;
    return strspn(text + at, "<>=-");
}

/* Openings that wait for their partner, and how many there are of each kind. */
struct pairing {
    size_t depth;
    size_t waiting[4];
    uint16_t open[KERNEL_NAME_LIMIT];
    uint8_t kind[KERNEL_NAME_LIMIT];
};

static void close_bracket(struct kernel_name *name, struct pairing *pairing, int kind, size_t at)
{
    if (pairing->waiting[kind] == 0 || (kind == 0 && pairing->kind[pairing->depth - 1] != 0))
        return;
    for (;;) { /* "(a < b)": what a round bracket encloses without a partner was no bracket */
        int top = pairing->kind[--pairing->depth];
        pairing->waiting[top]--;
        if (top == kind) {
            name->close[pairing->open[pairing->depth]] = (uint16_t)at;
            return;
        }
    }
}

static void pair_brackets(struct kernel_name *name)
{
    static const char openings[] = "<([{", closings[] = ">)]}";
    struct pairing pairing;
    pairing.depth = 0;
    memset(pairing.waiting, 0, sizeof pairing.waiting);
    memset(name->close, 0, name->length * sizeof *name->close);
    for (size_t i = 0; i < name->length; i++) {
        char c = name->text[i];
        const char *opening = strchr(openings, c), *closing = strchr(closings, c);
        size_t symbol = c == '<' || c == '>' || c == '-' ? operator_symbol(name->text, i) : 0;
        if (symbol > 0) {
            i += symbol - 1;
        } else if (opening) {
            pairing.open[pairing.depth] = (uint16_t)i;
            pairing.kind[pairing.depth++] = (uint8_t)(opening - openings);
            pairing.waiting[opening - openings]++;
        } else if (closing && !(c == '>' && i > 0 && name->text[i - 1] == '-')) {
            close_bracket(name, &pairing, (int)(closing - closings), i);
        }
    }
}

/* The parameter list opens with the first round bracket outside all others that follows a name. */
static uint16_t find_head(const struct kernel_name *name)
{
    static const char unnamed[] = "(anonymous namespace)";
    for (size_t i = 0; i < name->length; i++) {
        if (name->text[i] == '(') {
            size_t rest = name->length - i;
            bool is_unnamed =
                rest >= sizeof unnamed - 1 && memcmp(name->text + i, unnamed, sizeof unnamed - 1) == 0;
            bool is_operator = i >= 8 && memcmp(name->text + i - 8, "operator", 8) == 0;
            if (!is_unnamed && !is_operator)
                return i == 0 || name->text[i - 1] == ' ' ? name->length : (uint16_t)i;
        }
        if (name->close[i])
            i = name->close[i];
    }
    return name->length;
}

void kernel_name_scan(struct kernel_name *name, const char *text)
{
    name->text = text;
    name->length = (uint16_t)strnlen(text, KERNEL_NAME_LIMIT);
    pair_brackets(name);
    name->head = find_head(name);
}

#include "analyze/visible.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { KIND_NONE, KIND_NUMBER, KIND_UUID, KIND_MIG };

static enum kind kind_of(const char *entry, size_t length)
{
    if (length > 0 && (isdigit((unsigned char)*entry) || *entry == '-'))
        return KIND_NUMBER;
    if (length >= 4 && strncmp(entry, "GPU-", 4) == 0)
        return KIND_UUID;
    return length >= 4 && strncmp(entry, "MIG-", 4) == 0 ? KIND_MIG : KIND_NONE;
}

/* The GPU that an entry names; false with the reason in *end. */
static bool find(const char *entry, size_t length, enum kind kind, const char *const *uuids, size_t count,
                 size_t *gpu, enum visible_end *end)
{
    size_t found = 0;
    *end = VISIBLE_INVALID;
    if (kind == KIND_NUMBER) {
        char *after;
        long number = strtol(entry, &after, 10);
        *gpu = (size_t)number;
        return after == entry + length && number >= 0 && (size_t)number < count;
    }
    for (size_t i = 0; i < count; i++) {
        if (strncasecmp(uuids[i], entry, length) != 0)
            continue;
        *gpu = i;
        found++;
    }
    if (found > 1)
        *end = VISIBLE_AMBIGUOUS;
    return found == 1;
}

static bool is_listed(const struct visible *visible, size_t gpu)
{
    for (size_t i = 0; i < visible->count; i++)
        if (visible->gpus[i] == gpu)
            return true;
    return false;
}

static void take_all(struct visible *visible, size_t count)
{
    visible->count = count < VISIBLE_MOST ? count : VISIBLE_MOST;
    for (size_t i = 0; i < visible->count; i++)
        visible->gpus[i] = i;
}

void visible_resolve(struct visible *visible, const char *value, const char *const *uuids, size_t count)
{
    enum kind first = KIND_NONE;
    *visible = (struct visible){.end = VISIBLE_ALL};
    if (!value) {
        take_all(visible, count);
        return;
    }
    visible->end = value[strspn(value, " ")] ? VISIBLE_LISTED : VISIBLE_EMPTY;
    while (visible->end == VISIBLE_LISTED && visible->count < VISIBLE_MOST) {
        size_t size = strcspn(value, ","), gpu = 0;
        const char *entry = value + strspn(value, " ");
        size_t length = entry < value + size ? (size_t)(value + size - entry) : 0;
        while (length > 0 && entry[length - 1] == ' ')
            length--;
        enum kind kind = kind_of(entry, length);
        first = first == KIND_NONE ? kind : first;
        visible->entry = entry;
        visible->entry_length = length;
        if (kind == KIND_MIG && first == KIND_MIG) {
            visible->end = VISIBLE_MIG;
        } else if (kind == KIND_NONE) {
            visible->end = VISIBLE_INVALID;
        } else if (kind != first) {
            visible->end = VISIBLE_MIXED;
        } else if (!find(entry, length, kind, uuids, count, &gpu, &visible->end)) {
            break;
        } else if (is_listed(visible, gpu)) {
            visible->end = VISIBLE_DUPLICATE;
            visible->count = 0;
        } else {
            visible->end = VISIBLE_LISTED;
            visible->gpus[visible->count++] = gpu;
        }
        if (!value[size])
            break;
        value += size + 1;
    }
}

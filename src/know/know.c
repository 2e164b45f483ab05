#include "know/know.h"

#include <string.h>

#include "base/i18n.h"

const char *know_text(const char *en, const char *zh)
{
    return i18n_lang() == LANG_ZH && *zh ? zh : en;
}

const struct know_action *know_action_find(const char *id)
{
    for (size_t i = 0; i < know_action_count; i++)
        if (strcmp(know_actions[i].id, id) == 0)
            return &know_actions[i];
    return NULL;
}

const struct know_xid *know_xid_find(int64_t code)
{
    for (size_t i = 0; i < know_xid_count; i++)
        if (know_xids[i].code == code)
            return &know_xids[i];
    return NULL;
}

const struct know_sxid *know_sxid_find(int64_t code)
{
    for (size_t i = 0; i < know_sxid_count; i++)
        if (know_sxids[i].code == code)
            return &know_sxids[i];
    return NULL;
}

const struct know_sign *know_sign_find(const char *id)
{
    for (size_t i = 0; i < know_sign_count; i++)
        if (strcmp(know_signs[i].id, id) == 0)
            return &know_signs[i];
    return NULL;
}

const struct know_detail *know_detail_find(const char *id, const char *text, size_t length)
{
    for (size_t i = 0; i < know_detail_count; i++)
        if (strcmp(know_details[i].of, id) == 0 &&
            know_pattern_matches(know_details[i].pattern, strlen(know_details[i].pattern), text, length))
            return &know_details[i];
    return NULL;
}

const struct know_error *know_error_find(int64_t code)
{
    for (size_t i = 0; i < know_error_count; i++)
        if (know_errors[i].code == code)
            return &know_errors[i];
    return NULL;
}

/* Reads digits; at most six, so that it cannot overflow. */
static const char *read_int(const char *text, int *value)
{
    *value = 0;
    for (int i = 0; i < 6 && *text >= '0' && *text <= '9'; i++)
        *value = *value * 10 + (*text++ - '0');
    return text;
}

const struct know_cuda *know_cuda_find(int major, int minor)
{
    for (size_t i = 0; i < know_cuda_count; i++) {
        int row_major, row_minor;
        const char *dot = read_int(know_cudas[i].cuda, &row_major);
        read_int(dot + (*dot == '.'), &row_minor);
        if (row_major == major && row_minor == minor)
            return &know_cudas[i];
    }
    return NULL;
}

bool know_list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if ((size == length && memcmp(at, word, length) == 0) || (size == 1 && *at == '*'))
            return true;
        at += size;
    }
    return false;
}

bool know_pattern_next(const char **list, const char **pattern, size_t *length)
{
    static const char between[] = " || ";
    if (**list == '\0')
        return false;
    const char *end = strstr(*list, between);
    *pattern = *list;
    *length = end ? (size_t)(end - *list) : strlen(*list);
    *list = end ? end + strlen(between) : *list + *length;
    return true;
}

bool know_pattern_matches(const char *pattern, size_t length, const char *text, size_t text_length)
{
    const char *end = pattern + length;
    while (pattern < end) {
        const char *star = memchr(pattern, '*', (size_t)(end - pattern));
        size_t piece = (size_t)((star ? star : end) - pattern);
        const char *found = piece && text_length ? memmem(text, text_length, pattern, piece) : text;
        if (!found || piece > text_length)
            return false;
        text_length -= (size_t)(found - text) + piece;
        text = found + piece;
        pattern += piece + 1;
    }
    return true;
}

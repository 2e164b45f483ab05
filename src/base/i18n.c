#include "base/i18n.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The compiled catalogue in GNU .mo format (gettext manual, "The Format of GNU MO Files"): tables of
 * (length, offset) pairs, the originals sorted by strcmp(). Generated from po/zh_CN.po by the build. */
extern const unsigned char i18n_zh_cn[];
extern const size_t i18n_zh_cn_size;

enum { MO_COUNT = 8, MO_ORIGINALS = 12, MO_TRANSLATIONS = 16, MO_ENTRY = 8 };

/* Set once by cmd/ before any other thread exists. */
static enum lang chosen = LANG_EN;

static uint32_t read_u32(size_t at)
{
    if (at + 4 > i18n_zh_cn_size)
        return 0;
    const unsigned char *p = i18n_zh_cn + at;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static const char *entry_text(uint32_t table, uint32_t i)
{
    uint32_t length = read_u32(table + MO_ENTRY * (size_t)i);
    uint32_t offset = read_u32(table + MO_ENTRY * (size_t)i + 4);
    if ((size_t)offset + length >= i18n_zh_cn_size)
        return "";
    return (const char *)i18n_zh_cn + offset;
}

static const char *look_up(const char *msgid)
{
    uint32_t originals = read_u32(MO_ORIGINALS), translations = read_u32(MO_TRANSLATIONS);
    uint32_t low = 0, high = read_u32(MO_COUNT);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(msgid, entry_text(originals, middle));
        if (order == 0) {
            const char *text = entry_text(translations, middle);
            return *text ? text : msgid;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return msgid;
}

/* ---- choosing ------------------------------------------------------------------------------------------ */

/* Simplified Chinese serves every Chinese locale: readers of Traditional Chinese prefer it to English. */
static bool is_chinese(const char *locale)
{
    return strncmp(locale, "zh", 2) == 0 && (locale[2] == '\0' || strchr("_-.@:", locale[2]));
}

static bool is_c_locale(const char *locale)
{
    return strcmp(locale, "C") == 0 || strncmp(locale, "C.", 2) == 0 || strcmp(locale, "POSIX") == 0;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

enum lang i18n_from_environment(void)
{
    const char *own = variable("WARPLIGHT_LANG");
    if (own)
        return is_chinese(own) ? LANG_ZH : LANG_EN;
    const char *locale = variable("LC_ALL");
    locale = locale ? locale : variable("LC_MESSAGES");
    locale = locale ? locale : variable("LANG");
    if (locale && is_c_locale(locale))
        return LANG_EN;
    const char *list = variable("LANGUAGE"); /* "zh_CN:en": the first entry that we speak */
    for (const char *p = list; p; p = strchr(p, ':'), p = p ? p + 1 : NULL) {
        if (is_chinese(p))
            return LANG_ZH;
        if (strncmp(p, "en", 2) == 0)
            return LANG_EN;
    }
    return locale && is_chinese(locale) ? LANG_ZH : LANG_EN;
}

void i18n_set(enum lang lang)
{
    chosen = lang;
}

enum lang i18n_lang(void)
{
    return chosen;
}

const char *i18n_text(const char *msgid)
{
    return chosen == LANG_ZH && *msgid ? look_up(msgid) : msgid;
}

/* In a catalogue both forms are one original, of which the first comes first; Chinese has one translation. */
const char *i18n_plural(const char *one, const char *many, int64_t number)
{
    const char *text = chosen == LANG_ZH ? look_up(one) : one;
    return text != one ? text : number == 1 ? one : many;
}

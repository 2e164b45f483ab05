/* Translation for people. Machine output never passes through here.
 *
 * The catalogue is compiled in (po/zh_CN.po → msgfmt → bytes), so a single binary speaks both languages on a
 * machine that has neither locale nor catalogue installed. The language is chosen once, by cmd/. */
#ifndef WARPLIGHT_BASE_I18N_H
#define WARPLIGHT_BASE_I18N_H

#include <stdint.h>

enum lang { LANG_EN, LANG_ZH };

/* Chooses as gettext does, after WARPLIGHT_LANG: the locale is LC_ALL, LC_MESSAGES or LANG, whichever is set
 * first; unless that is C or POSIX, the list in LANGUAGE goes before it; else English. The locale need not be
 * installed. */
enum lang i18n_from_environment(void);
/* Call once, before the first translation. */
void i18n_set(enum lang lang);
enum lang i18n_lang(void);
/* Returns the translation in the chosen language, or msgid itself. */
const char *i18n_text(const char *msgid) __attribute__((format_arg(1)));

/* The same of a sentence with a number in it: one is what English says of 1. */
const char *i18n_plural(const char *one, const char *many, int64_t number)
    __attribute__((format_arg(1), format_arg(2)));

#define _(msgid)  i18n_text(msgid)
#define N_(msgid) msgid
/* Both forms of a sentence, as two arguments. */
#define NP_(one, many) one, many

#endif

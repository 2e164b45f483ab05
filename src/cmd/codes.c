#include "cmd/codes.h"

#include <string.h>
#include <sys/stat.h>

#include "base/i18n.h"
#include "symbol/binary.h"
#include "symbol/folder.h"

enum { CC_MAX = 999 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits of "9.0" or "90"; where they end. */
static const char *read_number(const char *text, int32_t *number, int *after_dot)
{
    *number = 0;
    *after_dot = 0;
    bool dot = false;
    for (; is_digit(*text) || (*text == '.' && !dot && is_digit(text[1])); text++) {
        if (*text == '.') {
            dot = true;
            continue;
        }
        if (*number > CC_MAX)
            break;
        *number = *number * 10 + (*text - '0');
        *after_dot += dot;
    }
    return text;
}

int capability_parse(const char *option, const char *text, int32_t *cc, struct err *err)
{
    *cc = 0;
    if (!text)
        return 0;
    bool is_sm = strncmp(text, "sm_", 3) == 0 || strncmp(text, "compute_", 8) == 0;
    int after_dot;
    int32_t number;
    const char *end = read_number(is_sm ? strchr(text, '_') + 1 : text, &number, &after_dot);
    if (is_sm && (*end == 'a' || *end == 'f'))
        end++;
    if (*end || number < 10 || number > CC_MAX || after_dot != !is_sm)
        return err_set(err, ERR_USAGE, NULL, -1, _("give a compute capability, such as 9.0, or sm_90"),
                       _("--%s cannot be '%s'"), option, text);
    *cc = number;
    return 0;
}

/* Damage explains it, if there was any. */
static int fail_empty(const struct run *run, const char *path, struct err *err)
{
    vec_each (&run->sources, source)
        if (source->repairs.count)
            return err_set(err, ERR_INPUT, run_text(run, source->path), -1, NULL, "%s",
                           _(run_text(run, source->repairs.at[0].text)));
    return err_set(
        err, ERR_INPUT, path, -1,
        _("the GPU code of a program may lie in a library that it loads, or be compiled as it runs"),
        _("there is no GPU code in it"));
}

int codes_read(struct run *run, char *const *paths, int count, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < count && rc == 0; i++) {
        struct stat st;
        bool is_folder = stat(paths[i], &st) == 0 && S_ISDIR(st.st_mode);
        rc = is_folder ? folder_read(run, paths[i], err) : binary_read(run, paths[i], err);
    }
    if (rc == 0 && run->codes.count == 0)
        rc = fail_empty(run, paths[0], err);
    return rc;
}

int codes_none(const char *pattern, struct err *err)
{
    return err_set(err, ERR_INPUT, NULL, -1, _("without --kernel all are listed; * and ? stand for anything"),
                   _("no kernel is called like '%s'"), pattern);
}

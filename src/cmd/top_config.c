#include "cmd/top_config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/i18n.h"
#include "cmd/options.h"
#include "cmd/top_limits.h"

/* ---- what can stand there --------------------------------------------------------------------------------
 */

struct setting {
    const char *key;
    size_t offset;
    const char *const *names; /* of an int; NULL: see type */
    enum { SETTING_CHOICE, SETTING_SWITCH, SETTING_DURATION } type;
};

static const char *const switch_names[] = {"off", "on", NULL};

#define AT(field) offsetof(struct top_settings, field)
static const struct setting known[] = {
    {"interval", AT(interval_ns), NULL, SETTING_DURATION},
    {"sort", AT(sort), top_sort_names, SETTING_CHOICE},
    {"reverse", AT(reversed), switch_names, SETTING_SWITCH},
    {"tree", AT(tree), switch_names, SETTING_SWITCH},
    {"chart", AT(chart), top_chart_names, SETTING_CHOICE},
    {"gpus", AT(size), top_size_names, SETTING_CHOICE},
    {"colors", AT(colors), top_color_names, SETTING_CHOICE},
    {"symbols", AT(symbols), top_symbol_names, SETTING_CHOICE},
    {"mouse", AT(mouse), switch_names, SETTING_SWITCH},
};
#undef AT
enum { KNOWN = sizeof known / sizeof *known, MOST_BYTES = 1 << 16 };

static bool set_value(const struct setting *s, struct top_settings *settings, const char *text)
{
    void *at = (char *)settings + s->offset;
    int64_t ns;
    int choice = s->names ? option_choice(s->names, text) : -1;
    switch (s->type) {
    case SETTING_CHOICE:
        if (choice >= 0)
            *(int *)at = choice;
        return choice >= 0;
    case SETTING_SWITCH:
        if (choice >= 0)
            *(bool *)at = choice;
        return choice >= 0;
    case SETTING_DURATION:
        if (!option_duration(text, &ns) || ns < TOP_INTERVAL_LEAST || ns > TOP_INTERVAL_MOST)
            return false;
        *(int64_t *)at = ns;
        return true;
    }
    return false;
}

static void add_value(struct str *out, const struct setting *s, const struct top_settings *settings)
{
    const int64_t millisecond = 1000000;
    const void *at = (const char *)settings + s->offset;
    if (s->type == SETTING_DURATION)
        str_addf(out, "%" PRId64 "ms", *(const int64_t *)at / millisecond);
    else
        str_puts(out, s->names[s->type == SETTING_SWITCH ? *(const bool *)at : *(const int *)at]);
}

static bool is_same(const struct setting *s, const struct top_settings *a, const struct top_settings *b)
{
    struct str left = {0}, right = {0};
    add_value(&left, s, a);
    add_value(&right, s, b);
    bool same = strcmp(str_text(&left), str_text(&right)) == 0;
    str_release(&left);
    str_release(&right);
    return same;
}

static void copy_value(const struct setting *s, struct top_settings *to, const struct top_settings *from)
{
    static const size_t sizes[] = {[SETTING_CHOICE] = sizeof(int),
                                   [SETTING_SWITCH] = sizeof(bool),
                                   [SETTING_DURATION] = sizeof(int64_t)};
    memcpy((char *)to + s->offset, (const char *)from + s->offset, sizes[s->type]);
}

/* ---- lines -----------------------------------------------------------------------------------------------
 */

/* Copies without the blanks around it; false where it is too long to be one of ours. */
static bool take_word(char *out, size_t room, const char *text, size_t length)
{
    while (length && (*text == ' ' || *text == '\t'))
        text++, length--;
    while (length && strchr(" \t\r", text[length - 1]))
        length--;
    if (length >= room)
        return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* The setting that a line is about, and its value. NULL: a comment, or nothing that we know. */
static const struct setting *parse_line(const char *line, size_t length, char *value, size_t room)
{
    char key[32];
    const char *equals = memchr(line, '=', length);
    if (!equals || !take_word(key, sizeof key, line, (size_t)(equals - line)) ||
        !take_word(value, room, equals + 1, length - (size_t)(equals - line) - 1))
        return NULL;
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(known[i].key, key) == 0)
            return &known[i];
    return NULL;
}

void top_config_parse(const char *text, struct top_settings *settings, struct str *warnings)
{
    for (const char *line = text; *line;) {
        char value[64];
        size_t length = strcspn(line, "\n");
        const struct setting *s = parse_line(line, length, value, sizeof value);
        if (s && !set_value(s, settings, value))
            str_addf(warnings, _("%s'%s' cannot be '%s'"), warnings->len ? "; " : "", s->key, value);
        line += length + (line[length] == '\n');
    }
}

void top_config_merge(struct str *out, const char *text, const struct top_settings *settings)
{
    bool written[KNOWN] = {0};
    for (const char *line = text; *line;) {
        char value[64];
        size_t length = strcspn(line, "\n");
        const struct setting *s = parse_line(line, length, value, sizeof value);
        if (!s) {
            str_add(out, line, length);
            str_putc(out, '\n');
        } else if (!written[s - known]) {
            str_addf(out, "%s = ", s->key);
            add_value(out, s, settings);
            str_putc(out, '\n');
            written[s - known] = true;
        }
        line += length + (line[length] == '\n');
    }
    for (int i = 0; i < KNOWN; i++)
        if (!written[i]) {
            str_addf(out, "%s = ", known[i].key);
            add_value(out, &known[i], settings);
            str_putc(out, '\n');
        }
}

/* ---- the file --------------------------------------------------------------------------------------------
 */

static void find_path(struct str *path)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (folder && folder[0] == '/') /* the specification: others are to be ignored */
        str_addf(path, "%s/warplight/top.conf", folder);
    else if (home && home[0] == '/')
        str_addf(path, "%s/.config/warplight/top.conf", home);
}

static void read_file(struct str *text, const char *path)
{
    char buffer[4096];
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    for (size_t n; text->len < MOST_BYTES && (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        str_add(text, buffer, n);
    fclose(file);
    str_cut(text, strlen(str_text(text))); /* up to a NUL, if somebody put one there */
}

void top_config_load(struct top_config *config, struct top_settings *settings, struct str *warnings)
{
    find_path(&config->path);
    if (config->path.len)
        read_file(&config->text, str_text(&config->path));
    top_config_parse(str_text(&config->text), settings, warnings);
    config->settings = config->begun = *settings;
}

static void make_folders(const char *path)
{
    struct str folder = {0};
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        str_cut(&folder, 0);
        str_add(&folder, path, (size_t)(slash - path));
        mkdir(str_text(&folder), 0700);
    }
    str_release(&folder);
}

/* Beside the file, and then in its place: whoever reads it sees the old or the new one. */
static int replace_file(const char *path, const struct str *text, struct err *err)
{
    struct str beside = {0};
    str_addf(&beside, "%s.XXXXXX", path);
    int fd = mkostemp(beside.ptr, O_CLOEXEC);
    bool done = fd >= 0 && write(fd, str_text(text), text->len) == (ssize_t)text->len && fsync(fd) == 0;
    int failed = errno;
    if (fd >= 0 && close(fd) != 0 && done) {
        failed = errno;
        done = false;
    }
    if (done && rename(beside.ptr, path) != 0) {
        failed = errno;
        done = false;
    }
    if (!done && fd >= 0)
        unlink(beside.ptr);
    str_release(&beside);
    return done ? 0
                : err_set(err, ERR_ENV, path, -1, _("the settings are not kept"), _("cannot write: %s"),
                          strerror(failed));
}

int top_config_save(const struct top_config *config, const struct top_settings *settings, struct err *err)
{
    struct top_settings kept = config->settings;
    bool changed = false;
    for (int i = 0; i < KNOWN; i++)
        if (!is_same(&known[i], settings, &config->begun)) {
            copy_value(&known[i], &kept, settings);
            changed = true;
        }
    if (!config->path.len || !changed)
        return 0;
    struct str text = {0};
    top_config_merge(&text, str_text(&config->text), &kept);
    make_folders(str_text(&config->path));
    char *behind = realpath(str_text(&config->path), NULL); /* NULL: there is none yet */
    int rc = replace_file(behind ? behind : str_text(&config->path), &text, err);
    free(behind);
    str_release(&text);
    return rc;
}

void top_config_release(struct top_config *config)
{
    str_release(&config->path);
    str_release(&config->text);
}

/* What `top` remembers: $XDG_CONFIG_HOME/warplight/top.conf, or ~/.config/warplight/top.conf. Lines are
 * `key = value`; "#" begins a comment. Lines that are not understood are kept as they are. */
#ifndef WARPLIGHT_CMD_TOP_CONFIG_H
#define WARPLIGHT_CMD_TOP_CONFIG_H

#include "base/err.h"
#include "base/str.h"
#include "view/top.h"

struct top_config {
    struct str path;
    struct str text;              /* of the file as it was read */
    struct top_settings settings; /* as they stand there */
    struct top_settings begun;    /* as top began with them: what the command line asks for is for once */
};

/* Sets what the file says; the rest of *settings stays. No file is no error. warnings: a sentence for each
 * value that cannot be, which is left out. */
void top_config_load(struct top_config *config, struct top_settings *settings, struct str *warnings);
/* Writes those that are other than top began with; the file is replaced as a whole, behind links that lead to
 * it. */
int top_config_save(const struct top_config *config, const struct top_settings *settings, struct err *err);
void top_config_release(struct top_config *config);

/* What text of a file becomes with these settings: for tests. */
void top_config_merge(struct str *out, const char *text, const struct top_settings *settings);
void top_config_parse(const char *text, struct top_settings *settings, struct str *warnings);

#endif

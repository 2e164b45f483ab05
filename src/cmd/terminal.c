/* What the terminal can show. */
#include "cmd/command.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/i18n.h"

enum { WIDTH_DEFAULT = 100, WIDTH_MAX = 400 };

static int clamp_width(long width)
{
    return width < SCREEN_WIDTH_MIN ? SCREEN_WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : (int)width;
}

static int width_of(int fd)
{
    const char *columns = getenv("COLUMNS");
    char *end;
    long width = columns ? strtol(columns, &end, 10) : 0;
    if (width > 0 && *end == '\0')
        return clamp_width(width);
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return clamp_width(size.ws_col);
    return WIDTH_DEFAULT;
}

/* Chinese cannot be shown in anything less, so asking for it asks for UTF-8. */
static bool shows_utf8(void)
{
    if (i18n_lang() == LANG_ZH)
        return true;
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale && *locale)
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

static bool shows_color(const struct cli *cli, int fd)
{
    if (cli->globals.color != COLOR_AUTO)
        return cli->globals.color == COLOR_ALWAYS;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if ((no_color && *no_color) || !term || strcmp(term, "dumb") == 0)
        return false;
    return isatty(fd);
}

void cli_screen(const struct cli *cli, struct screen *s, FILE *out)
{
    int fd = fileno(out);
    *s = (struct screen){
        .out = out, .width = width_of(fd), .color = shows_color(cli, fd), .utf8 = shows_utf8()};
    errno = 0; /* from here on it tells why a write failed: see cli_check_output() */
}

int cli_check_output(FILE *out, const char *name, struct err *err)
{
    if (fflush(out) == 0 && !ferror(out))
        return 0;
    if (errno == EPIPE) {
        clearerr(out);
        return 0;
    }
    return err_set(err, ERR_ENV, name, -1, errno == ENOSPC ? _("free some space or write elsewhere") : NULL,
                   _("cannot write: %s"), strerror(errno ? errno : EIO));
}

bool cli_reader_left(FILE *out)
{
    struct pollfd pipe = {.fd = fileno(out)};
    return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR);
}

int cli_screen_end(struct screen *s, const char *name, struct err *err)
{
    screen_flush(s);
    screen_release(s);
    return cli_check_output(s->out, name, err);
}

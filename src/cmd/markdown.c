/* The subset that the pages use: "# headings", paragraphs, "- lists", "1. lists", "> notes", tables, fenced
 * and indented code. `**`, `*` and `` ` `` marks inside a line are dropped; what they mark reads well
 * without. */
#include "cmd/markdown.h"

#include <string.h>

#include "base/utf8.h"

void markdown_strip(struct str *out, const char *line, size_t length)
{
    bool code = false;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '`') {
            code = !code;
            continue;
        }
        if (!code && line[i] == '*' && i + 1 < length && line[i + 1] == '*') {
            i++;
            continue;
        }
        str_putc(out, line[i]);
    }
}

/* Bytes of the list or quote mark that the line starts with, blanks before and after it included; 0: none. */
static size_t mark_length(const char *line, size_t length)
{
    size_t i = 0;
    while (i < length && line[i] == ' ')
        i++;
    size_t mark = i;
    if (i < length && strchr("-*>", line[i])) {
        i++;
    } else {
        while (i < length && line[i] >= '0' && line[i] <= '9')
            i++;
        if (i == mark || i >= length || line[i++] != '.')
            return 0;
    }
    return i < length && line[i] == ' ' ? i + 1 : 0;
}

struct markdown {
    struct screen *s;
    struct str paragraph; /* gathered lines of running text */
    int indent;           /* of its further lines */
    bool in_code;
};

static void end_paragraph(struct markdown *m)
{
    if (m->paragraph.len == 0)
        return;
    struct str text = {0};
    markdown_strip(&text, m->paragraph.ptr, m->paragraph.len);
    screen_wrap(m->s, STYLE_PLAIN, str_text(&text), 0, m->indent);
    str_release(&text);
    str_cut(&m->paragraph, 0);
    m->indent = 0;
}

static void heading(struct markdown *m, const char *line, size_t length)
{
    size_t level = strspn(line, "#");
    struct str text = {0};
    while (level < length && line[level] == ' ')
        level++;
    markdown_strip(&text, line + level, length - level);
    screen_wrap(m->s, STYLE_HEADING, str_text(&text), 0, 0);
    str_release(&text);
}

static void verbatim(struct markdown *m, const char *line, size_t length)
{
    struct str text = {0};
    str_add(&text, line, length);
    screen_printf(m->s, STYLE_PLAIN, "%s%s", m->in_code && length ? "    " : "", str_text(&text));
    screen_newline(m->s);
    str_release(&text);
}

/* Joins a line to the paragraph: with a blank, but not between Chinese characters. */
static void add_running(struct markdown *m, const char *line, size_t length)
{
    while (length > 0 && *line == ' ') {
        line++;
        length--;
    }
    size_t used;
    bool wide = length > 0 && utf8_columns(utf8_decode(line, length, &used)) == 2;
    if (m->paragraph.len > 0 && !(wide && (unsigned char)m->paragraph.ptr[m->paragraph.len - 1] >= 0x80))
        str_putc(&m->paragraph, ' ');
    str_add(&m->paragraph, line, length);
}

static void markdown_line(struct markdown *m, const char *line, size_t length)
{
    if (length >= 3 && memcmp(line, "```", 3) == 0) {
        end_paragraph(m);
        m->in_code = !m->in_code;
    } else if (m->in_code) {
        verbatim(m, line, length);
    } else if (length == 0) {
        end_paragraph(m);
        screen_newline(m->s);
    } else if (*line == '#') {
        end_paragraph(m);
        heading(m, line, length);
    } else if (*line == '|' || (length > 4 && memcmp(line, "    ", 4) == 0 && m->paragraph.len == 0)) {
        end_paragraph(m);
        verbatim(m, line, length);
    } else {
        size_t mark = mark_length(line, length);
        if (mark > 0) {
            end_paragraph(m);
            str_add(&m->paragraph, line, length);
            m->indent = (int)mark;
        } else {
            add_running(m, line, length);
        }
    }
}

void markdown_print(struct screen *s, const char *text)
{
    struct markdown m = {.s = s};
    while (*text) {
        size_t length = strcspn(text, "\n");
        markdown_line(&m, text, length);
        text += length + (text[length] == '\n');
    }
    end_paragraph(&m);
    str_release(&m.paragraph);
}

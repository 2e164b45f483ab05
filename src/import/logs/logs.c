#include "import/logs/logs.h"

#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/str.h"
#include "import/logs/encoding.h"
#include "import/logs/readers.h"

enum { CHUNK = 64 * 1024, SNIFF = 4096 };

struct splitter {
    char text[LOGS_LINE_MAX];
    size_t length;
    int64_t number;
    int64_t long_lines;
    int64_t bytes; /* read, after decompression */
    bool is_bomb;
};

static const char *const kind_names[] = {
    [KIND_KERNEL] = N_("kernel log"),
    [KIND_SMI_TABLE] = "nvidia-smi",
    [KIND_SMI_TEXT] = "nvidia-smi -q",
    [KIND_SMI_XML] = "nvidia-smi -q -x",
    [KIND_SMI_CSV] = "nvidia-smi --query-gpu",
    [KIND_SMI_DMON] = "nvidia-smi dmon",
    [KIND_SMI_PMON] = "nvidia-smi pmon",
    [KIND_GPUZ] = N_("GPU-Z sensor log"),
    [KIND_AFTERBURNER] = N_("MSI Afterburner log"),
    [KIND_KUBE] = "kubectl describe",
    [KIND_BUG_REPORT] = "nvidia-bug-report.log",
};

static void take_line(struct logs *logs, const char *text, size_t length, int64_t number)
{
    struct log_line line;
    while (length > 0 && text[length - 1] == '\r')
        length--;
    size_t printed = log_line_from_kmsg(logs->record, sizeof logs->record, text, length);
    if (printed > 0) {
        text = logs->record;
        length = printed;
    }
    log_line_parse(&line, text, length);
    line.number = number;
    if (line.host_length > 0)
        logbook_host(logs->book, line.host, line.host_length);
    if (length > 28 && memmem(text, length, "nvidia-bug-report.sh Version", 28))
        logs->kinds |= 1u << KIND_BUG_REPORT;
    if (length > 13 && memcmp(text, "| NVIDIA-SMI ", 13) == 0)
        logs->kinds |= 1u << KIND_SMI_TABLE;
    if (logs_xid(logs, &line))
        return;
    logs_smi(logs, &line);
    logs_kube(logs, &line);
    logs_signs(logs, &line);
}

/* A line beyond LOGS_LINE_MAX is cut there. */
static void split(struct splitter *s, struct logs *logs, const char *data, size_t size)
{
    while (size > 0) {
        const char *newline = memchr(data, '\n', size);
        size_t length = newline ? (size_t)(newline - data) : size;
        size_t room = sizeof s->text - s->length, kept = length < room ? length : room;
        memcpy(s->text + s->length, data, kept);
        s->length += kept;
        if (!newline)
            return;
        s->long_lines += s->length == sizeof s->text;
        take_line(logs, s->text, s->length, ++s->number);
        s->length = 0;
        size -= length + 1;
        data += length + 1;
    }
}

/* Text holds next to no control characters; what has many is a program or a picture. */
static bool is_text(const char *head, size_t length)
{
    size_t controls = 0;
    for (size_t i = 0; i < length; i++)
        controls += (unsigned char)head[i] < 32 && !strchr("\t\n\r\f\033", head[i] ? head[i] : 1);
    return controls * 10 <= length;
}

static void describe(struct logs *logs, const struct splitter *s, const char *damage)
{
    struct str text = {0};
    struct place place = {logs->file, s->number, NULL};
    for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++)
        if (logs->kinds >> i & 1)
            str_addf(&text, "%s%s", text.len ? _(", ") : "", _(kind_names[i]));
    logs->book->is_known |= logs->kinds != 0;
    if (text.len == 0)
        str_puts(&text, _("text"));
    if (damage)
        str_addf(&text, "; %s", damage);
    if (s->is_bomb)
        str_puts(&text, _("; it swells beyond all measure: the rest was not read"));
    if (s->long_lines > 0)
        str_addf(&text, i18n_plural(NP_("; %lld line was cut", "; %lld lines were cut"), s->long_lines),
                 (long long)s->long_lines);
    place.text = arena_text(&logs->book->arena, text.ptr, text.len);
    vec_push(&logs->book->sources, place);
    str_release(&text);
}

/* Whether the head of the file is text; says how the file is written. */
static bool find_text(struct encoding *encoding, const char *head, size_t length)
{
    struct encoding trial;
    struct str text = {0};
    encoding_find(encoding, head, length);
    trial = *encoding;
    encoding_decode(&trial, &text, head, length);
    bool found = is_text(str_text(&text), text.len);
    str_release(&text);
    return found;
}

/* No log shrinks like that: a file that is made to swell without end is not read to it. */
static bool is_bomb(const struct stream *in, int64_t bytes)
{
    enum { MOST_TIMES = 500 };
    const int64_t harmless = INT64_C(64) << 20;
    return bytes > harmless && bytes / MOST_TIMES > stream_consumed(in);
}

static int read_lines(struct logs *logs, struct splitter *s, struct stream *in, struct err *err)
{
    struct encoding encoding;
    struct str text = {0};
    char *chunk = mem_alloc(CHUNK);
    int64_t got = stream_peek(in, chunk, SNIFF, err);
    int rc = got < 0 ? (int)got : 0;
    if (rc == 0 && !find_text(&encoding, chunk, (size_t)got))
        rc = err_set(err, ERR_INPUT, stream_path(in), -1,
                     _("doctor reads logs and output of nvidia-smi; 'warplight report' reads recordings"),
                     _("this is no text"));
    while (rc == 0 && (got = stream_read(in, chunk, CHUNK, err)) != 0) {
        str_cut(&text, 0);
        if (got > 0)
            encoding_decode(&encoding, &text, chunk, (size_t)got);
        split(s, logs, str_text(&text), text.len);
        rc = got < 0 ? (int)got : 0;
        s->bytes += got;
        s->is_bomb = is_bomb(in, s->bytes);
        if (s->is_bomb)
            break;
    }
    if (rc == 0 && s->length > 0) {
        s->long_lines += s->length == sizeof s->text;
        take_line(logs, s->text, s->length, ++s->number);
    }
    str_release(&text);
    free(chunk);
    return rc;
}

static int read_stream(struct logbook *book, struct stream *in, struct err *err)
{
    struct logs *logs = mem_zalloc(1, sizeof *logs);
    struct splitter *s = mem_zalloc(1, sizeof *s);
    logs->book = book;
    logs->file = arena_text(&book->arena, stream_path(in), strlen(stream_path(in)));
    logs->source = book->sources.count;
    logs->index = sign_index_new();
    int rc = read_lines(logs, s, in, err);
    if (rc == 0)
        describe(logs, s, stream_damage(in));
    sign_index_free(logs->index);
    free(s);
    free(logs);
    return rc;
}

int logs_read(struct logbook *book, const char *path, struct err *err)
{
    struct stream *in;
    int rc = stream_open(&in, path, err);
    if (rc < 0)
        return rc;
    rc = read_stream(book, in, err);
    stream_close(in);
    return rc;
}

int logs_read_memory(struct logbook *book, const char *name, const void *data, size_t length, struct err *err)
{
    struct stream *in;
    int rc = stream_open_memory(&in, name, data, length, err);
    if (rc < 0)
        return rc;
    rc = read_stream(book, in, err);
    stream_close(in);
    return rc;
}

#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/str.h"
#include "import/unknown.h"

enum {
    SNIFF_BYTES = 64 * 1024,
    /* Far above what tools write: a Python stack of 1,000 frames takes 100 KiB, an NCCL record nests 4 deep.
     */
    DEFAULT_STRING_BYTES = 16 * 1024 * 1024,
    DEFAULT_DEPTH = 256,
    /* How much after the end of an importer's interest is read for the checksums at the end of the file. */
    DRAIN_BYTES = 1024 * 1024,
};

extern const struct importer import_chrome_json, import_nsys_sqlite, import_perfetto, import_wlt,
    import_ncu_csv, import_ncu_rep, import_ncu_text, import_nvprof, import_kernels_json;

const struct importer *const importers[] = {
    &import_chrome_json, &import_nsys_sqlite, &import_perfetto, &import_wlt,          &import_ncu_rep,
    &import_ncu_csv,     &import_ncu_text,    &import_nvprof,   &import_kernels_json, NULL};

static void list_names(struct str *list)
{
    for (size_t i = 0; importers[i]; i++)
        str_addf(list, "%s%s", i ? ", " : "", importers[i]->name);
}

static void list_titles(struct str *list)
{
    for (size_t i = 0; importers[i]; i++)
        str_addf(list, "%s%s", i ? "; " : "", _(importers[i]->title));
}

static int no_such_importer(const char *name, struct err *err)
{
    struct str hint = {0};
    str_puts(&hint, _("known formats: "));
    list_names(&hint);
    int code = err_set(err, ERR_USAGE, name, -1, str_text(&hint), _("no such input format"));
    str_release(&hint);
    return code;
}

static int nobody_claims(const struct stream *in, const char *head, size_t length, struct err *err)
{
    struct unknown_look look = unknown_look(stream_path(in), head, length);
    struct str known = {0};
    str_puts(&known, _("known formats: "));
    list_titles(&known);
    int code = err_set(err, ERR_INPUT, stream_path(in), -1, look.hint ? look.hint : str_text(&known),
                       _("not a recording that can be read: it looks like %s"), look.what);
    str_release(&known);
    return code;
}

/* The importer called name, or the one that is surest about the head; on a tie the first in the table. */
static const struct importer *choose(const char *name, const char *head, size_t length)
{
    const struct importer *best = NULL;
    int best_score = 0;
    for (size_t i = 0; importers[i]; i++) {
        if (name) {
            if (strcmp(name, importers[i]->name) == 0)
                return importers[i];
            continue;
        }
        int score = importers[i]->sniff(head, length);
        if (score > best_score) {
            best = importers[i];
            best_score = score;
        }
    }
    return best;
}

/* An importer stops at the end of its own data; what checks the compression comes after that. */
static void drain(struct stream *in)
{
    char *rest = mem_alloc(SNIFF_BYTES);
    for (int i = 0; i < DRAIN_BYTES / SNIFF_BYTES && stream_read(in, rest, SNIFF_BYTES, NULL) > 0; i++)
        continue;
    free(rest);
}

static void record_damage(struct run *run, uint32_t source, struct stream *in)
{
    drain(in);
    if (!stream_damage(in) || source >= run->sources.count)
        return;
    run_repair(run, source, stream_damage(in), 1, -1);
    if (stream_size(in) > stream_consumed(in))
        run->losses.truncated_bytes += stream_size(in) - stream_consumed(in);
}

static int import_with(const struct importer *importer, struct run *run, struct stream *in,
                       const struct import_options *options, struct err *err)
{
    struct import_options limits = options ? *options : (struct import_options){0};
    if (limits.max_string_bytes == 0)
        limits.max_string_bytes = DEFAULT_STRING_BYTES;
    if (limits.max_depth <= 0)
        limits.max_depth = DEFAULT_DEPTH;
    uint32_t source = (uint32_t)run->sources.count;
    int code = importer->read(run, in, &limits, err);
    if (code == 0) {
        record_damage(run, source, in);
        return 0;
    }
    if (err && err->where[0] == '\0')
        snprintf(err->where, sizeof err->where, "%s", stream_path(in));
    if (err && err->hint[0] == '\0' && stream_damage(in))
        snprintf(err->hint, sizeof err->hint, "%s", _(stream_damage(in)));
    return code;
}

static int import_stream(struct run *run, struct stream *in, const char *name,
                         const struct import_options *options, struct err *err)
{
    char *head = mem_alloc(SNIFF_BYTES);
    int64_t length = stream_peek(in, head, SNIFF_BYTES, err);
    int code = length < 0 ? (int)length : 0;
    if (length == 0) {
        const char *damage = stream_damage(in);
        code = err_set(err, ERR_INPUT, stream_path(in), -1, _("make or copy the file again"),
                       _("nothing is left after decompression: %s"),
                       damage ? _(damage) : _("the file is empty"));
    } else if (length > 0) {
        const struct importer *importer = choose(name, head, (size_t)length);
        code = importer ? import_with(importer, run, in, options, err)
               : name   ? no_such_importer(name, err)
                        : nobody_claims(in, head, (size_t)length, err);
    }
    free(head);
    return code;
}

int import_file(struct run *run, const char *path, const char *name, const struct import_options *options,
                struct err *err)
{
    struct stream *in;
    int code = stream_open(&in, path, err);
    if (code < 0)
        return code;
    code = import_stream(run, in, name, options, err);
    stream_close(in);
    return code;
}

int import_memory(struct run *run, const char *label, const void *data, size_t length, const char *name,
                  const struct import_options *options, struct err *err)
{
    struct stream *in;
    int code = stream_open_memory(&in, label, data, length, err);
    if (code < 0)
        return code;
    code = import_stream(run, in, name, options, err);
    stream_close(in);
    return code;
}

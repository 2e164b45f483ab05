#include "export/export.h"

#include <string.h>

#include "base/i18n.h"

extern const struct exporter export_perfetto, export_chrome, export_folded, export_wlt;

const struct exporter *const exporters[] = {&export_perfetto, &export_chrome, &export_folded, &export_wlt,
                                            NULL};

const struct exporter *exporter_named(const char *name)
{
    for (const struct exporter *const *e = exporters; *e; e++)
        if (strcmp((*e)->name, name) == 0)
            return *e;
    return NULL;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t end_length = strlen(end);
    return length > end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

static size_t length_without_gz(const char *path)
{
    size_t length = strlen(path);
    return ends_with(path, length, ".gz") ? length - strlen(".gz") : length;
}

const struct exporter *exporter_for_path(const char *path)
{
    for (const struct exporter *const *e = exporters; *e; e++)
        if (ends_with(path, length_without_gz(path), (*e)->extension))
            return *e;
    return NULL;
}

int export_file(const struct run *run, const struct exporter *exporter, const struct export_options *options,
                const char *path, struct err *err)
{
    static const struct export_options everything;
    struct export_sink sink;
    int failed = sink_open(&sink, path, length_without_gz(path) < strlen(path), err);
    if (failed)
        return failed;
    failed = exporter->write(run, options ? options : &everything, &sink, err);
    int write_failed = sink_close(&sink, failed == 0, failed ? NULL : err);
    return failed ? failed : write_failed;
}

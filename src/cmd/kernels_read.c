#include "cmd/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/i18n.h"
#include "cmd/codes.h"
#include "cmd/read_run.h"
#include "symbol/binary.h"
#include "symbol/place_lines.h"

enum { HEAD_BYTES = 64 << 10 };

/* A file that cannot be opened is none: whoever reads it says why. */
static bool is_code(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    if (S_ISDIR(st.st_mode))
        return true;
    FILE *file = S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    char *head = mem_alloc(HEAD_BYTES);
    size_t length = fread(head, 1, HEAD_BYTES, file);
    bool is = binary_is(head, length);
    free(head);
    fclose(file);
    return is;
}

static int check_profiles(const struct run *run, const char *path, struct err *err)
{
    if (run->profiles.count > 0)
        return 0;
    struct str hint = {0};
    if (run->ops.count > 0)
        str_addf(&hint, _("it holds a timeline: run 'warplight report %s'"), path);
    else
        str_puts(&hint, _("export the raw page: ncu --import FILE --csv --page raw"));
    int rc = err_set(err, ERR_INPUT, path, -1, str_text(&hint), _("there are no counters of kernels in it"));
    str_release(&hint);
    return rc;
}

int kernels_read(struct kernels_input *input, struct cli *cli, char *const *paths, int count,
                 const char *importer, struct err *err)
{
    char **codes = mem_resize(NULL, (size_t)count + 1, sizeof *codes);
    char **recordings = mem_resize(NULL, (size_t)count + 1, sizeof *recordings);
    int code_count = 0, recording_count = 0;
    for (int i = 0; i < count; i++) {
        if (!importer && is_code(paths[i]))
            codes[code_count++] = paths[i];
        else
            recordings[recording_count++] = paths[i];
    }
    input->has_profiles = recording_count > 0;
    int rc = read_run(&input->run, cli, recordings, recording_count, importer, err);
    if (rc == 0) {
        binary_read_images(&input->run);
        places_find_lines(&input->run);
    }
    if (rc == 0 && code_count > 0)
        rc = codes_read(&input->run, codes, code_count, err);
    if (rc == 0 && input->has_profiles)
        rc = check_profiles(&input->run, recordings[0], err);
    free(codes);
    free(recordings);
    return rc;
}

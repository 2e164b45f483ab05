#include "source/disassembler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "source/child_output.h"

enum { MOST_BYTES = 256 << 20 };
static const int64_t deadline_ns = INT64_C(20000000000);

/* A new file with that content, named path. 0, or why it cannot be had. */
static int write_file(struct str *path, const void *content, size_t size)
{
    static const char suffix[] = ".cubin";
    const char *folder = getenv("TMPDIR"), *bytes = content;
    str_addf(path, "%s/warplight-XXXXXX%s", folder && *folder ? folder : "/tmp", suffix);
    int fd = mkostemps(path->ptr, sizeof suffix - 1, O_CLOEXEC), why = fd < 0 ? errno : 0;
    for (size_t done = 0; why == 0 && done < size;) {
        ssize_t part = write(fd, bytes + done, size - done);
        done += part > 0 ? (size_t)part : 0;
        if (part == 0 || (part < 0 && errno != EINTR))
            why = part < 0 ? errno : ENOSPC;
    }
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && why)
        unlink(path->ptr);
    return why;
}

static int run_first(struct str *out, const char *cubin)
{
    const char *chosen = getenv("WARPLIGHT_NVDISASM"), *toolkit = getenv("CUDA_HOME");
    const char *const arguments[] = {"nvdisasm", "-c", cubin, NULL};
    struct str of_toolkit = {0};
    if (chosen && *chosen)
        return child_output(out, chosen, arguments, MOST_BYTES, deadline_ns);
    int why = child_output(out, arguments[0], arguments, MOST_BYTES, deadline_ns);
    if (why == ENOENT && toolkit && *toolkit) {
        str_addf(&of_toolkit, "%s/bin/nvdisasm", toolkit);
        why = child_output(out, str_text(&of_toolkit), arguments, MOST_BYTES, deadline_ns);
    }
    if (why == ENOENT)
        why = child_output(out, "/usr/local/cuda/bin/nvdisasm", arguments, MOST_BYTES, deadline_ns);
    str_release(&of_toolkit);
    return why;
}

int disassembler_run(struct str *out, const void *cubin, size_t size)
{
    struct str path = {0};
    int why = write_file(&path, cubin, size);
    if (why == 0) {
        why = run_first(out, str_text(&path));
        unlink(str_text(&path));
    }
    str_release(&path);
    return why;
}

#include "source/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/i18n.h"
#include "capture/ring.h"

int target_find_library(struct str *path, struct err *err)
{
    static const char *const places[] = {
        "libwarplight-inject.so",
        "../inject/libwarplight-inject.so",
        "../lib/warplight/libwarplight-inject.so",
        "../lib/x86_64-linux-gnu/warplight/libwarplight-inject.so",
        "../lib/aarch64-linux-gnu/warplight/libwarplight-inject.so",
        "../lib64/warplight/libwarplight-inject.so",
    };
    const char *chosen = getenv("WARPLIGHT_INJECT");
    if (chosen && *chosen) {
        str_puts(path, chosen);
        if (access(chosen, R_OK) == 0)
            return 0;
        return err_set(err, ERR_ENV, chosen, -1, _("mend or unset WARPLIGHT_INJECT"),
                       _("the library to inject cannot be read: %s"), strerror(errno));
    }
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = '\0';
        *(strrchr(self, '/') + 1) = '\0';
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            str_cut(path, 0);
            str_addf(path, "%s%s", self, places[i]);
            char *real = access(str_text(path), R_OK) == 0 ? realpath(str_text(path), NULL) : NULL;
            if (!real)
                continue;
            str_cut(path, 0);
            str_puts(path, real);
            free(real);
            return 0;
        }
    }
    return err_set(err, ERR_ENV, "libwarplight-inject.so", -1,
                   _("it lies beside the program or in lib/warplight; name it in WARPLIGHT_INJECT"),
                   _("the library to inject was not found"));
}

static void set_environment(const char *library, const char *folder)
{
    const char *before = getenv("CUDA_INJECTION64_PATH");
    /* Some tools write "none" for "not set". */
    if (before && *before && strcmp(before, "none") != 0 && strcmp(before, library) != 0)
        setenv(RING_ENV_CHAIN, before, 1);
    setenv("CUDA_INJECTION64_PATH", library, 1);
    setenv("NVTX_INJECTION64_PATH", library, 0); /* another tool's handler of NVTX ranges stays */
    setenv(RING_ENV_DIR, folder, 1);
}

int target_start(struct target *t, char *const *argv, const char *library, const char *folder,
                 struct err *err)
{
    *t = (struct target){0};
    int report[2]; /* closes on exec; carries errno if that fails */
    if (pipe2(report, O_CLOEXEC) != 0)
        return err_set(err, ERR_ENV, argv[0], -1, NULL, _("cannot start it: %s"), strerror(errno));
    t->pid = fork();
    if (t->pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        set_environment(library, folder);
        execvp(argv[0], argv);
        int why = errno;
        ssize_t written = write(report[1], &why, sizeof why);
        (void)written;
        _exit(127);
    }
    close(report[1]);
    int why = t->pid < 0 ? errno : 0;
    if (t->pid > 0 && read(report[0], &why, sizeof why) == (ssize_t)sizeof why)
        waitpid(t->pid, NULL, 0);
    close(report[0]);
    if (why) {
        t->pid = 0;
        return err_set(err, ERR_ENV, argv[0], -1,
                       why == ENOENT ? _("check the name of the program and PATH") : NULL,
                       _("cannot start it: %s"), strerror(why));
    }
    return 0;
}

void target_poll(struct target *t)
{
    if (!t->ended && waitpid(t->pid, &t->status, WNOHANG) == t->pid)
        t->ended = true;
}

void target_signal(const struct target *t, int signal)
{
    if (!t->ended)
        kill(t->pid, signal);
}

int target_exit_code(const struct target *t)
{
    return WIFSIGNALED(t->status) ? 128 + WTERMSIG(t->status) : WEXITSTATUS(t->status);
}

#include "source/target.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/vec.h"
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

/* The environment of the target: ours, with the library and its folder named. Pointers into text and environ.
 */
static char **target_environment(struct str *text, const char *library, const char *folder,
                                 const char *options)
{
    const char *before = getenv("CUDA_INJECTION64_PATH");
    /* Some tools write "none" for "not set". */
    bool chain = before && *before && strcmp(before, "none") != 0 && strcmp(before, library) != 0;
    str_addf(text, "CUDA_INJECTION64_PATH=%s%c" RING_ENV_DIR "=%s%c", library, '\0', folder, '\0');
    if (*options)
        str_addf(text, RING_ENV_OPTIONS "=%s%c", options, '\0');
    if (chain)
        str_addf(text, RING_ENV_CHAIN "=%s%c", before, '\0');
    if (!getenv("NVTX_INJECTION64_PATH")) /* another tool's handler of NVTX ranges stays */
        str_addf(text, "NVTX_INJECTION64_PATH=%s%c", library, '\0');
    VEC(char *) all = {0};
    for (char *own = text->ptr; own < text->ptr + text->len; own += strlen(own) + 1)
        vec_push(&all, own);
    for (char **variable = environ; *variable; variable++)
        if (strncmp(*variable, "CUDA_INJECTION64_PATH=", strlen("CUDA_INJECTION64_PATH=")) != 0 &&
            strncmp(*variable, RING_ENV_DIR "=", strlen(RING_ENV_DIR "=")) != 0 &&
            strncmp(*variable, RING_ENV_OPTIONS "=", strlen(RING_ENV_OPTIONS "=")) != 0)
            vec_push(&all, *variable);
    vec_push(&all, NULL);
    return all.at;
}

static const char *remedy(int why)
{
    switch (why) {
    case ENOENT:
        return _("check the name of the program and PATH");
    case EACCES:
        return _("make it executable (chmod +x), or name what runs it: python3 train.py");
    case ENOEXEC:
        return _("a program is for this CPU, and a script says in its first line what runs it (#!/bin/sh)");
    default:
        return NULL;
    }
}

int target_start(struct target *t, char *const *argv, const char *library, const char *folder,
                 const char *options, const sigset_t *mask, struct err *err)
{
    *t = (struct target){0};
    struct str text = {0};
    /* Where it is ignored, by whoever started us, nobody learns how a child ended, and all would wait for it.
     */
    signal(SIGCHLD, SIG_DFL);
    char **environment = target_environment(&text, library, folder, options);
    posix_spawnattr_t attributes;
    sigset_t changed; /* by this program; what the shell made of the others (nohup, jobs in the background)
                         stays */
    sigemptyset(&changed);
    sigaddset(&changed, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &changed);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int why = posix_spawnp(&t->pid, argv[0], NULL, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    free(environment);
    str_release(&text);
    if (why) {
        t->pid = 0;
        return err_set(err, ERR_ENV, argv[0], -1, remedy(why), _("cannot start it: %s"), strerror(why));
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

static bool file_is_privileged(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
           ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

bool target_is_privileged(const char *program)
{
    const char *places = getenv("PATH");
    if (strchr(program, '/') || !places)
        return file_is_privileged(program);
    struct str path = {0};
    bool found = false, privileged = false;
    for (const char *place = places; !found; place += strcspn(place, ":") + 1) {
        size_t length = strcspn(place, ":");
        str_cut(&path, 0);
        str_add(&path, length ? place : ".", length ? length : 1);
        str_addf(&path, "/%s", program);
        found = access(str_text(&path), X_OK) == 0;
        privileged = found && file_is_privileged(str_text(&path));
        if (place[length] == '\0')
            break;
    }
    str_release(&path);
    return privileged;
}

int target_exit_code(const struct target *t)
{
    return WIFSIGNALED(t->status) ? 128 + WTERMSIG(t->status) : WEXITSTATUS(t->status);
}

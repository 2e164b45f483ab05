#include "source/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

extern char **environ;

static void add(struct run *run, uint32_t source, const char *key, const char *value)
{
    if (value && *value)
        run_fact(run, source, key, value, strlen(value));
}

static void add_environment(struct run *run, uint32_t source)
{
    static const char *const prefixes[] = {
        "CUDA_", "NCCL_", "NVIDIA_",     "PYTORCH_",    "TORCH_",        "CUBLAS",       "CUDNN_",
        "XLA_",  "JAX_",  "HIP_",        "ROCR_",       "HSA_",          "OMP_",         "TRITON_",
        "TF_",   "RANK=", "LOCAL_RANK=", "WORLD_SIZE=", "SLURM_JOB_ID=", "SLURM_PROCID="};
    /* A name that looks like a credential is left out whatever its prefix. */
    static const char *const secrets[] = {"TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIAL"};
    struct str key = {0};
    for (char **variable = environ; *variable; variable++) {
        const char *equals = strchr(*variable, '=');
        bool wanted = false;
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            wanted = wanted || strncmp(*variable, prefixes[i], strlen(prefixes[i])) == 0;
        if (!equals || !wanted)
            continue;
        str_cut(&key, 0);
        str_puts(&key, "env.");
        str_add(&key, *variable, (size_t)(equals - *variable));
        for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
            wanted = wanted && !strstr(str_text(&key), secrets[i]);
        if (wanted)
            add(run, source, str_text(&key), equals + 1);
    }
    str_release(&key);
}

/* The first line that a program prints, or nothing. */
static void first_line(struct str *out, const char *command)
{
    char line[512];
    FILE *pipe = popen(command, "re");
    if (!pipe)
        return;
    if (fgets(line, sizeof line, pipe))
        str_add(out, line, strcspn(line, "\n"));
    while (fgets(line, sizeof line, pipe))
        ; /* let it end by itself */
    pclose(pipe);
}

static void add_git(struct run *run, uint32_t source)
{
    struct str commit = {0}, changes = {0};
    first_line(&commit, "git rev-parse HEAD 2>/dev/null");
    if (commit.len) {
        first_line(&changes, "git status --porcelain --untracked-files=no 2>/dev/null");
        add(run, source, "git_commit", str_text(&commit));
        add(run, source, "git_dirty", changes.len ? "true" : "false");
    }
    str_release(&commit);
    str_release(&changes);
}

static void add_driver(struct run *run, uint32_t source)
{
    char line[256];
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    if (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        add(run, source, "nvidia_module", line);
    }
    if (file)
        fclose(file);
}

void facts_add(struct run *run, uint32_t source, char *const *argv)
{
    struct str command = {0};
    for (char *const *argument = argv; *argument; argument++)
        str_addf(&command, "%s%s", argument == argv ? "" : " ", *argument);
    add(run, source, "command_line", str_text(&command));
    str_release(&command);
    char folder[4096], text[64];
    if (getcwd(folder, sizeof folder))
        add(run, source, "working_directory", folder);
    struct utsname host;
    if (uname(&host) == 0) {
        add(run, source, "host", host.nodename);
        add(run, source, "kernel", host.release);
    }
    snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    add(run, source, "cpu_count", text);
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
        add(run, source, "recorded_at", text);
    add_driver(run, source);
    add_git(run, source);
    add_environment(run, source);
}

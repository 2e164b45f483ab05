#include "source/facts.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

static void add(struct run *run, uint32_t source, const char *key, const char *value)
{
    if (value && *value)
        run_fact(run, source, key, value, strlen(value));
}

static void add_environment(struct run *run, uint32_t source)
{
    static const char *const prefixes[] = {"CUDA_",
                                           "NCCL_",
                                           "NVIDIA_TF32_OVERRIDE=",
                                           "NVIDIA_VISIBLE_DEVICES=",
                                           "PYTORCH_",
                                           "TORCH_",
                                           "CUBLAS",
                                           "CUDNN_",
                                           "XLA_",
                                           "JAX_",
                                           "HIP_",
                                           "ROCR_",
                                           "HSA_",
                                           "OMP_",
                                           "TRITON_",
                                           "TF_CPP_", /* not TF_, which Terraform's variables have as well */
                                           "TF_CUDNN_",
                                           "TF_DETERMINISTIC_",
                                           "TF_ENABLE_",
                                           "TF_FORCE_",
                                           "TF_GPU_",
                                           "TF_NUM_",
                                           "TF_XLA_",
                                           "RANK=",
                                           "LOCAL_RANK=",
                                           "WORLD_SIZE=",
                                           "SLURM_JOB_ID=",
                                           "SLURM_PROCID="};
    /* A name that looks like a credential is left out whatever its prefix. */
    static const char *const secrets[] = {"TOKEN", "SECRET", "PASS", "PWD", "KEY", "AUTH", "CREDENTIAL"};
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
            wanted = wanted && !strcasestr(str_text(&key), secrets[i]);
        if (wanted)
            add(run, source, str_text(&key), equals + 1);
    }
    str_release(&key);
}

/* The first line that a program prints, or nothing. Its errors go nowhere. */
static void first_line(struct str *out, const char *const *argv)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    int why = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *lines = fdopen(ends[0], "r");
    char line[512];
    if (lines && fgets(line, sizeof line, lines))
        str_add(out, line, strcspn(line, "\n"));
    while (lines && fgets(line, sizeof line, lines))
        ; /* let it end by itself */
    if (lines)
        fclose(lines);
    else
        close(ends[0]);
    if (why == 0)
        waitpid(pid, NULL, 0);
}

static void add_git(struct run *run, uint32_t source)
{
    struct str commit = {0}, changes = {0};
    first_line(&commit, (const char *const[]){"git", "rev-parse", "--verify", "HEAD", NULL});
    if (commit.len) {
        first_line(&changes,
                   (const char *const[]){"git", "status", "--porcelain", "--untracked-files=no", NULL});
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

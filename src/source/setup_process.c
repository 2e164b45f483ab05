/* The program that is examined: its environment, rights, limits and mapped files (proc(5)); or this process,
 * whose environment a program inherits that it starts. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "source/setup.h"
#include "source/setup_files.h"

enum { MOST_VARIABLES = 4096, MOST_IMAGES = 512 };

static int read_of(const struct setup *s, struct str *text, const char *file)
{
    if (s->pid)
        return setup_read_file(s, text, "/proc/%lld/%s", (long long)s->pid, file);
    return setup_read_file(s, text, "/proc/self/%s", file);
}

/* Only what decides about GPUs is kept: an environment holds secrets. */
static bool is_wanted(const char *name)
{
    static const char *const prefixes[] = {"CUDA_",
                                           "NVIDIA_",
                                           "HIP_",
                                           "ROCR_",
                                           "HSA_",
                                           "ZE_",
                                           "GPU_DEVICE_ORDINAL",
                                           "LD_LIBRARY_PATH",
                                           "LD_PRELOAD",
                                           "PATH",
                                           "HOME",
                                           "PYTHONPATH",
                                           "VIRTUAL_ENV",
                                           "CONDA_PREFIX",
                                           "container",
                                           "KUBERNETES_SERVICE_HOST",
                                           "SLURM_JOB_ID",
                                           "APPTAINER_CONTAINER",
                                           "SINGULARITY_CONTAINER",
                                           "FLATPAK_ID",
                                           "SNAP",
                                           "NCCL_",
                                           "PYTORCH_",
                                           "__NV",
                                           "__GLX_VENDOR",
                                           "DRI_PRIME",
                                           "GPU_CORE_UTILIZATION_POLICY",
                                           "ALIYUN_COM_GPU"};
    static const char *const secrets[] = {"TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "_KEY"};
    bool wanted = false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        wanted = wanted || strncmp(name, prefixes[i], strlen(prefixes[i])) == 0;
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        wanted = wanted && !strstr(name, secrets[i]);
    return wanted;
}

static void read_environment(struct setup *s)
{
    struct str text = {0};
    int error = read_of(s, &text, "environ");
    if (error && s->pid)
        s->process_error = error;
    for (size_t at = 0; at < text.len && s->variables.count < MOST_VARIABLES;) {
        const char *entry = text.ptr + at; /* str keeps a NUL behind the last one */
        size_t length = strlen(entry);
        const char *equals = memchr(entry, '=', length);
        if (equals && is_wanted(entry)) {
            struct setup_variable *variable = vec_new(&s->variables);
            variable->name = setup_visible(s, entry, (size_t)(equals - entry));
            variable->value = arena_text(&s->arena, equals + 1, length - (size_t)(equals + 1 - entry));
        }
        at += length + 1;
    }
    str_release(&text);
}

static void read_rights(struct setup *s)
{
    struct str text = {0};
    if (read_of(s, &text, "status") == 0) {
        const char *effective = setup_value(s, &text, "CapEff");
        s->has_capabilities = isxdigit((unsigned char)*effective);
        s->capabilities = strtoull(effective, NULL, 16);
        if (s->pid)
            s->program = setup_value(s, &text, "Name");
    }
    str_release(&text);
}

/* "Max locked memory         65536                65536                bytes": the first number is in force.
 */
static int64_t limit_of(struct setup *s, const struct str *text, const char *name)
{
    const char *value = setup_value(s, text, name);
    if (strncmp(value, "unlimited", strlen("unlimited")) == 0)
        return LIMIT_NONE;
    return isdigit((unsigned char)*value) ? strtoll(value, NULL, 10) : LIMIT_UNKNOWN;
}

static void read_limits(struct setup *s)
{
    struct str text = {0};
    struct statvfs shm;
    char path[SETUP_PATH_BYTES];
    if (read_of(s, &text, "limits") == 0) {
        s->memlock = limit_of(s, &text, "Max locked memory");
        s->nofile = limit_of(s, &text, "Max open files");
    }
    /* Through its own root: a process in a container has another /dev/shm. */
    bool fits = s->pid ? setup_path(s, path, "/proc/%lld/root/dev/shm", (long long)s->pid)
                       : setup_path(s, path, "/dev/shm");
    if (!*s->root && fits && statvfs(path, &shm) == 0)
        s->shm_bytes = (int64_t)shm.f_blocks * (int64_t)shm.f_frsize;
    str_release(&text);
}

static bool has(const struct setup *s, const char *name)
{
    return setup_variable(s, name) != NULL;
}

/* Signs that the runtimes leave; a container may have none. */
static void read_container(struct setup *s)
{
    struct str cgroup = {0};
    read_of(s, &cgroup, "cgroup");
    const char *text = str_text(&cgroup), *named = setup_variable(s, "container");
    if (has(s, "KUBERNETES_SERVICE_HOST") || strstr(text, "kubepods"))
        s->container = "kubernetes";
    else if (setup_exists(s, "/.dockerenv") || strstr(text, "/docker"))
        s->container = "docker";
    else if (setup_exists(s, "/run/.containerenv") || strstr(text, "libpod"))
        s->container = "podman";
    else if (has(s, "APPTAINER_CONTAINER") || has(s, "SINGULARITY_CONTAINER"))
        s->container = "apptainer";
    else if (setup_exists(s, "/.flatpak-info"))
        s->container = "flatpak";
    else if (named && *named)
        s->container = setup_visible(s, named, strlen(named));
    str_release(&cgroup);
}

/* Libraries that say something about GPUs are looked at first; the program's own extensions are what is left
 * of shared objects outside the system's folders. */
static bool may_hold_code(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    if (strstr(path, " (deleted)") || !strstr(name, ".so"))
        return false;
    return strncmp(path, "/lib", 4) != 0 && strncmp(path, "/usr/lib", 8) != 0;
}

static void add_image(struct setup *s, const char *path, bool is_main)
{
    vec_each (&s->images, image)
        if (strcmp(image->path, path) == 0)
            return;
    if (s->images.count < MOST_IMAGES)
        *vec_new(&s->images) =
            (struct setup_image){.path = arena_text(&s->arena, path, strlen(path)), .is_main = is_main};
}

static void take_mapped(struct setup *s, const char *path, const char *program)
{
    static const char *const names[] = {"libcuda.so",       "libnvidia-ml.so", "libcudart.so", "libcupti.so",
                                        "libtorch_cuda.so", "libvgpu.so",      "libnvshare.so"};
    const char *name = strrchr(path, '/') + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) != 0 || setup_library(s, names[i]))
            continue;
        struct setup_library *library = vec_new(&s->libraries);
        const char *version = name[length] == '.' ? name + length + 1 : "";
        *library = (struct setup_library){names[i], setup_visible(s, path, strlen(path)),
                                          setup_visible(s, version, strlen(version)), true};
    }
    /* PyTorch's own kernels are in one library, of which every program makes use. */
    bool is_main = strcmp(name, program) == 0 || strncmp(name, "libtorch_cuda.so", 16) == 0;
    if (is_main || may_hold_code(path))
        add_image(s, path, is_main);
}

static void read_maps(struct setup *s)
{
    struct str text = {0};
    int error = read_of(s, &text, "maps");
    const char *program = setup_link_name(s, "/proc/%lld/exe", (long long)s->pid);
    if (error)
        s->process_error = error;
    for (char *line = text.len ? text.ptr : NULL; line && *line;) {
        size_t length = strcspn(line, "\n");
        bool more = line[length] == '\n';
        line[length] = '\0';
        char *path = strchr(line, '/');
        if (path)
            take_mapped(s, path, program);
        line += length + more;
    }
    str_release(&text);
}

/* CUDA's own default, where no variable names another folder. */
static void read_mps(struct setup *s)
{
    const char *folder = setup_variable(s, "CUDA_MPS_PIPE_DIRECTORY");
    s->has_mps_pipe = setup_exists(s, "%s/control", folder && *folder ? folder : "/tmp/nvidia-mps");
}

void setup_read_process(struct setup *s)
{
    read_environment(s);
    read_mps(s);
    read_rights(s);
    read_limits(s);
    read_container(s);
    if (s->pid)
        read_maps(s);
}

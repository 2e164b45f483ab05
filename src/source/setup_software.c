/* The driver's libraries as the program's loader would find them, the CUDA toolkit and PyTorch. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "source/setup.h"
#include "source/setup_files.h"

/* What the loader looks through after LD_LIBRARY_PATH: the folders of Debian, Fedora, NixOS, WSL and of
 * NVIDIA's container runtime. */
static const char *const library_folders[] = {
    "/usr/lib/wsl/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib",
    "/usr/lib/aarch64-linux-gnu/tegra",
    "/usr/lib/aarch64-linux-gnu/nvidia",
    "/usr/lib",
};

/* The digits after ".so." of what a library leads to; "1" alone says nothing. */
static const char *version_of(struct setup *s, const char *folder, const char *name)
{
    const char *file = name;
    for (int hops = 0; hops < 8; hops++) {
        const char *next = setup_link_name(s, "%s/%s", folder, file);
        if (!*next)
            break;
        file = next;
    }
    const char *version = strstr(file, ".so.");
    return version && strchr(version + 4, '.') ? version + 4 : "";
}

static bool find_in(struct setup *s, const char *name, const char *folder)
{
    char path[SETUP_LINE_BYTES];
    if (*folder != '/' || !setup_exists(s, "%s/%s", folder, name))
        return false;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *vec_new(&s->libraries) = (struct setup_library){name, setup_visible(s, path, strlen(path)),
                                                     version_of(s, folder, name), false};
    return true;
}

static bool find_in_list(struct setup *s, const char *name, const char *list)
{
    char folder[SETUP_LINE_BYTES];
    while (list && *list) {
        size_t length = strcspn(list, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)(length < sizeof folder ? length : sizeof folder - 1),
                 list);
        if (find_in(s, name, folder))
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

static void find_library(struct setup *s, const char *name)
{
    if (find_in_list(s, name, setup_variable(s, "LD_LIBRARY_PATH")))
        return;
    for (size_t i = 0; i < sizeof library_folders / sizeof *library_folders; i++)
        if (find_in(s, name, library_folders[i]))
            return;
}

/* "cuda" : { "name" : "CUDA SDK", "version" : "13.0.2" } of a toolkit's version.json. */
static void read_toolkit(struct setup *s)
{
    struct str text = {0};
    const char *home = setup_variable(s, "CUDA_HOME");
    const char *folder = home && *home == '/' ? home : "/usr/local/cuda";
    if (setup_read_file(s, &text, "%s/version.json", folder) == 0) {
        const char *sdk = strstr(str_text(&text), "\"cuda\"");
        const char *version = sdk ? strstr(sdk, "\"version\"") : NULL;
        version = version ? strpbrk(version + strlen("\"version\""), "0123456789}") : NULL;
        if (version && *version != '}') {
            s->toolkit = setup_visible(s, version, strspn(version, "0123456789."));
            s->toolkit_path = setup_visible(s, folder, strlen(folder));
        }
    }
    str_release(&text);
}

/* torch/version.py: "__version__ = '2.11.0+cu130'", "cuda: Optional[str] = '13.0'", which is None without. */
static bool read_torch(struct setup *s, const char *packages)
{
    struct str text = {0};
    char path[SETUP_LINE_BYTES];
    bool found = setup_read_file(s, &text, "%s/torch/version.py", packages) == 0;
    if (found) {
        const char *cuda = setup_value(s, &text, "cuda");
        s->torch = setup_value(s, &text, "__version__");
        s->torch_cuda = strcmp(cuda, "None") == 0 ? "" : cuda;
        snprintf(path, sizeof path, "%s/torch", packages);
        s->torch_path = setup_visible(s, path, strlen(path));
        snprintf(path, sizeof path, "%s/torch/lib/libtorch_cuda.so", packages);
        if (s->images.count == 0 && setup_exists(s, "%s", path))
            *vec_new(&s->images) =
                (struct setup_image){.path = setup_visible(s, path, strlen(path)), .is_main = true};
    }
    str_release(&text);
    return found;
}

/* PREFIX/lib/python3.N/{site,dist}-packages */
static bool find_torch_below(struct setup *s, const char *prefix)
{
    char packages[SETUP_LINE_BYTES];
    bool found = false;
    DIR *lib = setup_folder(s, "%s/lib", prefix);
    for (struct dirent *entry; lib && !found && (entry = readdir(lib));) {
        if (strncmp(entry->d_name, "python3", strlen("python3")) != 0)
            continue;
        for (int dist = 0; dist < 2 && !found; dist++) {
            int length = snprintf(packages, sizeof packages, "%s/lib/%s/%s-packages", prefix, entry->d_name,
                                  dist ? "dist" : "site");
            found = length < (int)sizeof packages && read_torch(s, packages);
        }
    }
    if (lib)
        closedir(lib);
    return found;
}

/* The folder above the bin that holds the interpreter: a virtual environment's own. */
static bool find_torch_of_program(struct setup *s, const char *name)
{
    char prefix[SETUP_LINE_BYTES];
    const char *list = setup_variable(s, "PATH");
    const char *slash = strrchr(name, '/');
    if (slash) {
        snprintf(prefix, sizeof prefix, "%.*s/..", (int)(slash - name), name);
        return find_torch_below(s, prefix);
    }
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length > 0 && length < sizeof prefix - 4 && setup_exists(s, "%.*s/%s", (int)length, list, name)) {
            snprintf(prefix, sizeof prefix, "%.*s/..", (int)length, list);
            return find_torch_below(s, prefix);
        }
        list += length + (list[length] == ':');
    }
    return false;
}

static bool find_mapped_torch(struct setup *s)
{
    const struct setup_library *torch = setup_library(s, "libtorch_cuda.so");
    const char *end = torch ? strstr(torch->path, "/torch/lib/") : NULL;
    char packages[SETUP_LINE_BYTES];
    if (!end || (size_t)(end - torch->path) >= sizeof packages)
        return false;
    snprintf(packages, sizeof packages, "%.*s", (int)(end - torch->path), torch->path);
    return read_torch(s, packages);
}

static void find_torch(struct setup *s)
{
    static const char *const variables[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    static const char *const prefixes[] = {"/usr/local", "/usr", "/opt/conda"};
    const char *base = strrchr(s->program, '/') ? strrchr(s->program, '/') + 1 : s->program;
    bool is_python = strncmp(base, "python", strlen("python")) == 0 || strcmp(base, "torchrun") == 0;
    if (find_mapped_torch(s) || s->pid)
        return;
    if (*s->program && (!is_python || find_torch_of_program(s, s->program)))
        return;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *prefix = setup_variable(s, variables[i]);
        if (prefix && *prefix == '/' && find_torch_below(s, prefix))
            return;
    }
    if (find_torch_of_program(s, "python3"))
        return;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (find_torch_below(s, prefixes[i]))
            return;
}

void setup_read_software(struct setup *s)
{
    if (!setup_library(s, "libcuda.so"))
        find_library(s, "libcuda.so.1");
    if (!setup_library(s, "libnvidia-ml.so"))
        find_library(s, "libnvidia-ml.so.1");
    read_toolkit(s);
    find_torch(s);
}

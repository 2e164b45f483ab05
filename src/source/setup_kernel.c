/* The kernel, its modules and what it lets users measure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/setup.h"
#include "source/setup_files.h"

/* Whether a line of a modprobe configuration keeps the module from being loaded: "blacklist NAME", or
 * "install NAME /bin/false" (modprobe.d(5)). */
static bool line_blocks(const char *line, size_t length, const char *module)
{
    char text[256], verb[32], name[64], command[64];
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), line);
    int words = sscanf(text, "%31s %63s %63s", verb, name, command);
    if (words < 2 || strcmp(name, module) != 0)
        return false;
    return strcmp(verb, "blacklist") == 0 || (words > 2 && strcmp(verb, "install") == 0 &&
                                              (strstr(command, "/false") || strstr(command, "/true")));
}

static bool text_blocks(const struct str *text, const char *module)
{
    for (const char *line = str_text(text); *line;) {
        size_t length = strcspn(line, "\n");
        if (line_blocks(line, length, module))
            return true;
        line += length + (line[length] == '\n');
    }
    return false;
}

static const char *find_block(struct setup *s, const char *module)
{
    static const char *const folders[] = {"/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d",
                                          "/lib/modprobe.d"};
    struct str text = {0};
    const char *found = "";
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !*found; i++) {
        DIR *folder = setup_folder(s, "%s", folders[i]);
        for (struct dirent *entry; folder && !*found && (entry = readdir(folder));) {
            const char *end = strrchr(entry->d_name, '.');
            if (!end || strcmp(end, ".conf") != 0)
                continue;
            if (setup_read_file(s, &text, "%s/%s", folders[i], entry->d_name) == 0 &&
                text_blocks(&text, module)) {
                char path[SETUP_LINE_BYTES];
                snprintf(path, sizeof path, "%s/%s", folders[i], entry->d_name);
                found = setup_visible(s, path, strlen(path));
            }
        }
        if (folder)
            closedir(folder);
    }
    str_release(&text);
    return found;
}

/* The kernel's command line can blacklist too: "modprobe.blacklist=a,b", "module_blacklist=a". */
static bool command_line_blocks(const struct setup *s, const char *module)
{
    struct str text = {0};
    bool blocks = false;
    size_t length = strlen(module);
    setup_read_file(s, &text, "/proc/cmdline");
    const char *at = str_text(&text);
    while (!blocks && (at = strstr(at, "blacklist="))) {
        at += strlen("blacklist=");
        size_t end = strcspn(at, " \n");
        for (const char *name = at; name < at + end && !blocks;) {
            size_t size = strcspn(name, ", \n");
            blocks = size == length && strncmp(name, module, length) == 0;
            name += size + 1;
        }
    }
    str_release(&text);
    return blocks;
}

static void read_module(struct setup *s, struct setup_module *module, const char *name,
                        const struct str *installed)
{
    char file[64];
    module->is_loaded = setup_exists(s, "/sys/module/%s", name);
    module->version = setup_read_line(s, "/sys/module/%s/version", name);
    module->blocked_by = command_line_blocks(s, name) ? "/proc/cmdline" : find_block(s, name);
    for (int dash = 0; dash < 2 && !module->is_installed; dash++) {
        snprintf(file, sizeof file, "/%s.ko", name);
        for (char *c = file; dash && *c; c++)
            *c = *c == '_' ? '-' : *c;
        module->is_installed = strstr(str_text(installed), file) != NULL;
    }
}

static void read_modules(struct setup *s)
{
    struct str installed = {0};
    setup_read_file(s, &installed, "/lib/modules/%s/modules.dep", s->kernel);
    read_module(s, &s->nvidia, "nvidia", &installed);
    read_module(s, &s->uvm, "nvidia_uvm", &installed);
    read_module(s, &s->nouveau, "nouveau", &installed);
    str_release(&installed);
    s->has_kernel_headers = setup_exists(s, "/lib/modules/%s/build", s->kernel);
    DIR *sources = setup_folder(s, "/usr/src");
    for (struct dirent *entry; sources && (entry = readdir(sources));)
        s->has_nvidia_source |= strncmp(entry->d_name, "nvidia", strlen("nvidia")) == 0;
    if (sources)
        closedir(sources);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.10  Sun …",
 * "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build …": the first word of
 * digits and points. */
static void read_driver_version(struct setup *s)
{
    const char *line = setup_read_line(s, "/proc/driver/nvidia/version");
    s->is_open_driver = strstr(line, "Open Kernel Module") != NULL;
    for (const char *word = line; *word;) {
        size_t length = strcspn(word, " ");
        if (length > 4 && strspn(word, "0123456789.") == length && memchr(word, '.', length)) {
            s->driver_version = setup_visible(s, word, length);
            return;
        }
        word += length + strspn(word + length, " ");
    }
    if (*s->nvidia.version)
        s->driver_version = s->nvidia.version;
}

/* UEFI Specification, "Globally Defined Variables": four bytes of attributes, then 1 where it is on. */
static bool is_secure_boot(const struct setup *s)
{
    struct str text = {0};
    bool on =
        setup_read_file(s, &text,
                        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c") == 0 &&
        text.len >= 5 && text.ptr[4] == 1;
    str_release(&text);
    return on;
}

void setup_read_kernel(struct setup *s)
{
    struct str text = {0};
    s->kernel = setup_read_line(s, "/proc/sys/kernel/osrelease");
    s->is_wsl = strcasestr(s->kernel, "microsoft") != NULL;
    if (setup_read_file(s, &text, "/proc/device-tree/compatible") == 0)
        s->is_tegra =
            memmem(text.ptr ? text.ptr : "", text.len, "nvidia,tegra", strlen("nvidia,tegra")) != NULL;
    s->is_secure_boot = is_secure_boot(s);
    read_modules(s);
    read_driver_version(s);
    if (setup_read_file(s, &text, "/proc/driver/nvidia/params") == 0) {
        const char *admin_only = setup_value(s, &text, "RmProfilingAdminOnly");
        if (*admin_only)
            s->profiling_admin_only = strtoll(admin_only, NULL, 10);
    }
    s->perf_event_paranoid = setup_read_number(s, UNKNOWN, "/proc/sys/kernel/perf_event_paranoid");
    s->ptrace_scope = setup_read_number(s, UNKNOWN, "/proc/sys/kernel/yama/ptrace_scope");
    s->preload = setup_read_line(s, "/etc/ld.so.preload");
    str_release(&text);
}

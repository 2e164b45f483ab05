/* Device files, and the processes that have them open. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/setup.h"
#include "source/setup_files.h"

enum { MOST_PROCESSES = 1 << 16, MOST_OWNERS = 256, MOST_FDS = 4096, MOST_NODES = 128 };

/* access(2) asks all that open(2) would, also the cgroup's list of devices (EPERM), and does not start the
 * device. Not faccessat() with flags: older container runtimes refuse that call itself. */
static void add_node(struct setup *s, const char *path)
{
    char file[SETUP_PATH_BYTES];
    if (s->nodes.count >= MOST_NODES || !setup_path(s, file, "%s", path))
        return;
    struct setup_node *node = vec_new(&s->nodes);
    node->path = setup_visible(s, path, strlen(path));
    node->error = access(file, R_OK | W_OK) == 0 ? 0 : errno;
}

/* NAME0, NAME128, … of a folder. */
static void add_numbered(struct setup *s, const char *folder, const char *name)
{
    char path[SETUP_LINE_BYTES];
    DIR *entries = setup_folder(s, "%s", folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (strncmp(entry->d_name, name, strlen(name)) != 0 ||
            !isdigit((unsigned char)entry->d_name[strlen(name)]))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        add_node(s, path);
    }
    if (entries)
        closedir(entries);
}

void setup_read_nodes(struct setup *s)
{
    static const char *const names[] = {"/dev/nvidiactl",  "/dev/nvidia-uvm",       "/dev/dxg",  "/dev/kfd",
                                        "/dev/nvhost-gpu", "/dev/nvgpu/igpu0/ctrl", "/dev/nvmap"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add_node(s, names[i]);
    add_numbered(s, "/dev", "nvidia");
    add_numbered(s, "/dev/dri", "renderD");
}

static void note_helper(struct setup *s, const char *name)
{
    /* The kernel keeps 15 bytes of a name. */
    s->has_fabric_manager |= strncmp(name, "nv-fabricmanager", 15) == 0;
    s->has_persistence_daemon |= strncmp(name, "nvidia-persistenced", 15) == 0;
    s->has_licence_daemon |= strncmp(name, "nvidia-gridd", 15) == 0;
    s->has_mps |= strncmp(name, "nvidia-cuda-mps-control", 15) == 0;
}

/* The first GPU that a process has open; a program that uses CUDA opens all that it may see. */
static void look_at_process(struct setup *s, const char *pid)
{
    char path[SETUP_PATH_BYTES], target[128];
    const char *name = setup_read_line(s, "/proc/%s/comm", pid);
    note_helper(s, name);
    DIR *fds = setup_folder(s, "/proc/%s/fd", pid);
    if (!fds) {
        s->hidden_processes += errno == EACCES || errno == EPERM;
        return;
    }
    int seen = 0;
    for (struct dirent *entry; (entry = readdir(fds)) && seen++ < MOST_FDS;) {
        if (!setup_path(s, path, "/proc/%s/fd/%s", pid, entry->d_name))
            continue;
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strncmp(target, "/dev/nvidia", 11) != 0 || !isdigit((unsigned char)target[11]))
            continue;
        if (s->owners.count < MOST_OWNERS)
            *vec_new(&s->owners) =
                (struct setup_owner){strtoll(pid, NULL, 10), name, setup_visible(s, target, strlen(target))};
        break;
    }
    closedir(fds);
}

void setup_read_owners(struct setup *s)
{
    DIR *all = setup_folder(s, "/proc");
    int seen = 0;
    for (struct dirent *entry; all && seen < MOST_PROCESSES && (entry = readdir(all));) {
        if (!isdigit((unsigned char)*entry->d_name) || strlen(entry->d_name) > 20)
            continue;
        seen++;
        look_at_process(s, entry->d_name);
    }
    if (all)
        closedir(all);
}

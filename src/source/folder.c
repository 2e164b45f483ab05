#include "source/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/i18n.h"
#include "capture/ring.h"

#define PREFIX "warplight-"

enum { PLACES = 3 };

/* Where folders can be, best first; NULL where there is none. */
static void list_places(const char *places[static PLACES])
{
    const char *chosen = getenv("TMPDIR");
    places[0] = "/dev/shm";
    places[1] =
        chosen && *chosen == '/' ? chosen : NULL; /* the target may go elsewhere: relative would not hold */
    places[2] = "/tmp";
}

static bool has_form(const char *name, const char *ending)
{
    size_t numbers = strspn(name, "0123456789-");
    return numbers > 0 && strcmp(name + numbers, ending) == 0;
}

bool folder_is_ring(const char *name)
{
    return has_form(name, ".ring");
}

bool folder_is_failure(const char *name)
{
    return has_form(name, ".failed");
}

bool folder_is_cubin(const char *name)
{
    return has_form(name, ".cubin");
}

static void empty(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
    if (!folder) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        if (folder_is_ring(entry->d_name) || folder_is_failure(entry->d_name) ||
            folder_is_cubin(entry->d_name) || strcmp(entry->d_name, FOLDER_SOCKET) == 0 ||
            strcmp(entry->d_name, RING_FAMILY) == 0)
            unlinkat(fd, entry->d_name, 0);
    closedir(folder);
}

/* A folder with such a name at a place. Returns its descriptor and owner, or -1. */
static int open_at(DIR *place, const char *name, bool *ours)
{
    struct stat status;
    if (fnmatch(PREFIX "[0-9]*-??????", name, 0) != 0)
        return -1;
    *ours = fstatat(dirfd(place), name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == geteuid();
    return openat(dirfd(place), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

/* What is not locked was left behind by a recorder that was killed. */
static void remove_abandoned(const char *place)
{
    DIR *all = opendir(place);
    if (!all)
        return;
    for (struct dirent *entry; (entry = readdir(all));) {
        bool ours;
        int fd = open_at(all, entry->d_name, &ours);
        if (fd < 0)
            continue;
        if (ours && flock(fd, LOCK_EX | LOCK_NB) == 0) {
            empty(fd);
            unlinkat(dirfd(all), entry->d_name, AT_REMOVEDIR);
        }
        close(fd);
    }
    closedir(all);
}

/* Makes and locks a folder. False: not there, or another recorder took it for abandoned meanwhile. */
static bool make_at(struct folder *folder, const char *place)
{
    struct stat ours, there;
    str_cut(&folder->path, 0);
    str_addf(&folder->path, "%s/" PREFIX "%ld-XXXXXX", place, (long)getpid());
    if (!mkdtemp(folder->path.ptr))
        return false;
    folder->fd = open(str_text(&folder->path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->fd >= 0 && flock(folder->fd, LOCK_EX) == 0 && fstat(folder->fd, &ours) == 0 &&
        stat(str_text(&folder->path), &there) == 0 && ours.st_ino == there.st_ino &&
        ours.st_dev == there.st_dev)
        return true;
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
    return false;
}

int folder_make(struct folder *folder, struct err *err)
{
    enum { TRIES = 4 };
    const char *places[PLACES];
    *folder = (struct folder){.fd = -1};
    list_places(places);
    for (size_t i = 0; i < PLACES; i++) {
        if (!places[i])
            continue;
        remove_abandoned(places[i]);
        for (int try = 0; try < TRIES; try++)
            if (make_at(folder, places[i]))
                return 0;
    }
    str_release(&folder->path);
    return err_set(err, ERR_ENV, "/tmp", -1, _("make a folder that you can write to and name it in TMPDIR"),
                   _("cannot make a folder for the recording buffers: %s"), strerror(errno));
}

void folder_remove(struct folder *folder)
{
    if (folder->path.len) {
        empty(folder->fd);
        rmdir(str_text(&folder->path));
        close(folder->fd);
    }
    str_release(&folder->path);
    folder->fd = -1;
}

/* Whether somebody holds the lock. It is tried for a moment only: a recorder that starts just now waits for
 * it. */
static bool is_locked(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
        flock(fd, LOCK_UN);
        return false;
    }
    return errno == EWOULDBLOCK;
}

void folder_each(void (*visit)(void *context, const char *path, int64_t pid, bool ours), void *context)
{
    const char *places[PLACES];
    struct str path = {0};
    list_places(places);
    for (size_t i = 0; i < PLACES; i++) {
        DIR *all = places[i] && (i != 2 || !places[1] || strcmp(places[1], places[2]) != 0)
                       ? opendir(places[i])
                       : NULL;
        if (!all)
            continue;
        for (struct dirent *entry; (entry = readdir(all));) {
            bool ours = false;
            int fd = open_at(all, entry->d_name, &ours);
            if (fd < 0 && errno != EACCES)
                continue;
            bool runs = fd < 0 || is_locked(fd);
            if (fd >= 0)
                close(fd);
            if (!runs || fnmatch(PREFIX "[0-9]*-??????", entry->d_name, 0) != 0)
                continue;
            str_cut(&path, 0);
            str_addf(&path, "%s/%s", places[i], entry->d_name);
            visit(context, str_text(&path), strtoll(entry->d_name + strlen(PREFIX), NULL, 10), ours);
        }
        closedir(all);
    }
    str_release(&path);
}

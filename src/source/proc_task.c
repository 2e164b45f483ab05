#include "source/proc_task.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/utf8.h"

enum { LINE_BYTES = 512 };

/* ---- files of /proc -------------------------------------------------------------------------------------
 */

/* Reads a small file from its start; false if there is nothing. */
static bool read_again(int fd, char out[static LINE_BYTES])
{
    ssize_t length = pread(fd, out, LINE_BYTES - 1, 0);
    out[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static int open_task_file(int process, uint32_t tid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "task/%u/%s", tid, name);
    return openat(process, path, O_RDONLY | O_CLOEXEC);
}

bool proc_task_name(int64_t pid, int64_t tid, char out[PROC_NAME_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/task/%" PRId64 "/comm", pid, tid);
    FILE *file = fopen(path, "re");
    bool read = file && fgets(out, PROC_NAME_BYTES, file);
    if (read)
        out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
    return read;
}

int proc_task_open(struct proc_task *t, int process, uint32_t tid)
{
    *t = (struct proc_task){.tid = tid, .accounts = -1};
    char line[LINE_BYTES];
    t->call = open_task_file(process, tid, "syscall");
    /* Who may not look is told so when reading, in some versions. */
    if (t->call < 0 || (!read_again(t->call, line) && errno != 0)) {
        int why = errno;
        proc_task_close(t);
        return why;
    }
    t->accounts = open_task_file(process, tid, "schedstat");
    return 0;
}

void proc_task_close(struct proc_task *t)
{
    if (t->call >= 0)
        close(t->call);
    if (t->accounts >= 0)
        close(t->accounts);
    t->call = t->accounts = -1;
}

bool proc_task_accounts(const struct proc_task *t, struct proc_accounts *accounts)
{
    char line[LINE_BYTES];
    *accounts = (struct proc_accounts){0};
    return t->accounts >= 0 && read_again(t->accounts, line) &&
           sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64, &accounts->run_ns, &accounts->delay_ns,
                  &accounts->slices) == 3 &&
           accounts->slices > 0;
}

/* The letter of the state: after the name, which may hold anything. */
static char state_letter(int process, uint32_t tid)
{
    char line[LINE_BYTES];
    int fd = open_task_file(process, tid, "stat");
    bool read = fd >= 0 && read_again(fd, line);
    if (fd >= 0)
        close(fd);
    const char *name_end = read ? strrchr(line, ')') : NULL;
    return name_end && name_end[1] == ' ' ? name_end[2] : '\0';
}

enum proc_state proc_task_state(const struct proc_task *t, int process, int64_t *number,
                                uint64_t args[PROC_CALL_ARGS])
{
    char line[LINE_BYTES];
    if (!read_again(t->call, line))
        return PROC_GONE;
    char *at;
    *number = strtoll(line, &at, 10);
    if (at == line)
        return PROC_RUNS; /* "running" */
    if (*number < 0)
        return state_letter(process, t->tid) == 'D' ? PROC_FAULT : PROC_RUNS;
    for (int i = 0; i < PROC_CALL_ARGS; i++)
        args[i] = strtoull(at, &at, 16);
    return PROC_CALL;
}

/* ---- system calls ---------------------------------------------------------------------------------------
 */

#define CALL(name, file)                                                                                     \
    {                                                                                                        \
        SYS_##name, #name, file                                                                              \
    }
#define CALL_AS(name, libc, file)                                                                            \
    {                                                                                                        \
        SYS_##name, libc, file                                                                               \
    }

/* Those that can take long. The numbers are those of the machine that this is built for. */
static const struct {
    int64_t number;
    const char *name;
    enum proc_file file;
} calls[] = {
    /* waiting */
    CALL(futex, PROC_NO_FILE),
    CALL(ppoll, PROC_NO_FILE),
    CALL_AS(pselect6, "pselect", PROC_NO_FILE),
    CALL(epoll_pwait, PROC_NO_FILE),
    CALL(wait4, PROC_NO_FILE),
    CALL(waitid, PROC_NO_FILE),
    CALL(nanosleep, PROC_NO_FILE),
    CALL(clock_nanosleep, PROC_NO_FILE),
    CALL_AS(rt_sigtimedwait, "sigtimedwait", PROC_NO_FILE),
    CALL_AS(rt_sigsuspend, "sigsuspend", PROC_NO_FILE),
    CALL(sched_yield, PROC_NO_FILE),
    CALL_AS(mq_timedreceive, "mq_receive", PROC_FD_0),
    CALL_AS(mq_timedsend, "mq_send", PROC_FD_0),
    CALL(msgrcv, PROC_NO_FILE),
    CALL(msgsnd, PROC_NO_FILE),
    CALL(semop, PROC_NO_FILE),
    CALL(semtimedop, PROC_NO_FILE),
    CALL(flock, PROC_FD_0),
    CALL(fcntl, PROC_FD_0),
    /* input and output */
    CALL(read, PROC_FD_0),
    CALL(readv, PROC_FD_0),
    CALL_AS(pread64, "pread", PROC_FD_0),
    CALL(preadv, PROC_FD_0),
    CALL(preadv2, PROC_FD_0),
    CALL(write, PROC_FD_0),
    CALL(writev, PROC_FD_0),
    CALL_AS(pwrite64, "pwrite", PROC_FD_0),
    CALL(pwritev, PROC_FD_0),
    CALL(pwritev2, PROC_FD_0),
    CALL(openat, PROC_PATH_1),
    CALL(openat2, PROC_PATH_1),
    CALL(close, PROC_FD_0),
    CALL(fsync, PROC_FD_0),
    CALL(fdatasync, PROC_FD_0),
    CALL(sync, PROC_NO_FILE),
    CALL(syncfs, PROC_FD_0),
    CALL(sync_file_range, PROC_FD_0),
    CALL(msync, PROC_NO_FILE),
    CALL(fstat, PROC_FD_0),
    CALL(statx, PROC_PATH_1),
#ifdef SYS_newfstatat
    CALL_AS(newfstatat, "fstatat", PROC_PATH_1),
#endif
    CALL(faccessat, PROC_PATH_1),
    CALL_AS(getdents64, "readdir", PROC_FD_0),
    CALL(ftruncate, PROC_FD_0),
    CALL(fallocate, PROC_FD_0),
    CALL(unlinkat, PROC_PATH_1),
    CALL(mkdirat, PROC_PATH_1),
    CALL(renameat2, PROC_PATH_1),
    CALL(sendfile, PROC_FD_1),
    CALL(splice, PROC_FD_0),
    CALL(copy_file_range, PROC_FD_0),
    CALL(connect, PROC_FD_0),
    CALL(accept, PROC_FD_0),
    CALL(accept4, PROC_FD_0),
    CALL(sendto, PROC_FD_0),
    CALL(sendmsg, PROC_FD_0),
    CALL(sendmmsg, PROC_FD_0),
    CALL(recvfrom, PROC_FD_0),
    CALL(recvmsg, PROC_FD_0),
    CALL(recvmmsg, PROC_FD_0),
    CALL(io_getevents, PROC_NO_FILE),
    CALL(io_uring_enter, PROC_FD_0),
    /* memory and devices */
    CALL(ioctl, PROC_FD_0),
    CALL(mmap, PROC_NO_FILE),
    CALL(munmap, PROC_NO_FILE),
    CALL(mprotect, PROC_NO_FILE),
    CALL(madvise, PROC_NO_FILE),
    CALL(brk, PROC_NO_FILE),
    CALL(mremap, PROC_NO_FILE),
    CALL(execve, PROC_PATH_0),
#ifdef SYS_open /* older machines have calls that newer ones, like aarch64, leave to libc */
    CALL(open, PROC_PATH_0),
    CALL(stat, PROC_PATH_0),
    CALL(lstat, PROC_PATH_0),
    CALL(access, PROC_PATH_0),
    CALL(unlink, PROC_PATH_0),
    CALL(mkdir, PROC_PATH_0),
    CALL(rename, PROC_PATH_0),
    CALL(poll, PROC_NO_FILE),
    CALL(select, PROC_NO_FILE),
    CALL(epoll_wait, PROC_NO_FILE),
    CALL(pause, PROC_NO_FILE),
    CALL(vfork, PROC_NO_FILE),
#endif
};

const char *proc_call_name(int64_t number, enum proc_file *file)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number) {
            *file = calls[i].file;
            return calls[i].name;
        }
    *file = PROC_NO_FILE;
    return NULL;
}

void proc_fd_path(int process, uint64_t fd, struct str *out)
{
    char link[32], path[PATH_MAX];
    if (fd > INT_MAX)
        return;
    snprintf(link, sizeof link, "fd/%d", (int)fd);
    ssize_t length = readlinkat(process, link, path, sizeof path);
    if (length <= 0)
        return;
    static const char *const numbered[] = {"socket:[", "pipe:["};
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
        if ((size_t)length > strlen(numbered[i]) && memcmp(path, numbered[i], strlen(numbered[i])) == 0)
            length = (ssize_t)strlen(numbered[i]) - 2; /* the number tells nobody anything */
    utf8_visible(out, path, (size_t)length);
}

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/recorder.h"

/* Touching a page of a file on a full disk is SIGBUS. A system call that writes to the page fails with EFAULT
 * instead, on every kernel, and needs no descriptor, which the application might close or use for a file of
 * its own. This one writes 8 bytes: the thread's signal mask. */
bool memory_back(void *at, size_t bytes)
{
    enum { PAGE_BYTES = 4096, MASK_BYTES = 8 }; /* larger pages are only asked for more than once */
    for (size_t offset = 0; offset < bytes; offset += PAGE_BYTES) {
        uint64_t *page = (uint64_t *)((char *)at + offset);
        if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, page, MASK_BYTES) != 0)
            return false;
        *page = 0;
    }
    return true;
}

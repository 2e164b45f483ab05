/* Of the fake programs: a forked child is not searched for leaks. The search takes all locks of the
 * sanitizer's allocator, and of these a thread that only the parent has may have held one at the fork, for
 * ever then. */
#include <unistd.h>

__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

static pid_t first;

__attribute__((constructor)) static void remember_first(void)
{
    first = getpid();
}

int __lsan_is_turned_off(void)
{
    return getpid() != first;
}

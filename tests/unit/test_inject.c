/* The injected library among many threads that launch, while its recording is switched on and off. The test
 * is driver, program and collector in one; the CUPTI is the fake one. Run under ThreadSanitizer as well. */
#include "cmocka_all.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/activity.h"
#include "capture/ring.h"

enum { THREADS = 8, SWITCHES = 20, MOST_LOOKS = 60000 };

/* Of the injected library and the fake CUPTI. */
int InitializeInjection(void);
void fake_device(void);
void fake_launch(const char *kernel, uint64_t duration_ns);
void fake_memory(uint32_t operation, uint32_t kind, uint64_t address, uint64_t bytes, uint64_t time_ns);
int fake_selected(void);

static _Atomic bool ended;
static _Atomic long launched; /* between two looks */

static void *launch_and_allocate(void *unused)
{
    enum { ALLOCATE = 1 };
    (void)unused;
    for (uint64_t i = 1; !ended; i++) {
        fake_launch("saxpy(int, float)", 1000);
        if (i % 16 == 0)
            fake_memory(ALLOCATE, ACTIVITY_MEM_MANAGED, i << 12, 4096, 0);
        launched++;
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return NULL;
}

static struct ring *map_ring(const char *folder)
{
    char path[4096] = "";
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));)
        if (strstr(entry->d_name, ".ring"))
            snprintf(path, sizeof path, "%s/%.255s", folder, entry->d_name);
    closedir(entries);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    void *ring = mmap(NULL, RING_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_ptr_not_equal(ring, MAP_FAILED);
    unlink(path);
    return ring;
}

/* As the collector does. Returns how many slots were full. */
static int drain(struct ring *ring)
{
    int full = 0;
    for (int slot = 0; slot < RING_SLOTS; slot++)
        if (atomic_load(&ring->slots[slot].state) == RING_SLOT_FULL) {
            memset(ring_slot_data(ring, slot), 0, ring->slots[slot].valid_bytes);
            atomic_store(&ring->slots[slot].state, RING_SLOT_FREE);
            full++;
        }
    return full;
}

static void pause_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void want(struct ring *ring, enum ring_wanted wanted, enum ring_state state)
{
    atomic_store(&ring->wanted, wanted);
    syscall(SYS_futex, &ring->wanted, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    for (int looks = 0; atomic_load(&ring->state) != state; looks++) {
        assert_true(looks < MOST_LOOKS);
        drain(ring);
        pause_a_little();
    }
}

static void wait_for_launches(struct ring *ring)
{
    launched = 0;
    for (int looks = 0; launched < THREADS * 16; looks++) {
        assert_true(looks < MOST_LOOKS);
        drain(ring);
        pause_a_little();
    }
}

static void record_on_and_off(struct ring *ring)
{
    int most = 0;
    for (int i = 0; i < SWITCHES; i++) {
        want(ring, RING_RECORD, RING_RECORDING);
        uint64_t before = atomic_load(&ring->records);
        wait_for_launches(ring);
        most = fake_selected() > most ? fake_selected() : most;
        want(ring, RING_PAUSE, RING_PAUSED);
        assert_true(atomic_load(&ring->records) > before);
        assert_int_equal(fake_selected(), 0);
        wait_for_launches(ring);
        assert_int_equal(fake_selected(), 0);
    }
    assert_true(most > 0);
}

static void nothing_is_selected_while_paused_whatever_other_threads_do(void **state)
{
    (void)state;
    char folder[] = "/tmp/warplight-test-XXXXXX";
    Dl_info fake;
    pthread_t threads[THREADS];
    assert_non_null(mkdtemp(folder));
    assert_true(dladdr((void *)fake_launch, &fake));
    setenv("WARPLIGHT_CUPTI", fake.dli_fname, 1);
    setenv(RING_ENV_DIR, folder, 1);
    assert_int_equal(InitializeInjection(), 1);
    fake_device();
    struct ring *ring = map_ring(folder);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_and_allocate, NULL), 0);
    record_on_and_off(ring);
    want(ring, RING_RECORD, RING_RECORDING);
    want(ring, RING_STOP, RING_FINISHED);
    ended = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&ring->taken_over), 0);
    munmap(ring, RING_FILE_BYTES);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_selected_while_paused_whatever_other_threads_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

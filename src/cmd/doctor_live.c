#include "cmd/doctor_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/setup.h"
#include "base/clock.h"
#include "import/logs/logs.h"
#include "source/journal.h"
#include "source/kmsg.h"
#include "source/machine.h"
#include "source/setup.h"
#include "symbol/images.h"

static bool exists(const struct setup *s, const char *path)
{
    struct str file = {0};
    str_addf(&file, "%s%s", s->root, path);
    bool there = access(str_text(&file), F_OK) == 0;
    str_release(&file);
    return there;
}

/* Finds the program as the shell would: of one that is no script the code is looked at. */
static void add_program(struct setup *s, const char *program)
{
    const char *list = setup_variable(s, "PATH");
    struct str path = {0};
    bool found = false;
    if (strchr(program, '/')) {
        str_puts(&path, program);
        found = exists(s, program);
    }
    while (!strchr(program, '/') && !found && list && *list) {
        size_t length = strcspn(list, ":");
        str_cut(&path, 0);
        str_add(&path, list, length);
        str_addf(&path, "/%s", program);
        found = exists(s, str_text(&path));
        list += length + (list[length] == ':');
    }
    if (found)
        *vec_new(&s->images) = (struct setup_image){.path = setup_text(s, str_text(&path)), .is_main = true};
    else
        s->process_error = ENOENT;
    str_release(&path);
}

static void read_image(const struct setup *s, struct setup_image *image, const char *path)
{
    struct images images;
    struct kernel_code code;
    bool more = images_open(&images, path);
    while (more && !setup_image_is_settled(s, image) && (more = images_next(&images, &code)))
        vec_push(&image->codes, code);
    image->is_whole = !more && !images.is_cut;
    image->later_sm = images.later_sm;
    images_close(&images);
}

/* Of files of a recorded tree the paths are as they were on its machine. */
static void read_images(struct setup *s)
{
    struct str path = {0};
    vec_each (&s->images, image) {
        str_cut(&path, 0);
        str_addf(&path, "%s%s", s->root, image->path);
        read_image(s, image, str_text(&path));
    }
    str_release(&path);
}

/* One look through the sampler, which asks the driver in a process of its own. Files of a recorded tree do
 * not go with the driver of this machine. */
static void ask_drivers(struct setup *s)
{
    const char *chosen = getenv("WARPLIGHT_NVML");
    if (*s->root && (!chosen || !*chosen))
        return;
    const int64_t second = 1000000000;
    bool is_started = s->has_persistence_daemon || s->owners.count > 0;
    struct machine *machine = machine_open(&(struct machine_options){
        .root = *s->root ? s->root : NULL, .stuck_ns = second, .may_start_gpus = !is_started});
    machine_sample_copy(&s->sample, machine_read(machine));
    machine_close(machine);
}

/* /dev/kmsg, else the journal. Of a recorded tree its own copy, and a journal only where one is named. */
static void read_kernel_log(struct setup *s, struct logbook *book)
{
    static const char journal[] = "journalctl --dmesg";
    const int64_t journal_deadline = INT64_C(5000000000);
    struct str path = {0}, text = {0};
    const char *chosen = getenv("WARPLIGHT_JOURNALCTL");
    str_addf(&path, "%s/dev/kmsg", s->root);
    s->kernel_log_error = kmsg_read(&text, str_text(&path));
    if (s->kernel_log_error == 0) {
        s->kernel_log = "/dev/kmsg";
    } else if (!*s->root || chosen) {
        int error = journal_read(&text, chosen, journal_deadline);
        s->kernel_log = text.len > 0 ? journal : "";
        s->kernel_log_error = error ? s->kernel_log_error : 0;
    }
    if (text.len > 0)
        logs_read_memory(book, s->kernel_log, text.ptr, text.len, NULL);
    str_release(&path);
    str_release(&text);
}

/* When the clock of the kernel's log began. It stands still while the machine sleeps: of one that has slept
 * nobody knows. 0: so it is. */
static int64_t began_unix_ns(void)
{
    const int64_t second = 1000000000;
    int64_t awake = clock_ns(CLOCK_MONOTONIC);
    return clock_ns(CLOCK_BOOTTIME) - awake < second ? clock_ns(CLOCK_REALTIME) - awake : 0;
}

void doctor_live(struct diagnosis *d, struct logbook *book, int64_t pid, const char *program)
{
    struct setup s;
    setup_init(&s);
    setup_read(&s, &(struct setup_question){.pid = pid, .program = program});
    if (program)
        add_program(&s, program);
    ask_drivers(&s);
    read_images(&s); /* as far as the GPUs that are there make it a question */
    read_kernel_log(&s, book);
    if (!*s.root)
        d->boot_unix_ns = began_unix_ns();
    setup_settle_faults(&s, book);
    setup_diagnose(d, &s);
    setup_release(&s);
}

/* Stacks of real Python processes, read while they run flat out, and of made-up memory. */
#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "source/host_process.h"

/* ---- location tables ------------------------------------------------------------------------------------
 */

static void lines_come_from_the_location_table(void **state)
{
    (void)state;
    const unsigned char table[] = {
        0x80 | 11 << 3 | 1,
        4,
        9, /* one line on, 2 units, columns */
        0x80 | 13 << 3 | 0,
        0x06, /* no columns, three lines on, 1 unit */
        0x80 | 14 << 3 | 2,
        0x45,
        0x01, /* long form: minus 34 lines … */
        0,
        0,
        0,                  /* … and columns; 3 units */
        0x80 | 15 << 3 | 0, /* none, 1 unit */
        0x80 | 3 << 3 | 7,
        0x31, /* the same line, 8 units */
    };
    const uint32_t lines[] = {101, 101, 104, 70, 70, 70, 0, 70};
    for (uint32_t unit = 0; unit < sizeof lines / sizeof *lines; unit++)
        assert_int_equal(python_line(table, sizeof table, 100, unit), lines[unit]);
    assert_int_equal(python_line(table, sizeof table, 100, 15), 0); /* behind the last */
    for (size_t cut = 0; cut < sizeof table; cut++)
        assert_in_range(python_line(table, cut, 100, 7), 0, 104);
    const unsigned char endless[] = {0x80 | 14 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f};
    assert_int_equal(python_line(endless, sizeof endless, 100, 0), 0);
}

/* ---- real processes -------------------------------------------------------------------------------------
 */

static const char program[] = "import sys, threading\n"                             /* 1 */
                              "def leaf(n):\n"                                      /* 2 */
                              "    x = 0\n"                                         /* 3 */
                              "    for i in range(n): x += i\n"                     /* 4 */
                              "    return x\n"                                      /* 5 */
                              "def source(k):\n"                                    /* 6 */
                              "    for i in range(k):\n"                            /* 7 */
                              "        yield leaf(50)\n"                            /* 8 */
                              "class Größe:\n"                                      /* 9 */
                              "    def messen(self):\n"                             /* 10 */
                              "        return sum(source(20))\n"                    /* 11 */
                              "def deep(n):\n"                                      /* 12 */
                              "    return deep(n - 1) if n else Größe().messen()\n" /* 13 */
                              "def main():\n"                                       /* 14 */
                              "    while True: deep(300)\n"                         /* 15 */
                              "print(threading.get_native_id(), flush=True)\n"      /* 16 */
                              "main()\n";                                           /* 17 */

struct python {
    pid_t pid;
    int output; /* stays open: what it prints goes somewhere */
    struct host_process host;
    struct remote_memory memory;
    struct intern texts;
};

/* Starts it; false if it is not here or is no version that can be read. */
static bool python_start(struct python *p, const char *name)
{
    int ends[2];
    char ready, link[64], path[4096];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    p->pid = fork();
    if (p->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also when an assertion ends the test */
        dup2(ends[1], STDOUT_FILENO);
        execlp(name, name, "-c", program, (char *)NULL);
        abort();
    }
    close(ends[1]);
    p->output = ends[0];
    ssize_t got = read(p->output, &ready, 1);
    snprintf(link, sizeof link, "/proc/%d/exe", (int)p->pid);
    ssize_t length = got == 1 ? readlink(link, path, sizeof path - 1) : 0;
    path[length > 0 ? length : 0] = '\0';
    remote_memory_init(&p->memory, -1);
    intern_init(&p->texts);
    return got == 1 && host_process_open(&p->host, p->pid, path, &p->memory, &p->texts) == HOST_ACCESS &&
           p->host.has_python;
}

static void python_end(struct python *p)
{
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    close(p->output);
    host_process_close(&p->host);
    intern_release(&p->texts);
}

/* Whether the frames from at on are what the program does, from its module inwards. */
static bool is_possible(const struct python *p, const struct python_stack *stack)
{
    static const struct {
        const char *name;
        uint32_t first, last; /* lines that it can be at */
        bool repeats;
    } order[] = {
        {"<string>(1): <module>", 1, 17, false}, {"<string>(14): main", 14, 15, false},
        {"<string>(12): deep", 12, 13, true},    {"<string>(10): Größe.messen", 10, 11, false},
        {"<string>(6): source", 6, 8, false},    {"<string>(2): leaf", 2, 5, false},
    };
    enum { ORDER = sizeof order / sizeof *order };
    size_t at = 0;
    for (size_t i = 0; i < stack->count; i++) {
        const char *name = intern_text(&p->texts, stack->frames[i].name);
        if (at > 0 && order[at - 1].repeats && strcmp(name, order[at - 1].name) == 0)
            at--;
        while (i == PYTHON_STACK_MAX - 1 && at < ORDER && strcmp(name, order[at].name) != 0)
            at++; /* of a deep stack the innermost frame stands alone */
        if (at == ORDER || strcmp(name, order[at].name) != 0)
            return false;
        uint32_t line = stack->frames[i].line;
        if (line && (line < order[at].first || line > order[at].last))
            return false;
        at++;
    }
    return true;
}

static void stacks_of_a_program_that_runs_flat_out_are_what_it_does(void **state)
{
    (void)state;
    static const char *const names[] = {"/usr/bin/python3", "python3",    "python3.11",
                                        "python3.12",       "python3.13", "python3.14"};
    enum { STACKS = 3000 };
    int tried = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct python *p = mem_zalloc(1, sizeof *p);
        struct python_stack stack;
        uint64_t where = 0;
        int read = 0, possible = 0, deep = 0;
        if (!python_start(p, names[i])) {
            print_message("no %s that can be read here\n", names[i]);
            python_end(p);
            free(p);
            continue;
        }
        tried++;
        for (int n = 0; n < STACKS; n++) {
            if (python_reader_stack(&p->host.python, (uint32_t)p->pid, &where, &stack) != PYTHON_READ)
                continue;
            read++;
            possible += is_possible(p, &stack);
            deep += stack.count == PYTHON_STACK_MAX;
        }
        print_message("%s (%x): %d of %d read, %d possible, %d deep\n", names[i],
                      p->host.python.layout.version, read, STACKS, possible, deep);
        assert_true(read > STACKS / 2);
        /* A callee may have come and gone while it was read: of functions as short as these, by a reader that
         * a sanitizer slows, one in seven has. Wrong offsets give none that is possible. */
        assert_true(possible > read / 2);
        assert_true(deep > 0);
        python_end(p);
        free(p);
    }
    if (tried == 0)
        skip();
}

static void a_thread_that_python_does_not_know_has_no_stack(void **state)
{
    (void)state;
    struct python *p = mem_zalloc(1, sizeof *p);
    struct python_stack stack;
    uint64_t where = 0;
    bool started = python_start(p, "/usr/bin/python3");
    if (started) {
        assert_int_equal(python_reader_stack(&p->host.python, 1, &where, &stack), PYTHON_NO_THREAD);
        assert_int_equal(where, 0);
        kill(p->pid, SIGKILL);
        waitpid(p->pid, NULL, 0);
        where = 0;
        assert_int_not_equal(python_reader_stack(&p->host.python, (uint32_t)p->pid, &where, &stack),
                             PYTHON_READ);
        assert_int_equal(stack.count, 0);
    }
    python_end(p);
    free(p);
    if (!started)
        skip();
}

static void another_process_is_not_taken_for_the_recorded_one(void **state)
{
    (void)state;
    struct host_process host;
    struct remote_memory *memory = mem_zalloc(1, sizeof *memory);
    struct intern texts;
    intern_init(&texts);
    remote_memory_init(memory, -1);
    assert_int_equal(host_process_open(&host, getpid(), "/1234-5678.ring", memory, &texts),
                     HOST_ACCESS_NOT_FOUND);
    assert_int_equal(host_process_open(&host, -7, "x", memory, &texts), HOST_ACCESS_NOT_FOUND);
    intern_release(&texts);
    free(memory);
}

/* ---- memory that lies -----------------------------------------------------------------------------------
 */

enum {
    RUNTIME = 0x1000,
    INTERPRETER = 0x2000,
    THREAD = 0x3000,
    FRAMES = 0x10000,
    CODE = 0x20000,
    NAME = 0x21000,
    TABLE = 0x22000,
    CODE_TYPE = 0x7000,
    TID = 42
};

/* A file that stands for a process: offsets are addresses. Its layout is one of its own. */
struct image {
    struct remote_memory memory;
    struct intern texts;
    struct python_reader reader;
};

static void put(struct image *image, uint64_t address, uint64_t value, size_t size)
{
    assert_int_equal(pwrite(image->memory.fd, &value, size, (off_t)address), size);
}

static void image_init(struct image *image)
{
    const struct python_layout layout = {
        .runtime = RUNTIME,
        .code_type = CODE_TYPE,
        .interpreter_next = 0,
        .interpreter_threads = 8,
        .thread_next = 0,
        .thread_native_id = 8,
        .thread_frame = 16,
        .cframe_frame = NONE,
        .frame_previous = 0,
        .frame_code = 8,
        .frame_instruction = 16,
        .frame_owner = 24,
        .first_internal_owner = 3,
        .code_filename = 8,
        .code_qualname = 16,
        .code_linetable = 24,
        .code_firstlineno = 32,
        .code_instructions = 64,
        .object_type = 0,
        .bytes_size = 8,
        .bytes_data = 16,
        .text_state = 16,
        .text_length = 8,
        .text_ascii_data = 24,
        .text_data = 40,
        .text_kind_bit = 2,
    };
    remote_memory_init(&image->memory, memfd_create("image", MFD_CLOEXEC));
    assert_int_equal(ftruncate(image->memory.fd, 1 << 20), 0);
    intern_init(&image->texts);
    python_reader_init(&image->reader, &image->memory, &layout, &image->texts);
    put(image, RUNTIME, INTERPRETER, 8);
    put(image, INTERPRETER + 8, THREAD, 8);
    put(image, THREAD + 8, TID, 8);
    put(image, THREAD + 16, FRAMES, 8);
    put(image, FRAMES + 8, CODE, 8);
    put(image, FRAMES + 16, CODE + 64, 8);
    put(image, CODE, CODE_TYPE, 8);
    put(image, CODE + 8, NAME, 8);
    put(image, CODE + 16, NAME, 8);
    put(image, CODE + 24, TABLE, 8);
    put(image, CODE + 32, 5, 4);
    put(image, NAME + 8, 2, 8);                 /* length */
    put(image, NAME + 16, 1 << 2 | 24 << 2, 4); /* one byte each, compact, ASCII */
    put(image, NAME + 24, 'h' | 'i' << 8, 2);
    put(image, TABLE + 8, 2, 8);
    put(image, TABLE + 16, (0x80 | 11 << 3) | 1 << 8, 2);
}

static enum python_read image_read(struct image *image, struct python_stack *stack)
{
    uint64_t where = 0;
    return python_reader_stack(&image->reader, TID, &where, stack);
}

static void image_release(struct image *image)
{
    python_reader_release(&image->reader);
    intern_release(&image->texts);
    close(image->memory.fd);
    free(image);
}

static void made_up_memory_reads_as_it_was_made(void **state)
{
    (void)state;
    struct image *image = mem_zalloc(1, sizeof *image);
    struct python_stack stack;
    image_init(image);
    assert_int_equal(image_read(image, &stack), PYTHON_READ);
    assert_int_equal(stack.count, 1);
    assert_string_equal(intern_text(&image->texts, stack.frames[0].name), "hi(5): hi");
    assert_int_equal(stack.frames[0].line, 6);
    put(image, NAME + 24, 27 | 'i' << 8, 2); /* the code object stays, so its name is known */
    assert_int_equal(image_read(image, &stack), PYTHON_READ);
    assert_string_equal(intern_text(&image->texts, stack.frames[0].name), "hi(5): hi");
    put(image, CODE + 32, 9, 4); /* another one at the same address */
    assert_int_equal(image_read(image, &stack), PYTHON_READ);
    assert_string_equal(intern_text(&image->texts, stack.frames[0].name), "␛i(9): ␛i");
    put(image, FRAMES + 24, 3, 1); /* the interpreter's own */
    assert_int_equal(image_read(image, &stack), PYTHON_NO_THREAD);
    image_release(image);
}

static void lies_are_found_out(void **state)
{
    (void)state;
    static const struct {
        uint64_t address, value;
        size_t size;
    } lies[] = {
        {FRAMES, FRAMES, 8},             /* a frame that calls itself */
        {FRAMES, FRAMES + 3, 8},         /* no place for a frame */
        {FRAMES, UINT64_MAX, 8},         /* nor this */
        {FRAMES, 0x7fffffffffff000, 8},  /* nor this */
        {FRAMES + 8, 0, 8},              /* no code */
        {FRAMES + 8, NAME, 8},           /* something else */
        {CODE, CODE_TYPE + 8, 8},        /* of another type */
        {CODE + 8, UINT64_MAX - 8, 8},   /* no file */
        {NAME + 8, UINT64_MAX, 8},       /* a huge name */
        {NAME + 16, 0, 4},               /* of no kind */
        {NAME + 16, 5 << 2 | 8 << 2, 4}, /* nor this */
        {TABLE + 8, UINT64_MAX, 8},      /* a huge table */
        {TABLE + 8, 1 << 30, 8},
        {THREAD + 16, 0xfffffffffffffff8, 8},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct image *image = mem_zalloc(1, sizeof *image);
        struct python_stack stack;
        image_init(image);
        put(image, lies[i].address, lies[i].value, lies[i].size);
        assert_int_equal(image_read(image, &stack), PYTHON_TORN);
        assert_int_equal(stack.count, 0);
        image_release(image);
    }
}

static void lists_without_an_end_are_given_up(void **state)
{
    (void)state;
    struct image *image = mem_zalloc(1, sizeof *image);
    struct python_stack stack;
    image_init(image);
    put(image, THREAD + 8, TID + 1, 8);
    put(image, THREAD, THREAD, 8);
    put(image, INTERPRETER, INTERPRETER, 8);
    assert_int_equal(image_read(image, &stack), PYTHON_NO_THREAD);
    image_release(image);
}

/* Whatever a byte is changed to: an answer comes, and within bounds. */
static void noise_is_survived(void **state)
{
    (void)state;
    uint32_t noise = 1;
    for (int round = 0; round < 3000; round++) {
        static const uint64_t places[] = {RUNTIME, INTERPRETER, THREAD, FRAMES, CODE, NAME, TABLE};
        struct image *image = mem_zalloc(1, sizeof *image);
        struct python_stack stack;
        image_init(image);
        for (int i = 0; i < 4; i++) {
            noise ^= noise << 13;
            noise ^= noise >> 17;
            noise ^= noise << 5;
            put(image, places[noise % 7] + noise / 7 % 48, noise >> 8, 1 + noise % 3);
        }
        image_read(image, &stack);
        assert_true(stack.count <= PYTHON_STACK_MAX);
        image_release(image);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_from_the_location_table),
        cmocka_unit_test(stacks_of_a_program_that_runs_flat_out_are_what_it_does),
        cmocka_unit_test(a_thread_that_python_does_not_know_has_no_stack),
        cmocka_unit_test(another_process_is_not_taken_for_the_recorded_one),
        cmocka_unit_test(made_up_memory_reads_as_it_was_made),
        cmocka_unit_test(lies_are_found_out),
        cmocka_unit_test(lists_without_an_end_are_given_up),
        cmocka_unit_test(noise_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

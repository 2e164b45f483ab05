/* Functions of this very program, with its symbols, without them, and with nonsense in its tables. */
#include "cmocka_all.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "source/elf_function.h"

static volatile int result;

static __attribute__((noinline)) void a_static_function(void)
{
    for (int i = 0; i < 10; i++)
        result += i * result;
}

/* What an assembler writes: the table for unwinding does not know it. */
__asm__(".text\n"
        ".type an_assembler_function, %function\n"
        "an_assembler_function:\n"
        ".skip 64\n"
        ".size an_assembler_function, 64\n");
extern const char an_assembler_function[];

struct contents {
    unsigned char *bytes;
    size_t length;
};

static struct contents read_own(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    off_t length = lseek(fd, 0, SEEK_END);
    assert_true(length > 0);
    struct contents c = {mem_alloc((size_t)length), (size_t)length};
    for (size_t at = 0; at < c.length;) {
        ssize_t part = pread(fd, c.bytes + at, c.length - at, (off_t)at);
        assert_true(part > 0);
        at += (size_t)part;
    }
    close(fd);
    return c;
}

static int make_file(const void *bytes, size_t length)
{
    int fd = memfd_create("elf", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    return fd;
}

static int note_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1; /* the program comes first */
}

static uint64_t address_in_file(uint64_t address)
{
    uint64_t bias = 0;
    dl_iterate_phdr(note_bias, &bias);
    return address - bias;
}

static uint64_t address_of_function(void)
{
    return address_in_file((uintptr_t)a_static_function);
}

static void a_static_function_is_named(void **state)
{
    (void)state;
    struct elf_file file;
    struct elf_function function;
    uint64_t address = address_of_function();
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    a_static_function();
    assert_true(elf_file_open(&file, fd));
    elf_file_function(&file, address + 3, &function);
    assert_string_equal(function.name, "a_static_function");
    assert_true(function.start == address && function.end > address + 3 && function.bounded);
    close(fd);
}

/* This program without any symbols. */
static void open_stripped(struct elf_file *file)
{
    struct contents own = read_own();
    Elf64_Ehdr header;
    memcpy(&header, own.bytes, sizeof header);
    header.e_shoff = header.e_shnum = 0;
    memcpy(own.bytes, &header, sizeof header);
    assert_true(elf_file_open(file, make_file(own.bytes, own.length)));
    file->build_id_bytes = 0; /* no separate ones, wherever this is run */
    free(own.bytes);
}

static void without_symbols_its_bounds_are_known(void **state)
{
    (void)state;
    struct elf_file file;
    struct elf_function function;
    uint64_t address = address_of_function();
    open_stripped(&file);
    for (uint64_t at = address; at < address + 3; at++) {
        elf_file_function(&file, at, &function);
        assert_string_equal(function.name, "");
        assert_true(function.bounded && function.start == address && function.end > address + 3);
    }
    close(file.fd);
}

static void what_cannot_be_unwound_is_not_of_the_function_before(void **state)
{
    (void)state;
    struct elf_file file;
    struct elf_function function;
    uint64_t address = address_in_file((uintptr_t)an_assembler_function);
    open_stripped(&file);
    for (uint64_t at = address; at < address + 64; at++) {
        elf_file_function(&file, at, &function);
        assert_string_equal(function.name, "");
        assert_true(!function.bounded && function.start <= at && function.end > at);
    }
    close(file.fd);
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_true(elf_file_open(&file, fd));
    elf_file_function(&file, address + 63, &function);
    assert_string_equal(function.name, "an_assembler_function");
    assert_true(function.bounded && function.start == address && function.end == address + 64);
    close(fd);
}

static uint32_t noise(void)
{
    static uint32_t state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

static void nonsense_leads_nowhere(void **state)
{
    (void)state;
    enum { ROUNDS = 400 };
    struct contents own = read_own();
    Elf64_Ehdr header;
    memcpy(&header, own.bytes, sizeof header);
    size_t sections = header.e_shnum * sizeof(Elf64_Shdr);
    uint64_t address = address_of_function();
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char *copy = mem_alloc(own.length);
        memcpy(copy, own.bytes, own.length);
        for (int i = 0; i < 4; i++) {
            size_t at = noise() % 2 ? header.e_shoff + noise() % sections : noise() % 2048;
            copy[at] = (unsigned char)noise();
        }
        copy[EI_CLASS] = round % 50 ? ELFCLASS64 : (unsigned char)noise();
        int fd = make_file(copy, round % 3 ? own.length : noise() % own.length);
        struct elf_file file;
        struct elf_function function;
        uint64_t asked = round % 2 ? address : (uint64_t)noise() << 32 | noise();
        if (elf_file_open(&file, fd)) {
            elf_file_address(&file, asked, &(uint64_t){0});
            elf_file_function(&file, asked, &function);
            assert_true(function.start <= asked && asked < function.end);
            assert_true(memchr(function.name, '\0', sizeof function.name) != NULL);
        }
        close(fd);
        free(copy);
    }
    free(own.bytes);
}

static void what_is_no_elf_file_is_refused(void **state)
{
    (void)state;
    struct elf_file file;
    int fd = make_file("\177ELF", 4);
    assert_false(elf_file_open(&file, fd));
    close(fd);
    assert_false(elf_file_open(&file, -1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_static_function_is_named),
        cmocka_unit_test(without_symbols_its_bounds_are_known),
        cmocka_unit_test(what_cannot_be_unwound_is_not_of_the_function_before),
        cmocka_unit_test(nonsense_leads_nowhere),
        cmocka_unit_test(what_is_no_elf_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

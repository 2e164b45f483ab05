/* nvdisasm is asked for the functions that are wanted, for several modules at a time; a script stands in. */
#include "cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/disassembler.h"

enum { MODULES = 20 };
static const int64_t second = 1000000000;

static char program[] = "/tmp/warplight-nvdisasm-XXXXXX";

static void write_program(const char *body)
{
    FILE *file = fopen(program, "we");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", body);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(program, 0700), 0);
}

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(program);
    return fd < 0 || close(fd) != 0 || setenv("WARPLIGHT_NVDISASM", program, 1) != 0;
}

static int clean_up(void **state)
{
    (void)state;
    return unlink(program);
}

static struct disassembly module_of(const char *code, const char *symbols)
{
    struct disassembly module = {.cubin = code, .size = strlen(code)};
    str_puts(&module.symbols, symbols);
    return module;
}

static void release(struct disassembly *module)
{
    str_release(&module->symbols);
    str_release(&module->text);
}

static void each_module_gets_the_text_of_its_functions(void **state)
{
    (void)state;
    struct disassembly all[MODULES];
    char codes[MODULES][16], expected[64];
    write_program("echo $1 $2 $3 $(cat $4)");
    for (int i = 0; i < MODULES; i++) {
        snprintf(codes[i], sizeof codes[i], "module %d", i);
        all[i] = module_of(codes[i], i % 3 ? "7,9" : "8");
    }
    disassembler_run(all, MODULES, 60 * second);
    for (int i = 0; i < MODULES; i++) {
        snprintf(expected, sizeof expected, "-c -fun %s module %d\n", i % 3 ? "7,9" : "8", i);
        assert_string_equal(str_text(&all[i].text), expected);
        assert_int_equal(all[i].why, 0);
        release(&all[i]);
    }
}

static void modules_without_functions_are_passed_over(void **state)
{
    (void)state;
    struct disassembly module = module_of("code", "");
    write_program("echo text");
    disassembler_run(&module, 1, 60 * second);
    assert_int_equal(module.text.len, 0);
    assert_int_equal(module.why, 0);
    disassembler_run(NULL, 0, 60 * second);
    release(&module);
}

static void more_functions_than_an_argument_holds_are_all(void **state)
{
    (void)state;
    struct disassembly module = module_of("code", "");
    write_program("echo $1 $(cat $2)");
    for (int i = 0; i < 50000; i++)
        str_addf(&module.symbols, "%s%d", i ? "," : "", i);
    disassembler_run(&module, 1, 60 * second);
    assert_string_equal(str_text(&module.text), "-c code\n");
    release(&module);
}

static void what_takes_too_long_is_ended_and_said(void **state)
{
    (void)state;
    struct disassembly all[3];
    write_program("sleep 600");
    for (int i = 0; i < 3; i++)
        all[i] = module_of("code", "1");
    disassembler_run(all, 3, second / 5);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(all[i].why, ETIMEDOUT);
        release(&all[i]);
    }
}

static void what_fails_is_said(void **state)
{
    (void)state;
    struct disassembly module = module_of("code", "1");
    write_program("exit 1");
    disassembler_run(&module, 1, 60 * second);
    assert_int_equal(module.why, ENODATA);
    assert_int_equal(setenv("WARPLIGHT_NVDISASM", "/nonexistent/nvdisasm", 1), 0);
    disassembler_run(&module, 1, 60 * second);
    assert_int_equal(module.why, ENOENT);
    assert_int_equal(setenv("WARPLIGHT_NVDISASM", program, 1), 0);
    release(&module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_module_gets_the_text_of_its_functions),
        cmocka_unit_test(modules_without_functions_are_passed_over),
        cmocka_unit_test(more_functions_than_an_argument_holds_are_all),
        cmocka_unit_test(what_takes_too_long_is_ended_and_said),
        cmocka_unit_test(what_fails_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}

/* What nvdisasm prints, read. */
#include "cmocka_all.h"

#include <string.h>

#include "symbol/sass.h"

struct taken {
    int count;
    char kernel[32], text[64];
    uint64_t offset;
};

static void take(void *context, const char *kernel, size_t kernel_length, uint64_t offset, const char *text,
                 size_t length)
{
    struct taken *t = context;
    t->count++;
    t->offset = offset;
    assert_true(kernel_length < sizeof t->kernel && length < sizeof t->text);
    memcpy(t->kernel, kernel, kernel_length);
    t->kernel[kernel_length] = '\0';
    memcpy(t->text, text, length);
    t->text[length] = '\0';
}

static struct taken read_text(const char *text)
{
    struct taken taken = {0};
    sass_read(text, strlen(text), take, &taken);
    return taken;
}

#define SECTION "\t.section\t.text._Z1kv,\"ax\",@progbits\n"

static void an_instruction_has_its_kernel_and_offset(void **state)
{
    (void)state;
    struct taken t = read_text(SECTION "        /*00f0*/                   LDG.E R4, desc[UR12][R2.64] ;\n");
    assert_int_equal(t.count, 1);
    assert_string_equal(t.kernel, "_Z1kv");
    assert_int_equal(t.offset, 0xf0);
    assert_string_equal(t.text, "LDG.E R4, desc[UR12][R2.64]");
}

static void what_follows_an_instruction_is_not_of_it(void **state)
{
    (void)state;
    struct taken t = read_text(
        SECTION "/*0000*/ @!P0 EXIT ;  /* 0x000000000000894d */\n                 /* 0x000fea0003800000 */");
    assert_int_equal(t.count, 1);
    assert_string_equal(t.text, "@!P0 EXIT");
}

static void data_and_labels_are_no_instructions(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "/*0000*/ NOP ;\n",                                                /* in no section */
        "\t.section\t.debug_line,\"\",@progbits\n/*0000*/ NOP ;\n",        /* in no code */
        SECTION "\t.section\t.nv.info,\"\"\n/*0000*/ NOP ;\n",             /* no longer */
        SECTION "        /*0010*/ \t.byte\t0xff, 0xff\n.L_x_1:\n_Z1kv:\n", /* data, labels */
        SECTION "/*xyz*/ NOP ;\n/**/ NOP ;\n/*0000 NOP ;\n/*0000*/ ;\n/*0000*/ NOP\n",
        SECTION "/*00000000000000000000000010*/ NOP ;\n",
        "",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(read_text(texts[i]).count, 0);
}

static void a_line_without_end_is_read(void **state)
{
    (void)state;
    assert_string_equal(read_text(SECTION "/*0000*/ NOP ;").text, "NOP");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_has_its_kernel_and_offset),
        cmocka_unit_test(what_follows_an_instruction_is_not_of_it),
        cmocka_unit_test(data_and_labels_are_no_instructions),
        cmocka_unit_test(a_line_without_end_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

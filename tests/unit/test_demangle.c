/* demangle(): right where the library was found at build time, harmless where not, bounded always. */
#include "cmocka_all.h"
#include "make_run.h"

#include "symbol/demangle.h"

static void expect(const char *name, const char *expected)
{
    struct str out = {0};
    str_puts(&out, "before ");
    bool done = demangle(&out, name);
    assert_int_equal(done, expected && demangle_available());
    assert_memory_equal(out.ptr, "before ", 7);
    assert_string_equal(out.ptr + 7, done ? expected : "");
    str_release(&out);
}

static void mangled_kernels_get_their_names_back(void **state)
{
    (void)state;
    expect("_Z6VecAddPKiS0_Pii", "VecAdd(int const*, int const*, int*, int)");
    expect("_Z6VecAddPKiS0_Pii.kd", "VecAdd(int const*, int const*, int*, int)");
    expect("_ZN2at6native6kernelILi4EfEEvPT0_", "void at::native::kernel<4, float>(float*)");
}

static void other_names_are_left_alone(void **state)
{
    (void)state;
    expect("", NULL);
    expect("_", NULL);
    expect("_Z", NULL);
    expect("_ZN", NULL);
    expect("_Z99999999999999999999999x", NULL);
    expect("saxpy(int, float)", NULL);
    expect("ncclDevKernel_AllGather_RING_LL", NULL);
}

/* A template of two arguments, each the whole argument before: doubles with every link. */
static void a_bomb_of_substitutions_does_not_explode(void **state)
{
    (void)state;
    struct str name = {0};
    str_puts(&name, "_Z1f1AIiiE");
    for (int link = 0; link < 30; link++)
        str_addf(&name, link < 10 ? "S_IS%d_S%d_E" : "S_IS%c_S%c_E", link < 10 ? link : 'A' + link - 10,
                 link < 10 ? link : 'A' + link - 10);
    expect(str_text(&name), NULL);
    str_release(&name);
}

static void endless_nesting_does_not_overflow_the_stack(void **state)
{
    (void)state;
    static const char *const links[] = {"P", "1AI", "N1a", "PFvi", "Xpl"};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        for (size_t length = 4000; length < 40000; length += 4000) {
            struct str name = {0}, out = {0};
            str_puts(&name, "_Z1f");
            while (name.len < length)
                str_puts(&name, links[i]);
            str_puts(&name, "i");
            demangle(&out, name.ptr);
            assert_true(out.len <= 64 * 1024);
            str_release(&name);
            str_release(&out);
        }
    }
}

static void a_run_s_kernels_are_renamed_and_nothing_else(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "_Z6VecAddPKiS0_Pii", 0, 1, 0);
    make_kernel(&m.run, m.stream, "plain", 1, 2, 0);
    make_kernel(&m.run, m.stream, "_Z6VecAddPKiS0_Pii", 2, 3, 0);
    make_op(&m.run, m.stream, OP_COPY, "_Z6VecAddPKiS0_Pii", 3, 4, 0);
    demangle_run(&m.run);
    const char *expected =
        demangle_available() ? "VecAdd(int const*, int const*, int*, int)" : "_Z6VecAddPKiS0_Pii";
    assert_string_equal(run_text(&m.run, m.run.ops.name[0]), expected);
    assert_string_equal(run_text(&m.run, m.run.ops.name[1]), "plain");
    assert_int_equal(m.run.ops.name[2], m.run.ops.name[0]);
    assert_string_equal(run_text(&m.run, m.run.ops.name[3]), "_Z6VecAddPKiS0_Pii");
    run_release(&m.run);
}

static void a_native_function_keeps_its_object(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    size_t span = make_span(&m.run, m.thread, SPAN_NATIVE, "app: _Z6VecAddPKiS0_Pii", 0, 1, 0);
    m.run.spans.detail[span] = intern_puts(&m.run.strings, "libc.so.6: memmove");
    demangle_run(&m.run);
    const char *expected =
        demangle_available() ? "app: VecAdd(int const*, int const*, int*, int)" : "app: _Z6VecAddPKiS0_Pii";
    assert_string_equal(run_text(&m.run, m.run.spans.name[span]), expected);
    assert_string_equal(run_text(&m.run, m.run.spans.detail[span]), "libc.so.6: memmove");
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mangled_kernels_get_their_names_back),
        cmocka_unit_test(other_names_are_left_alone),
        cmocka_unit_test(a_bomb_of_substitutions_does_not_explode),
        cmocka_unit_test(endless_nesting_does_not_overflow_the_stack),
        cmocka_unit_test(a_run_s_kernels_are_renamed_and_nothing_else),
        cmocka_unit_test(a_native_function_keeps_its_object),
    };
    return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}

/* kernel_shorten(): readable, distinguishable, never too wide, never fooled. */
#include "cmocka_all.h"
#include "kernel_names.h"

#include "base/utf8.h"

static void expect(const char *name, size_t width, const char *expected)
{
    struct str out = {0};
    kernel_shorten(&out, name, width);
    assert_string_equal(str_text(&out), expected);
    str_release(&out);
}

static void real_names_read_as_the_golden_file_says(void **state)
{
    (void)state;
    struct kernel_names names = {.file = fopen(KERNEL_NAMES, "r")};
    assert_non_null(names.file);
    const char *path = getenv("WARPLIGHT_GOLDEN_OUT");
    FILE *rewritten = path ? fopen(path, "w") : NULL;
    int count = 0;
    for (; kernel_names_next(&names); count++) {
        struct str wide = {0}, narrow = {0};
        char class[7];
        kernel_shorten(&wide, names.fields[FIELD_NAME], 72);
        kernel_shorten(&narrow, names.fields[FIELD_NAME], 40);
        kernel_names_class(names.fields[FIELD_NAME], class);
        if (rewritten) {
            fprintf(rewritten, "%s\t%s\t%s\t%s\n", class, str_text(&wide), str_text(&narrow),
                    names.fields[FIELD_NAME]);
        } else {
            assert_string_equal(str_text(&wide), names.fields[FIELD_WIDE]);
            assert_string_equal(str_text(&narrow), names.fields[FIELD_NARROW]);
        }
        str_release(&wide);
        str_release(&narrow);
    }
    assert_true(count > 700);
    if (rewritten)
        fclose(rewritten);
    fclose(names.file);
    free(names.line);
}

static void detail_gives_way_to_width(void **state)
{
    (void)state;
    const char *name =
        "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
        "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, "
        "at::native::BinaryFunctor<float, float, float>, std::array<char*, 3ul>)";
    expect(name, 100,
           "vectorized_elementwise_kernel<4, BinaryFunctor<float, float, float, MulFunctor<float>>>");
    expect(name, 72, "vectorized_elementwise_kernel<BinaryFunctor<float, MulFunctor<float>>>");
    expect(name, 60, "vectorized_elementwise_kernel<MulFunctor<float>>");
    expect(name, 44, "vectorized_elementwise_kernel<MulFunctor>");
    expect(name, 20, "vectorized…lFunctor>");
}

static void lambdas_are_named_after_their_function(void **state)
{
    (void)state;
    expect(
        "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::"
        "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::"
        "operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, int)::{lambda(int)#1}>(int, int)",
        72, "elementwise_kernel<128, 2, direct_copy_kernel_cuda#3.7(float)>");
    expect("void ns::loop<halo(int, const std::array<int, 4> &)::[lambda(int) (instance 17)]>(ns::Range, T1)",
           72, "loop<halo#17(int)>");
}

static void entry_points_give_way_to_the_kernel(void **state)
{
    (void)state;
    expect("void "
           "cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_tn_align1>(cutlass_80_simt_sgemm_128x64_8x5_tn_"
           "align1::Params)",
           72, "cutlass_80_simt_sgemm_128x64_8x5_tn_align1");
    expect("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, 7>(int)", 72,
           "gemvx::kernel<int, int, float, 7>");
}

static void plain_names_stay_as_they_are(void **state)
{
    (void)state;
    expect("triton_poi_fused_add_mul_0", 72, "triton_poi_fused_add_mul_0");
    expect("Memcpy HtoD (Pageable -> Device)", 72, "Memcpy HtoD (Pageable -> Device)");
    expect("matmul_kernel [M=8192, N=8192, K=512]", 72, "matmul_kernel [M=8192, N=8192, K=512]");
    expect("saxpy(int, float, float*, float*)", 72, "saxpy");
    expect("unsigned int* ns::scan(int)", 72, "scan");
    expect("__amd_rocclr_fillBufferAligned.kd", 72, "__amd_rocclr_fillBufferAligned");
    expect("", 72, "");
}

static void mangled_names_show_their_function(void **state)
{
    (void)state;
    expect("_Z6VecAddPKiS0_Pii", 72, "VecAdd");
    expect("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bLi256EEEvPT0_", 72, "add_rmsnorm_quant_kernel");
    expect("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassEEEEEvT_", 72,
           "Rmsnorm2dFwd");
    expect("_Z", 72, "_Z");
    expect("_ZN99999999999999999999x", 72, "_ZN99999999999999999999x");
}

static void control_characters_and_broken_utf8_never_get_through(void **state)
{
    (void)state;
    struct str out = {0};
    kernel_shorten(&out, "evil\x1b[31m\xff\xc3(int)", 72);
    assert_int_equal(utf8_valid(out.ptr, out.len), out.len);
    assert_null(memchr(out.ptr, '\x1b', out.len));
    str_release(&out);
}

/* Deterministic noise out of the characters that mean something in a name. */
static void make_noise(char *text, size_t length, uint32_t seed)
{
    static const char *const bits[] = {"<",
                                       ">",
                                       "(",
                                       ")",
                                       "[",
                                       "]",
                                       "{",
                                       "}",
                                       ",",
                                       "::",
                                       " ",
                                       "&",
                                       "*",
                                       "a",
                                       "Z",
                                       "_",
                                       "0",
                                       "#",
                                       "operator",
                                       "lambda",
                                       "const",
                                       "->",
                                       "é",
                                       "中",
                                       "_ZN3",
                                       "Cijk_",
                                       "_MT",
                                       "\xff",
                                       "(anonymous namespace)"};
    size_t used = 0;
    while (used + 24 < length) {
        seed = seed * 1664525u + 1013904223u;
        const char *bit = bits[(seed >> 16) % (sizeof bits / sizeof *bits)];
        memcpy(text + used, bit, strlen(bit));
        used += strlen(bit);
    }
    text[used] = '\0';
}

static void no_input_yields_more_columns_than_asked_for(void **state)
{
    (void)state;
    static const size_t widths[] = {0, 1, 2, 3, 7, 20, 72};
    char text[400];
    for (uint32_t seed = 0; seed < 2000; seed++) {
        make_noise(text, 30 + seed % 370, seed);
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            struct str out = {0};
            kernel_shorten(&out, text, widths[w]);
            assert_true((size_t)utf8_width(str_text(&out), out.len) <= widths[w]);
            assert_int_equal(utf8_valid(str_text(&out), out.len), out.len);
            str_release(&out);
        }
    }
}

static void deep_and_long_names_end(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    static const char *const patterns[] = {"<", "f<", "f<a,", "(", "{lambda(", "a::", "f<a>::", "中"};
    char *text = mem_alloc(LONG + 32);
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        size_t n = strlen(patterns[p]), used = 0;
        for (; used + n < LONG; used += n)
            memcpy(text + used, patterns[p], n);
        text[used] = '\0';
        struct str out = {0};
        kernel_shorten(&out, text, 72);
        assert_true(utf8_width(str_text(&out), out.len) <= 72);
        assert_int_equal(utf8_valid(str_text(&out), out.len), out.len);
        str_release(&out);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_names_read_as_the_golden_file_says),
        cmocka_unit_test(detail_gives_way_to_width),
        cmocka_unit_test(lambdas_are_named_after_their_function),
        cmocka_unit_test(entry_points_give_way_to_the_kernel),
        cmocka_unit_test(plain_names_stay_as_they_are),
        cmocka_unit_test(mangled_names_show_their_function),
        cmocka_unit_test(control_characters_and_broken_utf8_never_get_through),
        cmocka_unit_test(no_input_yields_more_columns_than_asked_for),
        cmocka_unit_test(deep_and_long_names_end),
    };
    return cmocka_run_group_tests_name("shorten", tests, NULL, NULL);
}

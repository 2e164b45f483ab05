/* Readers of GPU code, against what the assembler said of it (tests/samples/code/ptxas.tsv). */
#include "cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/binary.h"
#include "symbol/folder.h"

#define CODE SAMPLES "/code/"

static void read_sample(struct run *run, const char *name)
{
    char path[1024];
    struct err err = {0};
    snprintf(path, sizeof path, CODE "%s", name);
    run_init(run);
    if (binary_read(run, path, &err) < 0)
        fail_msg("%s: %s", path, err.what);
}

static void architecture(const struct kernel_code *code, char *text, size_t size)
{
    snprintf(text, size, "%d%s", code->sm, code->is_specific ? "a" : code->is_family ? "f" : "");
}

/* The kernel of that mangled name and architecture, as in "90a"; PTX apart. */
static const struct kernel_code *find(const struct run *run, const char *name, const char *sm, bool is_ptx)
{
    vec_each (&run->codes, code) {
        char own[16];
        architecture(code, own, sizeof own);
        if (strcmp(run_text(run, code->name), name) == 0 && strcmp(own, sm) == 0 && code->is_ptx == is_ptx)
            return code;
    }
    fail_msg("no %s for %s", name, sm);
    return NULL;
}

/* ---- against ptxas -v ---------------------------------------------------------------------------------- */

struct expected {
    char file[64], kernel[128], sm[16];
    int64_t registers, barriers, shared, stack, stores, loads;
};

static bool read_expected(FILE *table, struct expected *e)
{
    return fscanf(table,
                  "%63s %127s %15s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
                  e->file, e->kernel, e->sm, &e->registers, &e->barriers, &e->shared, &e->stack, &e->stores,
                  &e->loads) == 9;
}

static void compare_row(const struct expected *e)
{
    struct run run;
    read_sample(&run, e->file);
    const struct kernel_code *code = find(&run, e->kernel, e->sm, false);
    assert_int_equal(code->registers_per_thread, e->registers);
    assert_int_equal(code->static_shared_bytes, e->shared);
    assert_int_equal(code->stack_bytes, e->stack);
    bool is_old = strstr(e->file, "cuda-11.8") != NULL;
    if (!is_old) /* that ptxas does not print barriers */
        assert_int_equal(code->barriers, e->barriers);
    if (!is_old || code->spill_store_bytes != UNKNOWN) {
        assert_int_equal(code->spill_store_bytes, e->stores);
        assert_int_equal(code->spill_load_bytes, e->loads);
    } else { /* not marked: they are part of all */
        assert_true(code->local_store_bytes >= e->stores && code->local_load_bytes >= e->loads);
    }
    run_release(&run);
}

static void every_value_equals_what_ptxas_said(void **state)
{
    (void)state;
    FILE *table = fopen(CODE "ptxas.tsv", "r");
    char header[256];
    struct expected e;
    int rows = 0;
    assert_non_null(table);
    assert_non_null(fgets(header, sizeof header, table));
    for (; read_expected(table, &e); rows++)
        compare_row(&e);
    fclose(table);
    assert_true(rows > 80);
}

/* ---- what ptxas does not say --------------------------------------------------------------------------- */

static void spills_and_arrays_are_told_apart(void **state)
{
    (void)state;
    struct run run;
    read_sample(&run, "kernels.fatbin");
    static const char *const architectures[] = {"75", "80", "86", "89", "90", "90a", "100", "120"};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        const struct kernel_code *spill = find(&run, "spill", architectures[i], false);
        const struct kernel_code *array = find(&run, "local_array", architectures[i], false);
        const struct kernel_code *both = find(&run, "spill_and_array", architectures[i], false);
        assert_true(spill->spill_store_bytes > 0 && spill->local_store_bytes == 0);
        /* The same source moves the same bytes, however an architecture spells its stores. */
        assert_int_equal(array->spill_store_bytes, 0);
        assert_int_equal(array->local_store_bytes, 180);
        assert_int_equal(array->local_load_bytes, 120);
        assert_true(both->spill_store_bytes > 0 && both->local_store_bytes >= 16 * 8);
        const struct kernel_code *plain = find(&run, "plain", architectures[i], false);
        assert_true(plain->spill_load_bytes == 0 && plain->local_load_bytes == 0);
    }
    run_release(&run);
}

static void places_sum_up_to_the_kernels_bytes(void **state)
{
    (void)state;
    struct run run;
    read_sample(&run, "kernels.fatbin");
    double total = 0, expected = 0;
    for (size_t i = 0; i < run.place_counters.count; i++)
        total += run.place_counters.value[i];
    vec_each (&run.codes, code)
        expected += (double)(code->spill_store_bytes + code->spill_load_bytes + code->local_store_bytes +
                             code->local_load_bytes);
    assert_true(total > 0);
    assert_true(total == expected);
    run_release(&run);
}

/* Line of kernels.cu that holds the text. */
static uint32_t line_of(const char *text)
{
    FILE *source = fopen(CODE "kernels.cu", "r");
    char line[512];
    uint32_t number = 0, found = 0;
    assert_non_null(source);
    while (fgets(line, sizeof line, source)) {
        number++;
        if (!found && strstr(line, text))
            found = number;
    }
    fclose(source);
    assert_true(found > 0);
    return found;
}

static void a_spill_knows_the_calls_that_it_was_inlined_from(void **state)
{
    (void)state;
    struct run run;
    read_sample(&run, "kernels.fatbin");
    const struct place_table *places = &run.places;
    uint32_t mix = line_of("a * 1.5f + b"), blend = line_of("mix(a, b) * mix(b, c)"),
             call = line_of("sum = blend(");
    int found = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        if (places->line[i] != mix || places->pc[i] == UINT64_MAX)
            continue;
        uint32_t middle = places->inlined[i];
        assert_true(middle < places->count);
        uint32_t outer = places->inlined[middle];
        assert_true(outer < places->count);
        assert_string_equal(run_text(&run, places->function[i]), "mix(float, float)");
        assert_int_equal(places->line[middle], blend);
        assert_string_equal(run_text(&run, places->function[middle]), "blend(float, float, float)");
        assert_int_equal(places->line[outer], call);
        assert_int_equal(places->inlined[outer], NONE);
        assert_string_equal(run_text(&run, run.codes.at[places->code[i]].name), "spill");
        found++;
    }
    assert_true(found > 0);
    run_release(&run);
}

static void old_assemblers_leave_spills_unknown_not_zero(void **state)
{
    (void)state;
    struct run run;
    read_sample(&run, "cuda-11.8.fatbin");
    const struct kernel_code *spill = find(&run, "spill", "80", false);
    assert_int_equal(spill->spill_store_bytes, UNKNOWN);
    assert_true(spill->local_store_bytes > 0);
    /* No local memory at all is no spill either. */
    assert_int_equal(find(&run, "plain", "80", false)->spill_store_bytes, 0);
    assert_string_equal(run_text(&run, spill->toolkit), "CUDA 11.8");
    run_release(&run);
}

static void launch_bounds_and_clusters_are_read(void **state)
{
    (void)state;
    struct run run;
    read_sample(&run, "kernels.fatbin");
    assert_int_equal(find(&run, "bounded", "86", false)->max_threads_per_block, 192);
    const struct kernel_code *clustered = find(&run, "clustered", "90", false);
    assert_int_equal(clustered->cluster[0], 4);
    assert_int_equal(clustered->cluster[1], 2);
    assert_int_equal(find(&run, "plain", "90", false)->cluster[0], UNKNOWN);
    assert_int_equal(find(&run, "plain", "75", false)->parameter_bytes, 16);
    assert_int_equal(find(&run, "plain", "75", false)->reserved_shared_bytes, 0);
    assert_int_equal(find(&run, "plain", "80", false)->reserved_shared_bytes, 1024);
    assert_non_null(strstr(run_text(&run, find(&run, "plain", "120", false)->toolkit), "-lineinfo"));
    run_release(&run);
}

/* ---- containers ---------------------------------------------------------------------------------------- */

static void every_compression_holds_the_same_kernels(void **state)
{
    (void)state;
    static const char *const files[] = {"plain-none.fatbin", "plain-speed.fatbin", "plain-size.fatbin"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct run run;
        read_sample(&run, files[i]);
        assert_int_equal(run.codes.count, 4);
        assert_int_equal(find(&run, "plain", "75", false)->static_shared_bytes, 2048);
        assert_int_equal(find(&run, "plain", "100f", false)->static_shared_bytes, 2048);
        assert_int_equal(find(&run, "plain", "90a", true)->static_shared_bytes, 2048);
        assert_int_equal(find(&run, "plain", "100f", true)->max_threads_per_block, 128);
        assert_int_equal(run.sources.at[0].repairs.count, 0);
        run_release(&run);
    }
}

static void a_bare_cubin_says_that_it_is_specific(void **state)
{
    (void)state;
    struct run run;
    read_sample(&run, "plain.cubin");
    assert_int_equal(run.codes.count, 1);
    assert_true(find(&run, "plain", "90a", false)->has_lines);
    assert_string_equal(run_text(&run, run.sources.at[0].format), "cubin");
    run_release(&run);
}

static void objects_and_archives_are_read(void **state)
{
    (void)state;
    struct run run;
    read_sample(&run, "plain.a");
    assert_int_equal(run.codes.count, 3);
    const struct kernel_code *relocatable = find(&run, "plain", "90", false);
    assert_true(relocatable->is_object);
    assert_int_equal(relocatable->static_shared_bytes, 2048);
    assert_false(find(&run, "plain", "75", false)->is_object);
    assert_int_equal(find(&run, "plain", "120", true)->parameter_bytes, 16);
    assert_non_null(strstr(run_text(&run, relocatable->container), "plain.a: plain.cu"));
    run_release(&run);
}

static void ptx_says_what_it_asks_for(void **state)
{
    (void)state;
    static const char text[] = "/* .version in a comment */ // .entry neither\n"
                               ".version 8.4\n.target sm_90a, debug\n.address_size 64\n"
                               ".global .align 1 .b8 text[9] = {46, 101};\n"
                               ".visible .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[24])\n"
                               ".maxntid 32, 4\n.minnctapersm 3\n.reqnctapercluster 2\n"
                               "{ .shared .align 16 .b8 s[100]; .shared .f64 d; .extern .shared .b8 e[]; { "
                               "ld.shared.f32 %f1, [s]; } \"}\" }\n"
                               ".weak .entry empty()\n.reqntid 8, 8, 8\n{ ret; }\n";
    struct run run;
    run_init(&run);
    assert_int_equal(binary_read_memory(&run, "text", text, sizeof text - 1, NULL), 0);
    assert_int_equal(run.codes.count, 2);
    const struct kernel_code *k = find(&run, "k", "90a", true), *empty = find(&run, "empty", "90a", true);
    assert_int_equal(k->parameter_bytes, 40);
    assert_int_equal(k->max_threads_per_block, 128);
    assert_int_equal(k->min_blocks_per_sm, 3);
    assert_int_equal(k->cluster[0], 2);
    assert_int_equal(k->cluster[2], 1);
    assert_int_equal(k->static_shared_bytes, 112);
    assert_int_equal(k->registers_per_thread, UNKNOWN);
    assert_int_equal(empty->required_block[2], 8);
    assert_int_equal(empty->parameter_bytes, 0);
    assert_string_equal(run_text(&run, k->toolkit), "PTX ISA 8.4");
    run_release(&run);
}

static void other_files_are_refused_with_the_reason(void **state)
{
    (void)state;
    struct run run;
    struct err err = {0};
    run_init(&run);
    assert_int_equal(binary_read_memory(&run, "x", "not code", 8, &err), ERR_INPUT);
    assert_non_null(strstr(err.what, "no file with GPU code"));
    assert_int_equal(binary_read_memory(&run, "x", "", 0, &err), ERR_INPUT);
    assert_int_equal(binary_read(&run, CODE "missing", &err), ERR_INPUT);
    assert_int_equal(run.sources.count, 0);
    run_release(&run);
}

static void damage_is_counted_not_fatal(void **state)
{
    (void)state;
    struct run run;
    read_sample(&run, "plain-size.fatbin");
    size_t whole = run.codes.count;
    run_release(&run);
    FILE *file = fopen(CODE "plain-size.fatbin", "rb");
    uint8_t bytes[8192];
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    uint8_t *frame = memmem(bytes, size, "\x28\xb5\x2f\xfd", 4); /* of zstd */
    assert_non_null(frame);
    *frame = 0;
    run_init(&run);
    assert_int_equal(binary_read_memory(&run, "damaged", bytes, size, NULL), 0);
    assert_true(run.codes.count < whole);
    assert_true(run.sources.at[0].repairs.count > 0);
    run_release(&run);
    run_init(&run);
    assert_int_equal(binary_read_memory(&run, "cut", bytes, size / 3, NULL), 0);
    assert_true(run.sources.at[0].repairs.count > 0);
    run_release(&run);
}

static void code_that_a_recording_brought_along_belongs_to_its_source(void **state)
{
    (void)state;
    char bytes[16384];
    FILE *file = fopen(CODE "small.cubin", "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    struct run run;
    run_init(&run);
    run_add_source(&run, "first", "other");
    uint32_t source = run_add_source(&run, "report", "ncu");
    vec_push(&run.images,
             ((struct code_image){.source = source, .bytes = intern_add(&run.strings, bytes, size)}));
    vec_push(&run.images,
             ((struct code_image){.source = source, .bytes = intern_puts(&run.strings, "no code")}));
    binary_read_images(&run);
    assert_int_equal(run.sources.count, 2);
    assert_int_equal(run.codes.count, 1);
    assert_int_equal(run.codes.at[0].source, source);
    assert_int_equal(find(&run, "small", "90", false)->spill_load_bytes, 12);
    run_release(&run);
}

/* ---- Triton -------------------------------------------------------------------------------------------- */

static void copy(const char *from, const char *to)
{
    char bytes[32768];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    size_t size = fread(bytes, 1, sizeof bytes, in);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(in);
    fclose(out);
}

static void a_folder_of_tritons_cache_knows_the_launch(void **state)
{
    (void)state;
    char folder[] = "/tmp/warplight-test-XXXXXX", path[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/HASH", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/HASH/k.cubin", folder);
    copy(CODE "plain.cubin", path);
    snprintf(path, sizeof path, "%s/HASH/k.ptx", folder);
    copy(CODE "plain.ptx", path);
    snprintf(path, sizeof path, "%s/HASH/k.json", folder);
    FILE *json = fopen(path, "w");
    assert_non_null(json);
    fputs(
        "{\"hash\": \"x\", \"target\": {\"arch\": 90}, \"num_warps\": 8, \"shared\": 16896, \"num_ctas\": 1}",
        json);
    fclose(json);
    struct run run;
    struct err err;
    run_init(&run);
    assert_int_equal(folder_read(&run, folder, &err), 0);
    assert_int_equal(run.codes.count, 1); /* the PTX beside it is what it was made from */
    assert_int_equal(run.codes.at[0].required_block[0], 256);
    assert_int_equal(run.codes.at[0].dynamic_shared_bytes, 16896);
    assert_int_equal(run.codes.at[0].cluster[0], UNKNOWN);
    run_release(&run);
    static const char *const files[] = {"HASH/k.cubin", "HASH/k.ptx", "HASH/k.json", "HASH", "."};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        if (i < 3)
            unlink(path);
        else
            rmdir(i == 3 ? path : folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_equals_what_ptxas_said),
        cmocka_unit_test(spills_and_arrays_are_told_apart),
        cmocka_unit_test(places_sum_up_to_the_kernels_bytes),
        cmocka_unit_test(a_spill_knows_the_calls_that_it_was_inlined_from),
        cmocka_unit_test(old_assemblers_leave_spills_unknown_not_zero),
        cmocka_unit_test(launch_bounds_and_clusters_are_read),
        cmocka_unit_test(every_compression_holds_the_same_kernels),
        cmocka_unit_test(a_bare_cubin_says_that_it_is_specific),
        cmocka_unit_test(objects_and_archives_are_read),
        cmocka_unit_test(ptx_says_what_it_asks_for),
        cmocka_unit_test(other_files_are_refused_with_the_reason),
        cmocka_unit_test(damage_is_counted_not_fatal),
        cmocka_unit_test(code_that_a_recording_brought_along_belongs_to_its_source),
        cmocka_unit_test(a_folder_of_tritons_cache_knows_the_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

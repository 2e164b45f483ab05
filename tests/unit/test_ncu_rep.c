/* Nsight Compute reports, built here field by field, whole and damaged. Field numbers: doc/formats/ncu.md. */
#include "cmocka_all.h"

#include <math.h>
#include <string.h>

#include "analyze/metrics.h"
#include "base/proto.h"
#include "import/import.h"

enum { KERNEL_ADDRESS = 0x7f0000001000 };

static void put_length(struct str *out, size_t length)
{
    for (int i = 0; i < 4; i++)
        str_putc(out, (char)(length >> 8 * i & 0xff));
}

static void put_message(struct str *out, const struct str *message)
{
    put_length(out, message->len);
    str_add(out, str_text(message), message->len);
}

static void put_metric_head(struct str *m, uint64_t name, double value)
{
    proto_put_uint(m, 1, name);
    size_t at = proto_open(m, 2);
    proto_put_double(m, 3, value);
    proto_close(m, at);
}

static void put_metric(struct str *result, uint64_t name, double value)
{
    size_t at = proto_open(result, 13);
    put_metric_head(result, name, value);
    proto_close(result, at);
}

static void put_instance(struct str *metric, uint64_t key, uint64_t value)
{
    size_t at = proto_open(metric, 3);
    size_t inner = proto_open(metric, 1);
    proto_put_uint(metric, 5, key);
    proto_close(metric, inner);
    inner = proto_open(metric, 2);
    proto_put_uint(metric, 5, value);
    proto_close(metric, inner);
    proto_close(metric, at);
}

static void put_dim(struct str *result, uint32_t field, uint32_t x)
{
    size_t at = proto_open(result, field);
    for (uint32_t i = 1; i <= 3; i++)
        proto_put_uint(result, i, i == 1 ? x : 1);
    proto_close(result, at);
}

static void put_rule(struct str *result, const char *text)
{
    size_t rule = proto_open(result, 19);
    proto_put_text(result, 1, "Rule");
    size_t body = proto_open(result, 3), item = proto_open(result, 1), message = proto_open(result, 1);
    proto_put_text(result, 1, text);
    proto_put_uint(result, 2, 4);
    proto_close(result, message);
    size_t speedup = proto_open(result, 10);
    proto_put_uint(result, 1, 1);
    proto_put_double(result, 2, 25);
    proto_close(result, speedup);
    proto_close(result, item);
    proto_close(result, body);
    proto_put_text(result, 4, "Section");
    proto_close(result, rule);
}

static void make_result(struct str *r, const char *demangled)
{
    proto_put_text(r, 5, "_Z1ki");
    proto_put_text(r, 6, "k");
    proto_put_text(r, 7, demangled);
    put_dim(r, 10, 100);
    put_dim(r, 11, 256);
    put_metric(r, 0, 18208.0);
    put_metric(r, 1, 50.0);
    put_metric(r, 99, 1.0); /* not in the table of names */
    size_t at = proto_open(r, 13);
    put_metric_head(r, 2, 7);
    put_instance(r, KERNEL_ADDRESS + 0x10, 5);
    put_instance(r, KERNEL_ADDRESS + 0x20, 2);
    put_instance(r, KERNEL_ADDRESS + 0x30, 0);
    put_instance(r, 16, 9); /* no address */
    proto_close(r, at);
    put_rule(r, "See @section:Other:the other section@, @url:The Guide:https://example.org/x@ or mail a@b.");
}

static void make_code(struct str *s)
{
    proto_put_uint(s, 1, 77);
    proto_put_bytes(s, 4,
                    "\x7f"
                    "ELF\0bytes",
                    10);
    size_t at = proto_open(s, 9), function = proto_open(s, 1);
    proto_put_text(s, 1, "_Z1ki");
    proto_put_uint(s, 2, KERNEL_ADDRESS);
    proto_close(s, function);
    proto_close(s, at);
}

static void put_block(struct str *out, const struct str *message, bool is_code, bool names)
{
    static const char *const texts[] = {"gpu__time_duration.sum", "lts__t_sector_hit_rate.pct",
                                        "inst_executed"};
    struct str header = {0};
    proto_put_uint(&header, 1, message && is_code);
    proto_put_uint(&header, 2, message && !is_code);
    size_t at = proto_open(&header, 4);
    for (int i = 0; names && i < 3; i++)
        proto_put_text(&header, 1, texts[i]);
    proto_close(&header, at);
    proto_put_uint(&header, 5, message ? message->len + 4 : 0);
    put_message(out, &header);
    if (message)
        put_message(out, message);
    str_release(&header);
}

static void put_session(struct str *out)
{
    struct str header = {0};
    size_t session = proto_open(&header, 3), device = proto_open(&header, 6);
    proto_put_uint(&header, 1, 2);
    proto_put_text(&header, 2, "NVIDIA Test");
    size_t attribute = proto_open(&header, 3);
    proto_put_text(&header, 1, "device__attribute_multiprocessor_count");
    size_t value = proto_open(&header, 2);
    proto_put_uint(&header, 5, 132);
    proto_close(&header, value);
    proto_close(&header, attribute);
    proto_close(&header, device);
    proto_close(&header, session);
    put_message(out, &header);
    str_release(&header);
}

static void make_report(struct str *out, int results)
{
    struct str code = {0}, result = {0};
    make_code(&code);
    make_result(&result, "k(int)");
    str_add(out, "NVR\0\2\0\0\0\x08\x07", 10);
    put_session(out);
    put_block(out, &code, true, false);
    for (int i = 0; i < results; i++)
        put_block(out, &result, false, i == 0);
    str_release(&code);
    str_release(&result);
}

static int load(struct run *run, const char *bytes, size_t length, struct err *err)
{
    run_init(run);
    return import_memory(run, "file", bytes, length, NULL, NULL, err);
}

static void a_report_gives_launches_with_exact_values(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct run run;
    struct metrics m;
    struct err err = {0};
    make_report(&bytes, 2);
    assert_int_equal(load(&run, bytes.ptr, bytes.len, &err), 0);
    metrics_init(&m, &run);
    assert_int_equal(run.profiles.count, 2);
    const struct kernel_profile *p = &run.profiles.at[1];
    assert_string_equal(run_text(&run, p->name), "k(int)");
    assert_string_equal(run_text(&run, p->mangled), "_Z1ki");
    assert_int_equal(p->launch, 1);
    assert_true(metric_get(&m, 1, METRIC_DURATION).value == 18208);
    assert_true(metric_get(&m, 1, METRIC_L2_HIT).value == 0.5);
    assert_int_equal(run.shapes.at[p->shape].block[0], 256);
    assert_int_equal(run.devices.count, 1);
    assert_int_equal(run.devices.at[p->device].id, 2);
    assert_int_equal(run.devices.at[p->device].sm_count, 132);
    assert_string_equal(run_text(&run, run.devices.at[p->device].name), "NVIDIA Test");
    assert_int_equal(run.images.count, 1);
    assert_int_equal(intern_length(&run.strings, run.images.at[p->image].bytes), 10);
    metrics_release(&m);
    run_release(&run);
    str_release(&bytes);
}

static void instances_at_addresses_of_the_code_are_its_instructions(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct run run;
    struct err err = {0};
    make_report(&bytes, 2);
    assert_int_equal(load(&run, bytes.ptr, bytes.len, &err), 0);
    assert_int_equal(run.places.count, 2);
    assert_true(run.places.pc[0] == 0x10 && run.places.pc[1] == 0x20);
    assert_string_equal(run_text(&run, run.places.function[0]), "_Z1ki");
    assert_int_equal(run.place_counters.count, 4);
    assert_true(run.place_counters.value[0] == 5 && run.place_counters.profile[3] == 1);
    assert_int_equal(place_metric_of(run_text(&run, run.place_counters.name[0])), PLACE_INSTRUCTIONS);
    run_release(&run);
    str_release(&bytes);
}

static void rules_are_kept_as_people_read_them(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct run run;
    struct err err = {0};
    make_report(&bytes, 1);
    assert_int_equal(load(&run, bytes.ptr, bytes.len, &err), 0);
    assert_int_equal(run.advices.count, 1);
    const struct advice *a = &run.advices.at[0];
    assert_string_equal(run_text(&run, a->text),
                        "See the other section, The Guide (https://example.org/x) or mail a@b.");
    assert_int_equal(a->kind, ADVICE_OPTIMIZE);
    assert_true(a->speedup_ratio == 0.25 && a->is_local_speedup);
    run_release(&run);
    str_release(&bytes);
}

/* Wherever the file ends, whole results are there, and what is not is counted. */
static void every_prefix_gives_its_whole_results(void **state)
{
    (void)state;
    struct str bytes = {0}, one = {0};
    make_report(&bytes, 3);
    make_report(&one, 1);
    for (size_t length = 4; length < bytes.len; length++) {
        struct run run;
        struct err err = {0};
        int code = load(&run, bytes.ptr, length, &err);
        assert_int_equal(code, length < one.len ? ERR_INPUT : 0);
        if (code == 0) {
            assert_in_range(run.profiles.count, 1, 2);
            bool whole = run.sources.at[0].repairs.count == 1; /* the metric without a name */
            assert_true(whole || run.losses.truncated_bytes > 0);
        } else {
            assert_true(err.hint[0] != '\0');
        }
        run_release(&run);
    }
    str_release(&bytes);
    str_release(&one);
}

static void any_changed_byte_is_survived(void **state)
{
    (void)state;
    struct str bytes = {0};
    make_report(&bytes, 2);
    for (size_t i = 4; i < bytes.len; i++) {
        static const unsigned char flips[] = {0x01, 0x80, 0xff};
        for (size_t k = 0; k < sizeof flips; k++) {
            struct run run;
            struct err err = {0};
            bytes.ptr[i] = (char)((unsigned char)bytes.ptr[i] ^ flips[k]);
            int code = load(&run, bytes.ptr, bytes.len, &err);
            assert_true(code == 0 || (code == ERR_INPUT && err.what[0]));
            bytes.ptr[i] = (char)((unsigned char)bytes.ptr[i] ^ flips[k]);
            run_release(&run);
        }
    }
    str_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_gives_launches_with_exact_values),
        cmocka_unit_test(instances_at_addresses_of_the_code_are_its_instructions),
        cmocka_unit_test(rules_are_kept_as_people_read_them),
        cmocka_unit_test(every_prefix_gives_its_whole_results),
        cmocka_unit_test(any_changed_byte_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

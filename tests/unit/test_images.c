/* Which architectures a program holds code for, wherever in it that lies. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "symbol/images.h"

enum { SECTIONS_MAX = 8, HOST_MACHINE = 62 };

struct part {
    const char *name;
    uint32_t type;
    uint64_t flags;
    struct bytes data;
};

static void put(struct str *text, uint64_t value, size_t size)
{
    str_add(text, (const char *)&value, size);
}

static void put_zeros(struct str *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(text, 0, 1);
}

static void pad(struct str *text, size_t alignment)
{
    while (text->len % alignment)
        str_add(text, "", 1);
}

/* An ELF file of parts, then the table of their names, which is the last section. */
static void make_elf(struct str *file, unsigned machine, const struct part *parts, size_t count)
{
    struct str names = {0}, table = {0};
    uint64_t offsets[SECTIONS_MAX];
    str_cut(file, 0);
    put_zeros(file, 64);
    str_add(&names, "", 1);
    put_zeros(&table, 64);
    for (size_t i = 0; i < count; i++) {
        offsets[i] = file->len;
        str_add(file, (const char *)parts[i].data.at, parts[i].data.size);
    }
    for (size_t i = 0; i <= count; i++) {
        bool is_names = i == count;
        put(&table, names.len, 4);
        str_add(&names, is_names ? ".shstrtab" : parts[i].name,
                strlen(is_names ? ".shstrtab" : parts[i].name) + 1);
        put(&table, is_names ? 3 : parts[i].type, 4);
        put(&table, is_names ? 0 : parts[i].flags, 8);
        put(&table, 0, 8);
        put(&table, is_names ? file->len : offsets[i], 8);
        put(&table, is_names ? names.len : parts[i].data.size, 8);
        put_zeros(&table, 24);
    }
    str_add(file, names.ptr, names.len);
    pad(file, 8);
    uint64_t start = file->len;
    str_add(file, table.ptr, table.len);
    char *header = file->ptr;
    memcpy(header, "\177ELF\2\1\1", 7);
    memcpy(header + 18, &(uint16_t){(uint16_t)machine}, 2);
    memcpy(header + 40, &start, 8);
    memcpy(header + 60, &(uint16_t){(uint16_t)(count + 2)}, 2);
    memcpy(header + 62, &(uint16_t){(uint16_t)(count + 1)}, 2);
    str_release(&names);
    str_release(&table);
}

static struct bytes bytes_of(const struct str *text)
{
    return (struct bytes){(const uint8_t *)text->ptr, text->len};
}

/* A container with one entry, as it lies in a fatbin. */
static void add_container(struct str *out, unsigned kind, unsigned sm, struct bytes payload)
{
    struct str entry = {0};
    put(&entry, kind, 2);
    put(&entry, 0x101, 2);
    put(&entry, 64, 4);
    put(&entry, payload.size, 8);
    put_zeros(&entry, 12);
    put(&entry, sm, 4);
    put(&entry, 0, 8);
    put(&entry, 0x11, 8);
    put_zeros(&entry, 16);
    str_add(&entry, (const char *)payload.at, payload.size);
    pad(&entry, 8);
    memcpy(entry.ptr + 8, &(uint64_t){entry.len - 64}, 8);
    put(out, 0xba55ed50, 4);
    put(out, 1, 2);
    put(out, 16, 2);
    put(out, entry.len, 8);
    str_add(out, entry.ptr, entry.len);
    str_release(&entry);
}

/* What the linker puts into every library that is linked for the device: a cubin with notes alone. */
static void add_empty(struct str *out, unsigned sm)
{
    struct str cubin = {0};
    static const uint8_t note[24] = "a tool and its version";
    make_elf(&cubin, ELF_MACHINE_CUDA, &(struct part){".note.nv.tkinfo", 7, 0, {note, sizeof note}}, 1);
    add_container(out, FATBIN_CUBIN, sm, bytes_of(&cubin));
    str_release(&cubin);
}

static void read_sample(struct str *text, const char *name)
{
    char path[1024], chunk[4096];
    snprintf(path, sizeof path, SAMPLES "/code/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;)
        str_add(text, chunk, got);
    fclose(file);
}

/* "sm_75 compute_100f", and what stands in images at the end. */
static void expect(const struct str *file, const char *codes, int later_sm, bool is_cut)
{
    struct images images;
    struct kernel_code code;
    struct str found = {0};
    assert_true(images_open_memory(&images, file->ptr, file->len));
    while (images_next(&images, &code))
        str_addf(&found, "%s%s_%d%s", found.len ? " " : "", code.is_ptx ? "compute" : "sm", code.sm,
                 code.is_specific ? "a"
                 : code.is_family ? "f"
                                  : "");
    assert_string_equal(str_text(&found), codes);
    assert_int_equal(images.later_sm, later_sm);
    assert_int_equal(images.is_cut, is_cut);
    images_close(&images);
    str_release(&found);
}

static void each_architecture_is_told_once(void **state)
{
    (void)state;
    struct str code = {0}, file = {0};
    read_sample(&code, "plain-none.fatbin");
    read_sample(&code, "plain-size.fatbin");
    make_elf(&file, HOST_MACHINE, &(struct part){".nv_fatbin", ELF_PROGBITS, ELF_ALLOC, bytes_of(&code)}, 1);
    expect(&file, "sm_75 compute_100f sm_100f compute_90a", 0, false);
    str_release(&code);
    str_release(&file);
}

static void who_has_seen_enough_stops(void **state)
{
    (void)state;
    struct str code = {0}, file = {0};
    struct images images;
    struct kernel_code first;
    read_sample(&code, "kernels.fatbin");
    make_elf(&file, HOST_MACHINE, &(struct part){".nv_fatbin", ELF_PROGBITS, ELF_ALLOC, bytes_of(&code)}, 1);
    assert_true(images_open_memory(&images, file.ptr, file.len));
    assert_true(images_next(&images, &first));
    assert_int_equal(first.sm, 75);
    images_close(&images);
    str_release(&code);
    str_release(&file);
}

static void code_is_found_in_data_and_an_empty_image_is_none(void **state)
{
    (void)state;
    struct str empty = {0}, data = {0}, code = {0}, file = {0};
    add_empty(&empty, 75);
    read_sample(&code, "plain-none.fatbin");
    str_add(&data, "\1\2\3\4", 4); /* a section of data begins anywhere; containers in it are aligned */
    put(&data, 0xba55ed50, 4);     /* the magic alone is no container */
    put(&data, 0xba55ed50, 4);
    add_container(&data, FATBIN_NVVM, 80, bytes_of(&code));
    add_container(&data, FATBIN_NVVM, 75, bytes_of(&code));
    str_add(&data, code.ptr, code.len);
    const struct part parts[] = {
        {".nv_fatbin", ELF_PROGBITS, ELF_ALLOC, bytes_of(&empty)},
        {".text", ELF_PROGBITS, ELF_ALLOC | ELF_EXECUTABLE, bytes_of(&code)}, /* nobody looks there */
        {".odd", ELF_PROGBITS, ELF_ALLOC, {(const uint8_t *)"1234", 4}},
        {".ldata", ELF_PROGBITS, ELF_ALLOC | 1, bytes_of(&data)},
    };
    make_elf(&file, HOST_MACHINE, parts, 1);
    expect(&file, "", 0, false);
    make_elf(&file, HOST_MACHINE, parts, 2);
    expect(&file, "", 0, false);
    make_elf(&file, HOST_MACHINE, parts, 4);
    expect(&file, "sm_75 compute_100f sm_100f compute_90a", 75, false);
    str_release(&empty);
    str_release(&data);
    str_release(&code);
    str_release(&file);
}

static void what_cannot_be_seen_is_said(void **state)
{
    (void)state;
    static const uint8_t noise[64] = "no machine code";
    struct str code = {0}, file = {0};
    struct part part = {".nv_fatbin", ELF_PROGBITS, ELF_ALLOC, {0}};
    add_container(&code, 77, 90, (struct bytes){noise, sizeof noise}); /* a kind to come */
    part.data = bytes_of(&code);
    make_elf(&file, HOST_MACHINE, &part, 1);
    expect(&file, "", 0, true);
    str_cut(&code, 0);
    add_container(&code, FATBIN_CUBIN, 90, (struct bytes){noise, sizeof noise});
    part.data = bytes_of(&code);
    make_elf(&file, HOST_MACHINE, &part, 1);
    expect(&file, "", 0, true);
    str_cut(&code, 0);
    read_sample(&code, "plain-none.fatbin");
    str_cut(&code, code.len - 100);
    part.data = bytes_of(&code);
    make_elf(&file, HOST_MACHINE, &part, 1);
    expect(&file, "sm_75 compute_100f sm_100f", 0, true);
    str_release(&code);
    str_release(&file);
}

static void files_without_a_section_for_it_are_not_looked_through(void **state)
{
    (void)state;
    struct str code = {0}, file = {0};
    struct images images;
    read_sample(&code, "plain-none.fatbin");
    make_elf(&file, HOST_MACHINE, &(struct part){".rodata", ELF_PROGBITS, ELF_ALLOC, bytes_of(&code)}, 1);
    assert_false(images_open_memory(&images, file.ptr, file.len));
    images_close(&images);
    assert_false(images_open_memory(&images, code.ptr, code.len)); /* no ELF file */
    images_close(&images);
    assert_false(images_open(&images, SAMPLES "/code/no-such-file"));
    images_close(&images);
    assert_true(images_open(&images, SAMPLES "/code/plain.o"));
    images_close(&images);
    str_release(&code);
    str_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_architecture_is_told_once),
        cmocka_unit_test(who_has_seen_enough_stops),
        cmocka_unit_test(code_is_found_in_data_and_an_empty_image_is_none),
        cmocka_unit_test(what_cannot_be_seen_is_said),
        cmocka_unit_test(files_without_a_section_for_it_are_not_looked_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

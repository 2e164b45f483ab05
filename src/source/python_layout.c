#include "source/python_layout.h"

#include <string.h>

#include "base/time.h"
#include "source/remote_symbol.h"

/* "3.12" in the upper half of PY_VERSION_HEX. */
#define MINOR_VERSION(version) ((version) >> 16)
enum { PYTHON_3_11 = 0x030b, PYTHON_3_12 = 0x030c, PYTHON_3_13 = 0x030d, PYTHON_3_14 = 0x030e };

static const struct python_layout python_3_11 = {
    .runtime_interpreters = 40,
    .interpreter_next = 0,
    .interpreter_threads = 16,
    .thread_next = 8,
    .thread_native_id = 160,
    .thread_frame = 56,
    .cframe_frame = 8,
    .frame_previous = 48,
    .frame_code = 32,
    .frame_instruction = 56,
    .frame_owner = 69,
    .first_internal_owner = 3,
    .code_filename = 112,
    .code_qualname = 128,
    .code_linetable = 136,
    .code_firstlineno = 72,
    .code_instructions = 184,
    .object_type = 8,
    .bytes_size = 16,
    .bytes_data = 32,
    .text_state = 32,
    .text_length = 16,
    .text_ascii_data = 48,
    .text_data = 72,
    .text_kind_bit = 2,
};

static const struct python_layout python_3_12 = {
    .runtime_interpreters = 40,
    .interpreter_next = 0,
    .interpreter_threads = 72,
    .thread_next = 8,
    .thread_native_id = 144,
    .thread_frame = 56,
    .cframe_frame = 0,
    .frame_previous = 8,
    .frame_code = 0,
    .frame_instruction = 56,
    .frame_owner = 70,
    .first_internal_owner = 3,
    .code_filename = 112,
    .code_qualname = 128,
    .code_linetable = 136,
    .code_firstlineno = 68,
    .code_instructions = 192,
    .object_type = 8,
    .bytes_size = 16,
    .bytes_data = 32,
    .text_state = 32,
    .text_length = 16,
    .text_ascii_data = 40,
    .text_data = 56,
    .text_kind_bit = 2,
};

/* ---- the interpreter's own table ------------------------------------------------------------------------
 */

#define COOKIE "xdebugpy"

/* The table is 64-bit numbers after the cookie, grouped by structure, and each minor version has its own
 * order: these are the places of the numbers that are wanted. */
struct offset_places {
    uint8_t runtime_interpreters;
    uint8_t interpreter_next, interpreter_threads;
    uint8_t thread_next, thread_frame, thread_native_id;
    uint8_t frame_previous, frame_code, frame_instruction, frame_owner;
    uint8_t code_filename, code_qualname, code_linetable, code_firstlineno, code_instructions;
    uint8_t object_type;
    uint8_t bytes_size, bytes_data;
    uint8_t text_state, text_length, text_ascii_size;
    uint8_t first_internal_owner; /* not a place: the value */
};

enum { TABLE_NUMBERS = 96, TABLE_VERSION = 0, TABLE_FREE_THREADED = 1 };

static const struct offset_places places_3_13 = {
    .runtime_interpreters = 4,
    .interpreter_next = 7,
    .interpreter_threads = 8,
    .thread_next = 20,
    .thread_frame = 22,
    .thread_native_id = 24,
    .frame_previous = 28,
    .frame_code = 29,
    .frame_instruction = 30,
    .frame_owner = 32,
    .code_filename = 34,
    .code_qualname = 36,
    .code_linetable = 37,
    .code_firstlineno = 38,
    .code_instructions = 42,
    .object_type = 44,
    .bytes_size = 64,
    .bytes_data = 65,
    .text_state = 67,
    .text_length = 68,
    .text_ascii_size = 69,
    .first_internal_owner = 3,
};

static const struct offset_places places_3_14 = {
    .runtime_interpreters = 4,
    .interpreter_next = 7,
    .interpreter_threads = 8,
    .thread_next = 23,
    .thread_frame = 25,
    .thread_native_id = 27,
    .frame_previous = 31,
    .frame_code = 32,
    .frame_instruction = 33,
    .frame_owner = 35,
    .code_filename = 39,
    .code_qualname = 41,
    .code_linetable = 42,
    .code_firstlineno = 43,
    .code_instructions = 47,
    .object_type = 50,
    .bytes_size = 74,
    .bytes_data = 75,
    .text_state = 77,
    .text_length = 78,
    .text_ascii_size = 79,
    .first_internal_owner = 3,
};

/* Offsets beyond are damage. */
enum { MOST_OFFSET = 1 << 24 };

static bool take_table(struct python_layout *l, const uint64_t numbers[static TABLE_NUMBERS],
                       const struct offset_places *places)
{
    const struct {
        uint32_t *to;
        uint8_t place;
    } wanted[] = {
        {&l->runtime_interpreters, places->runtime_interpreters},
        {&l->interpreter_next, places->interpreter_next},
        {&l->interpreter_threads, places->interpreter_threads},
        {&l->thread_next, places->thread_next},
        {&l->thread_frame, places->thread_frame},
        {&l->thread_native_id, places->thread_native_id},
        {&l->frame_previous, places->frame_previous},
        {&l->frame_code, places->frame_code},
        {&l->frame_instruction, places->frame_instruction},
        {&l->frame_owner, places->frame_owner},
        {&l->code_filename, places->code_filename},
        {&l->code_qualname, places->code_qualname},
        {&l->code_linetable, places->code_linetable},
        {&l->code_firstlineno, places->code_firstlineno},
        {&l->code_instructions, places->code_instructions},
        {&l->object_type, places->object_type},
        {&l->bytes_size, places->bytes_size},
        {&l->bytes_data, places->bytes_data},
        {&l->text_state, places->text_state},
        {&l->text_length, places->text_length},
        {&l->text_ascii_data, places->text_ascii_size},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (numbers[wanted[i].place] > MOST_OFFSET)
            return false;
        *wanted[i].to = (uint32_t)numbers[wanted[i].place];
    }
    /* PyCompactUnicodeObject: the length in UTF-8 and a pointer to that follow. */
    l->text_data = l->text_ascii_data + 2 * (uint32_t)sizeof(uint64_t);
    l->cframe_frame = NONE;
    l->first_internal_owner = places->first_internal_owner;
    return true;
}

static enum python_found read_table(struct python_layout *l, struct remote_memory *m, uint64_t runtime)
{
    struct {
        char cookie[8];
        uint64_t numbers[TABLE_NUMBERS];
    } table;
    if (!remote_memory_read(m, runtime, &table, sizeof table) ||
        memcmp(table.cookie, COOKIE, sizeof table.cookie) != 0)
        return PYTHON_ABSENT;
    l->version = (uint32_t)table.numbers[TABLE_VERSION];
    uint32_t minor = MINOR_VERSION(l->version);
    const struct offset_places *places = minor == PYTHON_3_13   ? &places_3_13
                                         : minor == PYTHON_3_14 ? &places_3_14
                                                                : NULL;
    /* Without a GIL, 3.14 keeps in a byte of its own what else takes two bits. */
    l->text_kind_bit = minor >= PYTHON_3_14 && table.numbers[TABLE_FREE_THREADED] ? 8 : 2;
    return places && take_table(l, table.numbers, places) ? PYTHON_FOUND : PYTHON_UNKNOWN;
}

/* ---- finding it -----------------------------------------------------------------------------------------
 */

enum python_found python_layout_find(struct python_layout *l, struct remote_memory *m, uint64_t start)
{
    struct remote_image image;
    *l = (struct python_layout){0};
    if (!remote_image_open(&image, m, start))
        return PYTHON_ABSENT;
    uint64_t runtime = remote_image_symbol(&image, m, "_PyRuntime");
    uint64_t code_type = remote_image_symbol(&image, m, "PyCode_Type");
    if (!runtime || !code_type)
        return PYTHON_ABSENT;
    enum python_found found = read_table(l, m, runtime);
    if (found == PYTHON_ABSENT) {
        uint64_t version = 0;
        uint64_t at = remote_image_symbol(&image, m, "Py_Version"); /* since 3.11 */
        if (at)
            remote_memory_u64(m, at, &version);
        uint32_t minor = MINOR_VERSION((uint32_t)version);
        found = minor == PYTHON_3_11 || minor == PYTHON_3_12 ? PYTHON_FOUND : PYTHON_UNKNOWN;
        if (found == PYTHON_FOUND)
            *l = minor == PYTHON_3_11 ? python_3_11 : python_3_12;
        l->version = (uint32_t)version;
    }
    l->runtime = runtime;
    l->code_type = code_type;
    return found;
}

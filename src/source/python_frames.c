#include "source/python_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/time.h"
#include "base/utf8.h"

enum {
    MOST_INTERPRETERS = 64,
    MOST_THREADS = 4096,  /* Python threads of an interpreter */
    MOST_TEXT = 1024,     /* characters of a file name or a qualified name: what is longer is cut */
    MOST_TABLE = 1 << 18, /* bytes of one line table */
    MOST_TABLES = 64 << 20,
    MOST_CODES = 1 << 16,
    CODE_BYTES = 512, /* the head of a code object ends before */
};

void python_reader_init(struct python_reader *r, struct remote_memory *memory,
                        const struct python_layout *layout, struct intern *texts)
{
    *r = (struct python_reader){.memory = memory, .layout = *layout, .texts = texts};
}

static void forget_codes(struct python_reader *r)
{
    vec_each (&r->codes, code)
        free(code->table);
    vec_release(&r->codes);
    map_release(&r->by_address);
    r->by_address = (struct map){0};
    r->table_bytes = 0;
}

void python_reader_release(struct python_reader *r)
{
    forget_codes(r);
}

/* ---- texts ----------------------------------------------------------------------------------------------
 */

/* A str object (PEP 393): ASCII and Latin-1 in bytes, else in 16 or 32 bits a character. */
static bool add_text(struct python_reader *r, uint64_t object, struct str *out)
{
    const struct python_layout *l = &r->layout;
    union {
        uint8_t narrow[MOST_TEXT];
        uint16_t wide[MOST_TEXT];
        uint32_t widest[MOST_TEXT];
    } data;
    uint32_t state;
    uint64_t length;
    if (!remote_memory_read(r->memory, object + l->text_state, &state, sizeof state) ||
        !remote_memory_u64(r->memory, object + l->text_length, &length) || length > INT32_MAX)
        return false;
    state >>= l->text_kind_bit;
    uint32_t kind = state & 7;
    bool compact = state & 8, ascii = state & 16;
    if (!compact || (kind != 1 && kind != 2 && kind != 4) || (ascii && kind != 1))
        return false;
    length = length < MOST_TEXT ? length : MOST_TEXT;
    if (!remote_memory_read(r->memory, object + (ascii ? l->text_ascii_data : l->text_data), &data,
                            length * kind))
        return false;
    struct str utf8 = {0};
    for (size_t i = 0; i < length; i++)
        utf8_add(&utf8, kind == 1 ? data.narrow[i] : kind == 2 ? data.wide[i] : data.widest[i]);
    utf8_visible(out, str_text(&utf8), utf8.len);
    str_release(&utf8);
    return true;
}

/* ---- code objects ---------------------------------------------------------------------------------------
 */

/* The pointers and the first line of a code object, and whether it is one. */
static bool read_head(struct python_reader *r, uint64_t address, struct python_code *head)
{
    const struct python_layout *l = &r->layout;
    unsigned char bytes[CODE_BYTES];
    uint64_t type;
    int32_t first_line;
    if (l->code_instructions > CODE_BYTES || l->code_linetable > CODE_BYTES - sizeof type ||
        l->code_filename > CODE_BYTES - sizeof type || l->code_qualname > CODE_BYTES - sizeof type ||
        l->code_firstlineno > CODE_BYTES - sizeof first_line || l->object_type > CODE_BYTES - sizeof type ||
        !remote_memory_read(r->memory, address, bytes, l->code_instructions))
        return false;
    memcpy(&type, bytes + l->object_type, sizeof type);
    memcpy(&head->filename, bytes + l->code_filename, sizeof head->filename);
    memcpy(&head->qualname, bytes + l->code_qualname, sizeof head->qualname);
    memcpy(&head->linetable, bytes + l->code_linetable, sizeof head->linetable);
    memcpy(&first_line, bytes + l->code_firstlineno, sizeof first_line);
    head->first_line = first_line > 0 ? (uint32_t)first_line : 0;
    return type == l->code_type;
}

static bool same_code(const struct python_code *a, const struct python_code *b)
{
    return a->filename == b->filename && a->qualname == b->qualname && a->linetable == b->linetable &&
           a->first_line == b->first_line;
}

static bool read_table(struct python_reader *r, struct python_code *code)
{
    const struct python_layout *l = &r->layout;
    uint64_t length;
    if (!remote_memory_u64(r->memory, code->linetable + l->bytes_size, &length) || length > MOST_TABLE)
        return false;
    unsigned char *table = mem_alloc(length + 1);
    if (length && !remote_memory_read(r->memory, code->linetable + l->bytes_data, table, length)) {
        free(table);
        return false;
    }
    code->table = table;
    code->table_length = (uint32_t)length;
    return true;
}

static bool read_code(struct python_reader *r, struct python_code *code)
{
    struct str text = {0}, name = {0};
    bool read =
        add_text(r, code->filename, &text) && add_text(r, code->qualname, &name) && read_table(r, code);
    if (read) {
        code->file = intern_add(r->texts, str_text(&text), text.len);
        str_addf(&text, "(%u): %s", code->first_line, str_text(&name));
        code->name = intern_add(r->texts, str_text(&text), text.len);
        code->last_instruction = NONE;
    }
    str_release(&text);
    str_release(&name);
    return read;
}

/* What is known of the code object there; NULL if none is. Addresses are used again: the head tells. */
static struct python_code *code_at(struct python_reader *r, uint64_t address)
{
    struct python_code head = {0};
    if (!read_head(r, address, &head))
        return NULL;
    uint32_t at = map_get(&r->by_address, address);
    if (at != MAP_ABSENT && same_code(&r->codes.at[at], &head))
        return &r->codes.at[at];
    if (!read_code(r, &head))
        return NULL;
    if (at == MAP_ABSENT && (r->codes.count >= MOST_CODES || r->table_bytes > MOST_TABLES))
        forget_codes(r);
    if (at == MAP_ABSENT) {
        at = (uint32_t)r->codes.count;
        map_set(&r->by_address, address, at);
        (void)vec_new(&r->codes);
    }
    r->table_bytes = r->table_bytes - r->codes.at[at].table_length + head.table_length;
    free(r->codes.at[at].table);
    r->codes.at[at] = head;
    return &r->codes.at[at];
}

/* ---- lines ----------------------------------------------------------------------------------------------
 */

/* Entries start with a byte of which the top bit is set: four bits of form, three of length. */
static uint32_t read_varint(const unsigned char *table, size_t length, size_t *at)
{
    uint32_t value = 0;
    for (unsigned shift = 0; *at < length && shift < 30; shift += 6) {
        unsigned char byte = table[(*at)++];
        value |= (uint32_t)(byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return value;
}

uint32_t python_line(const unsigned char *table, size_t length, uint32_t first_line, uint32_t instruction)
{
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_LOCATION = 15 };
    int64_t line = first_line;
    uint64_t end = 0;
    for (size_t at = 0; at < length;) {
        unsigned char head = table[at++];
        unsigned form = head >> 3 & 15;
        if (form >= ONE_LINE && form < NO_COLUMNS) {
            line += form - ONE_LINE;
        } else if (form == NO_COLUMNS || form == LONG) {
            uint32_t delta = read_varint(table, length, &at);
            line += delta & 1 ? -(int64_t)(delta >> 1) : (int64_t)(delta >> 1);
        }
        end += (head & 7) + 1u;
        if (instruction < end)
            return form == NO_LOCATION || line <= 0 || line > INT32_MAX ? 0 : (uint32_t)line;
        while (at < length && !(table[at] & 128)) /* columns */
            at++;
    }
    return 0;
}

static uint32_t line_of(struct python_code *code, uint64_t instruction)
{
    if (instruction >= NONE)
        return 0; /* of a copy of the instructions that belongs to one thread (free-threaded 3.14) */
    if (code->last_instruction != instruction) {
        code->last_instruction = (uint32_t)instruction;
        code->last_line =
            python_line(code->table, code->table_length, code->first_line, (uint32_t)instruction);
    }
    return code->last_line;
}

/* ---- frames ---------------------------------------------------------------------------------------------
 */

enum { POINTER_TAGS = 7 }; /* 3.14 marks references in the low bits */

static void keep(struct python_stack *stack, const struct python_frame *frame)
{
    if (stack->count < PYTHON_STACK_MAX)
        stack->frames[stack->count] = *frame;
    else /* walked from the inside: the outermost come last, the innermost stays */
        memmove(stack->frames + 1, stack->frames + 2, (PYTHON_STACK_MAX - 2) * sizeof *frame),
            stack->frames[PYTHON_STACK_MAX - 1] = *frame;
    stack->count += stack->count < PYTHON_STACK_MAX;
}

static void turn_round(struct python_stack *stack)
{
    for (size_t i = 0; i < stack->count / 2; i++) {
        struct python_frame frame = stack->frames[i];
        stack->frames[i] = stack->frames[stack->count - 1 - i];
        stack->frames[stack->count - 1 - i] = frame;
    }
}

/* Adds a frame and finds the next one outwards. False if it cannot be read or leads nowhere sane. */
static bool read_frame(struct python_reader *r, uint64_t address, uint64_t *previous,
                       struct python_stack *stack)
{
    const struct python_layout *l = &r->layout;
    uint64_t code_address, instruction;
    uint8_t owner;
    if (address % sizeof(uint64_t) != 0 ||
        !remote_memory_u64(r->memory, address + l->frame_previous, previous) ||
        !remote_memory_u64(r->memory, address + l->frame_code, &code_address) ||
        !remote_memory_u64(r->memory, address + l->frame_instruction, &instruction) ||
        !remote_memory_read(r->memory, address + l->frame_owner, &owner, sizeof owner))
        return false;
    if (owner >= l->first_internal_owner)
        return true;
    code_address &= ~(uint64_t)POINTER_TAGS;
    struct python_code *code = code_at(r, code_address);
    if (!code)
        return false;
    /* A frame that has not begun points before its first instruction. */
    uint64_t first = code_address + l->code_instructions;
    uint64_t unit = instruction >= first ? (instruction - first) / 2 : 0;
    keep(stack, &(struct python_frame){code->name, code->file, line_of(code, unit)});
    return true;
}

static enum python_read walk(struct python_reader *r, uint64_t frame, struct python_stack *stack)
{
    stack->count = 0;
    for (int depth = 0; frame; depth++)
        if (depth >= PYTHON_WALK_MAX || !read_frame(r, frame, &frame, stack))
            return PYTHON_TORN;
    turn_round(stack);
    return stack->count ? PYTHON_READ : PYTHON_NO_THREAD;
}

/* ---- threads --------------------------------------------------------------------------------------------
 */

static bool is_thread(struct python_reader *r, uint64_t state, uint32_t tid)
{
    uint64_t native;
    return state && remote_memory_u64(r->memory, state + r->layout.thread_native_id, &native) &&
           native == tid;
}

/* Where the interpreters keep the thread, or 0. */
static uint64_t find_thread(struct python_reader *r, uint32_t tid)
{
    const struct python_layout *l = &r->layout;
    uint64_t interpreter, state;
    if (!remote_memory_u64(r->memory, l->runtime + l->runtime_interpreters, &interpreter))
        return 0;
    for (int i = 0; i < MOST_INTERPRETERS && interpreter; i++) {
        if (!remote_memory_u64(r->memory, interpreter + l->interpreter_threads, &state))
            return 0;
        for (int t = 0; t < MOST_THREADS && state; t++) {
            if (is_thread(r, state, tid))
                return state;
            if (!remote_memory_u64(r->memory, state + l->thread_next, &state))
                return 0;
        }
        if (!remote_memory_u64(r->memory, interpreter + l->interpreter_next, &interpreter))
            return 0;
    }
    return 0;
}

static enum python_read read_once(struct python_reader *r, uint64_t state, struct python_stack *stack)
{
    const struct python_layout *l = &r->layout;
    uint64_t frame;
    if (!remote_memory_u64(r->memory, state + l->thread_frame, &frame))
        return PYTHON_TORN;
    if (l->cframe_frame != NONE && (!frame || !remote_memory_u64(r->memory, frame + l->cframe_frame, &frame)))
        return PYTHON_TORN;
    return walk(r, frame, stack);
}

enum python_read python_reader_stack(struct python_reader *r, uint32_t tid, uint64_t *state,
                                     struct python_stack *stack)
{
    enum { TRIES = 3 };
    enum python_read result = PYTHON_TORN;
    for (int try = 0; try < TRIES && result == PYTHON_TORN; try++) {
        remote_memory_look(r->memory);
        if (!is_thread(r, *state, tid))
            *state = find_thread(r, tid);
        result = *state ? read_once(r, *state, stack) : PYTHON_NO_THREAD;
    }
    if (result != PYTHON_READ)
        stack->count = 0;
    return result;
}

#include "import/kernels_json_lines.h"

#include <math.h>
#include <string.h>

struct value {
    uint32_t name; /* text */
    double value;
};

struct line {
    uint32_t place;
    VEC(struct value) values;
};

/* False: it is none, and was passed over. */
static bool read_amount(struct json_reader *r, double most, double *value)
{
    struct json_text text;
    if (json_peek(r) != JSON_WORD) {
        json_skip(r);
        return false;
    }
    return json_read_scalar(r, &text) && json_to_double(text, value) && *value >= 0 && *value <= most;
}

static uint32_t read_text(struct json_reader *r, struct run *run)
{
    struct json_text text;
    if (json_peek(r) != JSON_STRING) {
        json_skip(r);
        return 0;
    }
    return json_read_string(r, &text) ? intern_add(&run->strings, text.at, text.length) : 0;
}

/* A source position; false: the key is of something else. */
static bool read_position(struct json_reader *r, struct profiles *p, uint32_t place, struct json_text key)
{
    struct run *run = p->run;
    double line;
    if (json_text_is(key, "file"))
        run->places.file[place] = read_text(r, run);
    else if (json_text_is(key, "function"))
        run->places.function[place] = read_text(r, run);
    else if (!json_text_is(key, "line"))
        return false;
    else if (read_amount(r, UINT32_MAX, &line))
        run->places.line[place] = (uint32_t)line;
    return true;
}

/* The calls that a place was inlined into, innermost first. */
static void read_calls(struct json_reader *r, struct profiles *p, uint32_t place)
{
    struct json_text key;
    if (!json_enter_if(r, JSON_ARRAY))
        return;
    while (json_next_item(r)) {
        if (!json_enter_if(r, JSON_OBJECT))
            continue;
        uint32_t call = profiles_new_place(p);
        p->run->places.inlined[place] = call;
        place = call;
        while (json_next_key(r, &key))
            if (!read_position(r, p, call, key))
                json_skip(r);
    }
}

static void read_value(struct json_reader *r, struct run *run, struct line *line, const char *prefix,
                       struct json_text key)
{
    char name[128];
    size_t length = strlen(prefix);
    double value;
    if (length + key.length > sizeof name) {
        json_skip(r);
        return;
    }
    memcpy(name, prefix, length);
    memcpy(name + length, key.at, key.length);
    if (read_amount(r, INFINITY, &value) && isfinite(value))
        vec_push(&line->values,
                 ((struct value){intern_add(&run->strings, name, length + key.length), value}));
}

static void read_stalls(struct json_reader *r, struct run *run, struct line *line)
{
    struct json_text key;
    if (!json_enter_if(r, JSON_OBJECT))
        return;
    while (json_next_key(r, &key))
        read_value(r, run, line, "stall_", key);
}

static void read_line(struct json_reader *r, struct profiles *p, struct line *line)
{
    struct run *run = p->run;
    struct json_text key;
    double offset;
    while (json_next_key(r, &key)) {
        if (json_text_is(key, "inlined_at"))
            read_calls(r, p, line->place);
        else if (json_text_is(key, "instruction"))
            run->places.sass[line->place] = read_text(r, run);
        else if (json_text_is(key, "offset_bytes"))
            run->places.pc[line->place] =
                read_amount(r, 1LL << 52, &offset) ? (uint64_t)offset : UINT64_MAX; /* exact up to there */
        else if (json_text_is(key, "stalls"))
            read_stalls(r, run, line);
        else if (!read_position(r, p, line->place, key))
            read_value(r, run, line, "", key);
    }
}

void kernels_json_lines(struct json_reader *r, struct profiles *p, uint32_t profile)
{
    struct line line = {0};
    if (!json_enter_if(r, JSON_ARRAY))
        return;
    while (json_next_item(r)) {
        if (!json_enter_if(r, JSON_OBJECT))
            continue;
        line.place = profiles_new_place(p);
        line.values.count = 0;
        read_line(r, p, &line);
        vec_each (&line.values, value)
            profiles_place_value(p, profile, line.place, value->name, value->value);
    }
    vec_release(&line.values);
}

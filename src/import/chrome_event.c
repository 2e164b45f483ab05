#include "import/chrome_event.h"

#include <assert.h>
#include <string.h>

static const struct chrome_word member_list[] = {
    {"ph", FIELD_PHASE},     {"cat", FIELD_CATEGORY}, {"name", FIELD_NAME},
    {"pid", FIELD_PID},      {"tid", FIELD_TID},      {"ts", FIELD_TIME},
    {"dur", FIELD_DURATION}, {"id", FIELD_ID},        {"args", FIELD_ARGS},
};

static const struct chrome_word arg_list[] = {
    {"name", ARG_NAME},
    {"labels", ARG_LABELS},
    {"External id", ARG_EXTERNAL},
    {"external id", ARG_EXTERNAL},
    {"correlation", ARG_CORRELATION},
    {"correlation_id", ARG_CORRELATION},
    {"device", ARG_DEVICE},
    {"context", ARG_CONTEXT},
    {"context_id", ARG_CONTEXT},
    {"stream", ARG_STREAM},
    {"grid", ARG_GRID},
    {"block", ARG_BLOCK},
    {"registers per thread", ARG_REGISTERS},
    {"shared memory", ARG_SHARED},
    {"est. achieved occupancy %", ARG_OCCUPANCY},
    {"bytes", ARG_BYTES},
    {"kind", ARG_KIND},
    {"graph id", ARG_GRAPH},
    {"Python id", ARG_PYTHON},
    {"Call stack", ARG_STACK},
    {"cuda_sync_kind", ARG_SYNC_KIND},
    {"xpu_sync_kind", ARG_SYNC_KIND},
    {"wait_on_stream", ARG_WAIT_STREAM},
    {"Total Allocated", ARG_ALLOCATED},
    {"Total Reserved", ARG_RESERVED},
    {"Bytes", ARG_MEMORY_BYTES},
    {"Device Type", ARG_DEVICE_TYPE},
    {"Device Id", ARG_DEVICE_ID},
    {"Collective name", ARG_COLLECTIVE},
    {"In msg nelems", ARG_IN_ELEMENTS},
    {"Out msg nelems", ARG_OUT_ELEMENTS},
    {"Group size", ARG_GROUP_SIZE},
    {"dtype", ARG_DTYPE},
    {"Process Group Name", ARG_GROUP_NAME},
    {"Process Group Description", ARG_GROUP_TEXT},
    {"Process Group Ranks", ARG_GROUP_RANKS},
    {"Seq", ARG_SEQUENCE},
    {"kernel_details", ARG_KERNEL_DETAILS},
    {"memcpy_details", ARG_MEMCPY_DETAILS},
    {"memset_details", ARG_MEMCPY_DETAILS},
};

/* ---- words --------------------------------------------------------------------------------------------- */

/* False if two words fall into one slot. */
static bool place_words(struct chrome_words *words, const struct chrome_word *list, size_t count)
{
    memset(words->slots, 0, sizeof words->slots);
    for (size_t i = 0; i < count; i++) {
        char padded[CHROME_WORD_LENGTH_MAX + 8] = {0};
        size_t length = strlen(list[i].text);
        uint64_t first, last;
        assert(length > 0 && length <= CHROME_WORD_LENGTH_MAX);
        memcpy(padded, list[i].text, length);
        chrome_word_ends(padded, length, &first, &last);
        struct chrome_word_slot *slot =
            &words->slots[chrome_word_slot(words->multiplier, first, last, length)];
        if (slot->length)
            return false;
        *slot = (struct chrome_word_slot){first, last, list[i].text, (uint32_t)length, list[i].value};
    }
    return true;
}

void chrome_words_init(struct chrome_words *words, const struct chrome_word *list, size_t count)
{
    assert(count <= CHROME_WORDS_MAX);
    words->multiplier = UINT64_C(0x9e3779b97f4a7c15);
    for (int tries = 1; !place_words(words, list, count); tries++) {
        assert(tries < 1000); /* two words have the same length and ends */
        words->multiplier = words->multiplier * UINT64_C(6364136223846793005) + 1442695040888963407u;
    }
}

/* ---- the event ----------------------------------------------------------------------------------------- */

void chrome_event_reader_init(struct chrome_event_reader *reader)
{
    chrome_words_init(&reader->members, member_list, sizeof member_list / sizeof *member_list);
    chrome_words_init(&reader->args, arg_list, sizeof arg_list / sizeof *arg_list);
}

static inline bool read_field(struct json_reader *json, struct chrome_event *event, uint8_t field)
{
    event->has |= UINT64_C(1) << field;
    return json_read_text(json, &event->text[field]);
}

static bool read_args(const struct chrome_event_reader *reader, struct json_reader *json,
                      struct chrome_event *event)
{
    struct json_text key;
    if (json_peek(json) != JSON_OBJECT)
        return json_skip(json);
    const char *start = json->at;
    if (!json_enter(json, JSON_OBJECT))
        return false;
    while (json_next_key(json, &key)) {
        uint8_t field = chrome_words_find(&reader->args, key);
        if (field == CHROME_WORD_NONE)
            json_skip(json);
        else
            read_field(json, event, field);
    }
    event->has |= UINT64_C(1) << FIELD_ARGS;
    event->text[FIELD_ARGS] = (struct json_text){start, (size_t)(json->at - start)};
    return json->state == JSON_OK;
}

bool chrome_event_read(const struct chrome_event_reader *reader, struct json_reader *json,
                       struct chrome_event *event)
{
    struct json_text key;
    event->has = 0;
    event->phase = 0;
    event->offset = json_offset(json);
    if (!json_enter(json, JSON_OBJECT))
        return false;
    while (json_next_key(json, &key)) {
        uint8_t field = chrome_words_find(&reader->members, key);
        if (field == CHROME_WORD_NONE) {
            json_skip(json);
        } else if (field == FIELD_ARGS) {
            read_args(reader, json, event);
        } else if (read_field(json, event, field) && field == FIELD_PHASE) {
            struct json_text phase = event->text[FIELD_PHASE];
            event->phase = phase.length == 1 ? *phase.at : '?';
            if (event->phase == 'f' || event->phase == 's' || event->phase == 't')
                return json_skip_rest(json);
        }
    }
    return json->state == JSON_OK;
}

int64_t event_int(const struct chrome_event *event, enum chrome_field field, int64_t otherwise)
{
    int64_t value;
    return event_has(event, field) && json_to_int(event->text[field], &value) ? value : otherwise;
}

uint64_t event_id(const struct chrome_event *event, enum chrome_field field)
{
    uint64_t value;
    return event_has(event, field) && json_to_uint(event->text[field], &value) ? value : 0;
}

bool event_triple(const struct chrome_event *event, enum chrome_field field, uint32_t triple[3])
{
    if (!event_has(event, field))
        return false;
    struct json_text text = event->text[field];
    const char *p = text.at, *end = p + text.length;
    for (int i = 0; i < 3; i++) {
        while (p < end && (*p < '0' || *p > '9'))
            p++;
        uint64_t value = 0;
        const char *digits = p;
        for (; p < end && *p >= '0' && *p <= '9' && value <= UINT32_MAX; p++)
            value = value * 10 + (uint64_t)(*p - '0');
        if (p == digits || value > UINT32_MAX)
            return false;
        triple[i] = (uint32_t)value;
    }
    return true;
}

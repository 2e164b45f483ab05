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

struct word_key {
    uint64_t first, last;
};

/* The first and last eight bytes of a word; a shorter word fills up with zeros. */
static inline struct word_key word_key(const char *p, size_t length)
{
    struct word_key key;
    memcpy(&key.first, p, 8);
    if (length < 8) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        key.first &= (UINT64_C(1) << 8 * length) - 1;
#else
        key.first &= ~(UINT64_MAX >> 8 * length);
#endif
        key.last = key.first;
    } else {
        memcpy(&key.last, p + length - 8, 8);
    }
    return key;
}

static inline unsigned word_slot(struct word_key key, size_t length)
{
    uint64_t mixed = (key.first ^ key.last << 7 ^ length) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(mixed >> 56) % CHROME_WORD_SLOTS;
}

void chrome_words_init(struct chrome_words *words, const struct chrome_word *list, size_t count)
{
    assert(count <= CHROME_WORDS_MAX);
    memset(words, 0, sizeof *words);
    for (size_t i = 0; i < count; i++) {
        char padded[CHROME_WORD_LENGTH_MAX + 8] = {0};
        size_t length = strlen(list[i].text);
        assert(length > 0 && length <= CHROME_WORD_LENGTH_MAX);
        memcpy(padded, list[i].text, length);
        struct word_key key = word_key(padded, length);
        unsigned slot = word_slot(key, length);
        while (words->slots[slot].text)
            slot = (slot + 1) % CHROME_WORD_SLOTS;
        words->slots[slot] =
            (struct chrome_word_slot){key.first, key.last, list[i].text, (uint32_t)length, list[i].value};
    }
}

uint8_t chrome_words_find(const struct chrome_words *words, struct json_text text)
{
    if (text.length == 0 || text.length > CHROME_WORD_LENGTH_MAX)
        return CHROME_WORD_NONE;
    struct word_key key = word_key(text.at, text.length);
    for (unsigned i = word_slot(key, text.length);; i = (i + 1) % CHROME_WORD_SLOTS) {
        const struct chrome_word_slot *slot = &words->slots[i];
        if (!slot->text)
            return CHROME_WORD_NONE;
        if (slot->first == key.first && slot->last == key.last && slot->length == text.length &&
            (text.length <= 16 || memcmp(text.at + 8, slot->text + 8, text.length - 16) == 0))
            return slot->value;
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

/* One event of a Chrome trace, taken apart: every member that an importer may want, whatever the order, as
 * text that lies in the reader's window. Format: "Trace Event Format" (Google), with the arguments that
 * torch.profiler (libkineto/src/output_json.cpp), TensorFlow's timeline.py and XLA add. */
#ifndef WARPLIGHT_IMPORT_CHROME_EVENT_H
#define WARPLIGHT_IMPORT_CHROME_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

enum chrome_field {
    /* members of the event */
    FIELD_PHASE,
    FIELD_CATEGORY,
    FIELD_NAME,
    FIELD_PID,
    FIELD_TID,
    FIELD_TIME,
    FIELD_DURATION,
    FIELD_ID,
    FIELD_ARGS, /* the whole object, raw */
    /* members of its args */
    ARG_NAME,
    ARG_LABELS,
    ARG_EXTERNAL,
    ARG_CORRELATION,
    ARG_DEVICE,
    ARG_CONTEXT,
    ARG_STREAM,
    ARG_GRID,
    ARG_BLOCK,
    ARG_REGISTERS,
    ARG_SHARED,
    ARG_OCCUPANCY,
    ARG_BYTES,
    ARG_KIND,
    ARG_GRAPH,
    ARG_PYTHON,
    ARG_STACK,
    ARG_SYNC_KIND,
    ARG_WAIT_STREAM,
    ARG_ALLOCATED,
    ARG_RESERVED,
    ARG_MEMORY_BYTES,
    ARG_DEVICE_TYPE,
    ARG_DEVICE_ID,
    ARG_COLLECTIVE,
    ARG_IN_ELEMENTS,
    ARG_OUT_ELEMENTS,
    ARG_GROUP_SIZE,
    ARG_DTYPE,
    ARG_GROUP_NAME,
    ARG_GROUP_TEXT,
    ARG_GROUP_RANKS,
    ARG_SEQUENCE,
    ARG_KERNEL_DETAILS,
    ARG_MEMCPY_DETAILS,
    FIELD_COUNT,
};

struct chrome_event {
    uint64_t has; /* bit f: text[f] is set */
    char phase;   /* 0: none */
    int64_t offset;
    struct json_text text[FIELD_COUNT];
};

/* Words and the small numbers that they stand for: a hash table of their lengths and outer bytes. */
enum { CHROME_WORDS_MAX = 64, CHROME_WORD_SLOTS = 256, CHROME_WORD_LENGTH_MAX = 40 };
struct chrome_word {
    const char *text;
    uint8_t value;
};
struct chrome_words {
    struct chrome_word_slot {
        uint64_t first, last; /* eight bytes each; they overlap in short words */
        const char *text;     /* NULL: empty */
        uint32_t length;
        uint8_t value;
    } slots[CHROME_WORD_SLOTS];
};
#define CHROME_WORD_NONE UINT8_MAX

void chrome_words_init(struct chrome_words *words, const struct chrome_word *list, size_t count);
/* The value of the word, or CHROME_WORD_NONE. text must have 8 readable bytes, as all texts of a reader have.
 */
uint8_t chrome_words_find(const struct chrome_words *words, struct json_text text);

struct chrome_event_reader {
    struct chrome_words members;
    struct chrome_words args;
};
void chrome_event_reader_init(struct chrome_event_reader *reader);
/* Reads the object that comes next. False on errors, as json.h has them. Flow events (phases s, t, f) are
 * passed over once they are known as such: nothing but the phase is certain to be set. */
bool chrome_event_read(const struct chrome_event_reader *reader, struct json_reader *json,
                       struct chrome_event *event);

static inline bool event_has(const struct chrome_event *event, enum chrome_field field)
{
    return event->has >> field & 1;
}
/* Empty where the event does not have the field. */
static inline struct json_text event_text(const struct chrome_event *event, enum chrome_field field)
{
    return event_has(event, field) ? event->text[field] : (struct json_text){"", 0};
}
/* A whole number, or otherwise where it is absent or anything else. */
int64_t event_int(const struct chrome_event *event, enum chrome_field field, int64_t otherwise);
/* An id: 0 where it is absent or no whole number. */
uint64_t event_id(const struct chrome_event *event, enum chrome_field field);
/* [x, y, z] of whole numbers. */
bool event_triple(const struct chrome_event *event, enum chrome_field field, uint32_t triple[3]);

#endif

/* One event of a Chrome trace, taken apart: every member that an importer may want, whatever the order, as
 * text that lies in the reader's window. Format: "Trace Event Format" (Google), with the arguments that
 * torch.profiler (libkineto/src/output_json.cpp), TensorFlow's timeline.py and XLA add. */
#ifndef WARPLIGHT_IMPORT_CHROME_EVENT_H
#define WARPLIGHT_IMPORT_CHROME_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

/* ---- words --------------------------------------------------------------------------------------------- */

/* Words and the small numbers that they stand for: a hash table of their lengths and outer bytes (in which
 * any two words of a list must differ), with a multiplier that gives each word a slot of its own. */
enum { CHROME_WORDS_MAX = 64, CHROME_WORD_SLOTS = 1024, CHROME_WORD_LENGTH_MAX = 40 };
#define CHROME_WORD_NONE UINT8_MAX
struct chrome_word {
    const char *text;
    uint8_t value;
};
struct chrome_words {
    uint64_t multiplier;
    struct chrome_word_slot {
        uint64_t first, last; /* eight bytes each; they overlap in short words */
        const char *text;
        uint32_t length; /* 0: empty */
        uint8_t value;
    } slots[CHROME_WORD_SLOTS];
};

void chrome_words_init(struct chrome_words *words, const struct chrome_word *list, size_t count);

/* The first and last eight bytes of a word of length > 0; a shorter word fills up with zeros. */
static inline void chrome_word_ends(const char *p, size_t length, uint64_t *first, uint64_t *last)
{
    memcpy(first, p, 8);
    if (length >= 8) {
        memcpy(last, p + length - 8, 8);
        return;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    *first &= (UINT64_C(1) << 8 * length) - 1;
#else
    *first &= ~(UINT64_MAX >> 8 * length);
#endif
    *last = *first;
}

static inline unsigned chrome_word_slot(uint64_t multiplier, uint64_t first, uint64_t last, size_t length)
{
    return (unsigned)((first ^ last << 7 ^ length) * multiplier >> 54);
}

/* The value of the word, or CHROME_WORD_NONE. text must have 8 readable bytes, as all texts of a reader have.
 */
static inline uint8_t chrome_words_find(const struct chrome_words *words, struct json_text text)
{
    uint64_t first, last;
    if (text.length == 0 || text.length > CHROME_WORD_LENGTH_MAX)
        return CHROME_WORD_NONE;
    chrome_word_ends(text.at, text.length, &first, &last);
    const struct chrome_word_slot *slot =
        &words->slots[chrome_word_slot(words->multiplier, first, last, text.length)];
    if (slot->first != first || slot->last != last || slot->length != text.length)
        return CHROME_WORD_NONE;
    if (text.length > 16 && memcmp(text.at + 8, slot->text + 8, text.length - 16) != 0)
        return CHROME_WORD_NONE;
    return slot->value;
}

/* ---- events -------------------------------------------------------------------------------------------- */

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

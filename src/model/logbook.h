/* What readers of pasted text found: sightings, counted, with the lines that show them. */
#ifndef WARPLIGHT_MODEL_LOGBOOK_H
#define WARPLIGHT_MODEL_LOGBOOK_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/burst.h"

enum sighting_kind { SIGHTING_XID, SIGHTING_SXID, SIGHTING_SIGN };

/* A line of a file; line 0: the file as a whole. */
struct place {
    const char *file;
    int64_t line;
    const char *text;
};

enum { SIGHTING_PLACES = 3, LOGBOOK_SIGHTINGS_MAX = 256, LOGBOOK_TEXT_MAX = 400 };

struct sighting {
    enum sighting_kind kind;
    const char *id;      /* "xid-79", "sxid-12028", or the id of a sign */
    int64_t code;        /* of an Xid or SXid */
    const char *device;  /* "0000:3b:00 GPU-I:05"; NULL: not said */
    const char *process; /* "python3 (4711)"; NULL: not said */
    bool in_kernel_log;
    bool is_consequence; /* what explains it stood before it, on the same device and shortly */
    bool is_mild;        /* the line itself says that it is not fatal */
    bool is_over;        /* a program's fault that has left the GPU fit; set after reading */
    const char *first;   /* times as printed; NULL: none */
    char *last;
    int64_t first_ns, last_ns; /* on some clock of the file, UNKNOWN: none */
    bool is_part;              /* of an event on which a later line may have the last word */
    struct burst events;
    int64_t lines; /* that tell of them */
    size_t source; /* index of the file of the last line */
    struct place places[SIGHTING_PLACES];
    int place_count;
};

struct logbook {
    struct arena arena;
    VEC(struct sighting) sightings; /* in the order in which they first came */
    struct map by_key;
    VEC(struct place) sources; /* file, number of lines, what it is */
    bool is_known;             /* at least one source is of a kind that a reader knows */
    VEC(const char *) hosts;   /* host names in the lines, for redaction */
    int64_t left_out;          /* sightings beyond LOGBOOK_SIGHTINGS_MAX */
};

/* A zeroed logbook is valid and empty. */
void logbook_release(struct logbook *book);
/* Counts a sighting: found tells what (kind, id, code, device, process, first and first_ns as the time of
 * this line, in_kernel_log, is_consequence, is_mild, is_part); its texts are copied where they are new. */
void logbook_add(struct logbook *book, const struct sighting *found, const struct place *place);
/* NULL: not seen. */
const struct sighting *logbook_find(const struct logbook *book, const char *id);
/* Remembers a host name once. */
void logbook_host(struct logbook *book, const char *name, size_t length);

#endif

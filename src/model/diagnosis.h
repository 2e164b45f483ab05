/* What `doctor` answers: checks and events, whoever made them (the machine itself or pasted text).
 *
 * Texts have two faces: `plain` is English and goes to machines, `local` is what people read in the language
 * of i18n. Everything is owned by the diagnosis until diagnosis_release(). */
#ifndef WARPLIGHT_MODEL_DIAGNOSIS_H
#define WARPLIGHT_MODEL_DIAGNOSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/time.h"
#include "base/vec.h"

struct words {
    const char *plain; /* NULL: nothing to say */
    const char *local; /* never NULL where plain is not */
};

enum check_status { CHECK_OK, CHECK_WARN, CHECK_FAIL, CHECK_UNKNOWN };

/* Something that was seen. */
struct evidence {
    const char *where; /* "dmesg.txt:17", "/proc/driver/nvidia/version"; NULL: nowhere in particular */
    const char *text;  /* as it was found */
};

/* One question and its answer. */
struct check {
    const char *id; /* stable: "xid-79", "driver-mismatch" */
    enum check_status status;
    double confidence_ratio; /* 0–1: how sure the status is; NAN: not judged */
    struct words title;      /* one line: what is so */
    struct words meaning;    /* why, or what it means */
    struct words action;     /* the one thing to do now */
    struct words if_repeats; /* what to do if it comes back */
    VEC(struct evidence) evidence;
    int64_t evidence_left_out; /* more was seen than is kept */
};

/* One kind of Xid or SXid on one device, counted. */
struct event {
    int64_t xid;        /* the code */
    bool is_switch;     /* SXid: an NVSwitch says so */
    const char *device; /* "0000:3b:00", with MIG suffix; NULL: the line does not say */
    int64_t count;      /* lines */
    const char *first;  /* time as printed; NULL: none */
    const char *last;
    int64_t first_unix_ns, last_unix_ns; /* UNKNOWN: the log does not say when it began */
    const char *process; /* "python3 (4711)": who was calling, not who is guilty; NULL: unknown */
    struct words meaning;
    bool root; /* false: the consequence of another event */
    struct words action_now, action_if_repeats;
    struct evidence evidence; /* its first line */
};

struct diagnosis {
    struct arena arena;
    int64_t boot_unix_ns; /* when the clock of the kernel log that is read began; 0: not known */
    VEC(struct check) checks;
    VEC(struct event) events;
    VEC(struct evidence) sources; /* what was read: the file, and what it is or what is wrong with it */
};

/* A zeroed diagnosis is a valid empty one. */
void diagnosis_release(struct diagnosis *d);

/* Formats msgid with its arguments, once as it stands and once translated. */
struct words diagnosis_words(struct diagnosis *d, const char *msgid, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for a text without place holders, as tables hold them. */
struct words diagnosis_plain(struct diagnosis *d, const char *msgid);
/* A copy of text, in d's arena. */
const char *diagnosis_text(struct diagnosis *d, const char *text);
/* Adds a check without texts. id is not copied. The address is valid until the next one is added. */
struct check *diagnosis_check(struct diagnosis *d, const char *id, enum check_status status,
                              double confidence_ratio);
/* Adds a piece of evidence; beyond CHECK_EVIDENCE_MAX it is only counted. */
enum { CHECK_EVIDENCE_MAX = 12 };
void diagnosis_evidence(struct diagnosis *d, struct check *check, const char *where, const char *text);

/* Puts what fails before what warns, before what could not be looked at, before what is fine; what is surest
 * first within each. */
void diagnosis_sort(struct diagnosis *d);
/* The number of checks with a status. */
size_t diagnosis_count(const struct diagnosis *d, enum check_status status);
/* The time of an event that is printed as seconds since boot ("78.556614", as dmesg does), in ns; UNKNOWN for
 * dates and NULL. */
int64_t event_since_boot(const char *time);
/* "ok", "warn", "fail", "unknown" */
const char *check_status_name(enum check_status status);

#endif

/* What is known of GPUs and their errors, compiled in from data/know/TABLE.tsv by tools/embed.py: one struct
 * a table, one field a column. Each row says where it is from and when; what is not in a table is newer than
 * the table, or wrong. Texts come in English and Chinese; an empty text is "". */
#ifndef WARPLIGHT_KNOW_KNOW_H
#define WARPLIGHT_KNOW_KNOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What to do: the vendor's action buckets. */
struct know_action {
    const char *id, *en, *zh, *source, *date;
};

/* NVIDIA's Xid errors of the kernel log. */
struct know_xid {
    int64_t code;
    const char *status;  /* "ok", "warn" or "fail", where it is the root */
    const char *origin;  /* app, hardware, driver, link or system: the most likely one */
    const char *causes;  /* of the vendor's matrix: H hardware, D driver, A program, S system memory, B bus,
                            T heat, F video memory */
    const char *now;     /* id of an action */
    const char *repeat;  /* id of an action: if it comes back */
    const char *follows; /* ids of events ("xid-31") that this one is a consequence of when they come shortly
                            before it; "*": any */
    const char *en, *zh; /* meaning, in a few words */
    const char *more_en, *more_zh;
    const char *source, *date;
};

/* What a piece of an Xid's line adds to its meaning. */
struct know_detail {
    const char *of; /* "xid-31" */
    const char *pattern, *en, *zh, *source, *date;
};

/* Bits of the registers that Xid 74 prints after the number of a link, in the order of what counts most. */
struct know_nvlink {
    int64_t reg; /* 1: the first */
    int64_t bit;
    const char *en, *zh, *source, *date;
};

/* NVSwitch errors. */
struct know_sxid {
    int64_t code;
    const char *status, *now, *repeat, *en, *zh, *source, *date;
};

/* A problem that is known by texts in logs, or by values of nvidia-smi (struct know_smi). */
struct know_sign {
    const char *id;
    const char *status;
    int64_t confidence;   /* percent */
    const char *follows;  /* ids of signs and Xids that explain this one */
    const char *patterns; /* separated by " || "; '*' stands for anything within the line */
    const char *title_en, *title_zh, *why_en, *why_zh, *do_en, *do_zh, *repeat_en, *repeat_zh;
    const char *source, *date;
};

/* A value of nvidia-smi that is a sign. */
struct know_smi {
    const char *path;  /* end of the path of keys, in lower case with '_': "remapped_rows/pending" */
    const char *test;  /* is, not, over, under (a number), less, differs (the value of a path), bits (throttle
                          reasons) */
    const char *value; /* compared without regard to case */
    const char *sign;
    const char *source, *date;
};

/* Bits of the clocks event ("throttle") reasons. */
struct know_throttle {
    int64_t bit;
    const char *key;  /* as nvidia-smi calls it */
    const char *sign; /* or "" */
    const char *en, *zh, *source, *date;
};

/* Errors of CUDA. */
struct know_error {
    int64_t code;
    const char *runtime_name, *driver_name, *text;
    const char *sign; /* or "" */
    const char *source, *date;
};

/* CUDA toolkits, newest first, and the drivers that they need: with all their features, and by minor version
 * compatibility. "" where there is none. */
struct know_cuda {
    const char *cuda, *linux_exact, *windows_exact, *linux_any_minor, *windows_any_minor, *source, *date;
};

/* Compute capabilities: "" for last ones means that they go on. */
struct know_cc {
    const char *cc, *architecture, *gpus, *first_cuda, *last_cuda, *last_driver, *source, *date;
};

extern const struct know_action know_actions[];
extern const struct know_xid know_xids[];
extern const struct know_detail know_details[];
extern const struct know_nvlink know_nvlinks[];
extern const struct know_sxid know_sxids[];
extern const struct know_sign know_signs[];
extern const struct know_smi know_smis[];
extern const struct know_throttle know_throttles[];
extern const struct know_error know_errors[];
extern const struct know_cuda know_cudas[];
extern const struct know_cc know_ccs[];
extern const size_t know_action_count, know_xid_count, know_detail_count, know_nvlink_count, know_sxid_count,
    know_sign_count, know_smi_count, know_throttle_count, know_error_count, know_cuda_count, know_cc_count;

/* The text in the chosen language; English where there is no other. */
const char *know_text(const char *en, const char *zh);
/* NULL: not in the table. */
const struct know_action *know_action_find(const char *id);
const struct know_xid *know_xid_find(int64_t code);
const struct know_sxid *know_sxid_find(int64_t code);
const struct know_sign *know_sign_find(const char *id);
/* The first detail of id that the line shows. */
const struct know_detail *know_detail_find(const char *id, const char *text, size_t length);
const struct know_error *know_error_find(int64_t code);
/* "12.8" → the row of that toolkit; major and minor. */
const struct know_cuda *know_cuda_find(int major, int minor);

/* Whether word is in a list whose words are separated by blanks. "*" in the list stands for every word. */
bool know_list_has(const char *list, const char *word);

/* Takes the next pattern of a list of a sign: false at the end. *list starts as know_sign.patterns. */
bool know_pattern_next(const char **list, const char **pattern, size_t *length);
/* Whether the text holds the pattern somewhere. */
bool know_pattern_matches(const char *pattern, size_t length, const char *text, size_t text_length);

#endif

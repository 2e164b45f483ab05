/* Inside import/logs: the readers of lines, and what they share. */
#ifndef WARPLIGHT_IMPORT_LOGS_READERS_H
#define WARPLIGHT_IMPORT_LOGS_READERS_H

#include "import/logs/logs.h"
#include "know/know.h"

/* A line without what the logger put in front. Texts are not NUL-terminated. */
struct log_line {
    const char *text; /* the whole line */
    size_t length;
    const char *body;
    size_t body_length;
    const char *time; /* as printed; length 0: none */
    size_t time_length;
    int64_t time_ns; /* on some clock; UNKNOWN: none */
    const char *host;
    size_t host_length;
    bool is_kernel;
    int64_t number;
};

/* Knows dmesg with and without -T, -x, --time-format=iso; syslog, journalctl, rsyslog, raw printk. */
void log_line_parse(struct log_line *line, const char *text, size_t length);
/* A record of /dev/kmsg ("3,1021,1126600412,-;text") as dmesg prints it ("[ 1126.600412] text"). Returns its
 * length in out, which it is cut to; 0: it is no such record. */
size_t log_line_from_kmsg(char *out, size_t size, const char *text, size_t length);

/* Index of all patterns by their first two bytes. */
struct sign_index;

enum { SMI_DEPTH = 16, SMI_PATH = 256, SMI_RECENT = 64, SMI_COLUMNS = 128, SMI_GPUS = 64 };

struct smi_value {
    char path[SMI_PATH];
    char value[64];
};

/* Where readers of nvidia-smi are. */
struct smi_state {
    enum { SMI_NONE, SMI_TEXT, SMI_XML, SMI_CSV, SMI_DMON, SMI_PMON, SMI_GPUZ, SMI_AFTERBURNER } mode;
    char device[64];
    struct {
        int indent;
        char key[64];
    } stack[SMI_DEPTH];
    int depth;
    struct smi_value recent[SMI_RECENT]; /* of this GPU or row */
    size_t recent_count;
    char columns[SMI_COLUMNS][48];
    int column_count;
    bool had_power[SMI_GPUS]; /* dmon */
    char worker[64];          /* pmon: the GPU and process of the row before, if that computed */
};

struct kube_state {
    enum { KUBE_NONE, KUBE_CAPACITY, KUBE_ALLOCATABLE } section;
    int64_t capacity;
};

struct logs {
    struct logbook *book;
    const char *file;
    size_t source;
    struct sign_index *index;
    struct smi_state smi;
    struct kube_state kube;
    unsigned kinds;                  /* bit 1 << enum log_kind */
    char record[LOGS_LINE_MAX + 32]; /* a record of /dev/kmsg as dmesg prints it */
};

enum log_kind {
    KIND_KERNEL,
    KIND_SMI_TABLE,
    KIND_SMI_TEXT,
    KIND_SMI_XML,
    KIND_SMI_CSV,
    KIND_SMI_DMON,
    KIND_SMI_PMON,
    KIND_GPUZ,
    KIND_AFTERBURNER,
    KIND_KUBE,
    KIND_BUG_REPORT
};

struct sign_index *sign_index_new(void);
void sign_index_free(struct sign_index *index);

/* Counts a sign that the line shows. text: what to show instead of the line, or NULL. */
void logs_add_sign(struct logs *logs, const struct log_line *line, const char *id, const char *device,
                   const char *text);
/* Whether something explains an event: a sighting of the list, before it, in the same file, on the same
 * device, not more than five minutes ago. */
bool logs_is_explained(const struct logs *logs, const char *follows, const char *id, const char *device,
                       int64_t time_ns);

/* Returns whether the line is an Xid or SXid: then it is nothing else. */
bool logs_xid(struct logs *logs, const struct log_line *line);
/* These look at every other line. */
void logs_smi(struct logs *logs, const struct log_line *line);
void logs_kube(struct logs *logs, const struct log_line *line);
void logs_signs(struct logs *logs, const struct log_line *line);
/* PyTorch's account of memory when it ran out: whether enough lay there in pieces. */
void logs_oom(struct logs *logs, const struct log_line *line);

/* Rows of values: CSV of --query-gpu, dmon, pmon, GPU-Z, MSI Afterburner. */
void logs_smi_rows(struct logs *logs, const struct log_line *line);
/* Judges one value by the table smi.tsv. */
void smi_judge(struct logs *logs, const struct log_line *line, const char *path, const char *value);
/* "SW Power Cap" → "sw_power_cap", "utilization.gpu [%]" → "utilization/gpu". */
void smi_normalise(char *out, size_t size, const char *text, size_t length);

#endif

/* Samples of a machine for people and for other programs. */
#ifndef WARPLIGHT_VIEW_MACHINE_H
#define WARPLIGHT_VIEW_MACHINE_H

#include <stdbool.h>

#include "model/machine.h"
#include "view/screen.h"

/* What a row is about. */
enum machine_rows {
    MACHINE_ROWS_DEVICES,
    MACHINE_ROWS_PROCESSES,
    MACHINE_ROWS_HOST,
    MACHINE_ROWS_EVENTS /* Xids; they have no fields of the tables */
};

struct machine_column {
    const struct gpu_field *field;
    size_t base; /* of the struct that the field is in, within the row */
};

typedef VEC(struct machine_column) machine_columns;

/* All fields of such rows. */
void machine_columns_all(machine_columns *columns, enum machine_rows rows);
/* Adds the field of that key; false where there is none. */
bool machine_columns_add(machine_columns *columns, enum machine_rows rows, const char *key);

static inline struct reading machine_cell(const void *row, const struct machine_column *column)
{
    return gpu_get((const char *)row + column->base, column->field);
}

/* One line of JSON, warplight.sample/1 (doc/formats/sample.md), with these fields of devices. */
void machine_json(struct str *out, const struct machine_sample *sample, const machine_columns *columns);
/* The line of names, and a line for each row; unknown values are empty. */
void machine_csv_header(struct str *out, enum machine_rows rows, const machine_columns *columns);
void machine_csv(struct str *out, const struct machine_sample *sample, enum machine_rows rows,
                 const machine_columns *columns);

/* Appends an event as a sentence in the reader's language: "GPU 0: Xid 31 ×3, python3 (4711): …". */
void machine_event_add(struct str *out, const struct machine_sample *sample,
                       const struct machine_event *event);
/* A page about one sample: host, devices and processes as tables, and why values are not known. */
void machine_text(struct screen *s, const struct machine_sample *sample);
/* All of these fields, one a line, with the reason where a value is not known. */
void machine_text_fields(struct screen *s, const struct machine_sample *sample,
                         const machine_columns *columns);
/* A line for each device, for samples that follow each other; header: with the names of the columns first. */
void machine_text_line(struct screen *s, const struct machine_sample *sample, bool header);

/* Texts of a sample's values, appended to out; nothing where a value is not known. */
/* A reading as people read it; an old one ends in "?". */
void machine_add_reading(struct str *out, enum gpu_unit unit, struct reading r);
/* "12 GiB / 141 GiB", or the part that is known. */
void machine_add_of(struct str *out, enum gpu_unit unit, struct reading part, struct reading whole);
/* What holds the clocks down, and for how much of the time since the sample before. */
void machine_add_slowed(struct str *out, const struct machine_device *d);
/* The driver's number, or the PCI address. */
void machine_add_device(struct str *out, const struct machine_device *d);
void machine_add_name(struct str *out, const struct machine_device *d);
/* Where a process runs: job, pod, container. */
void machine_add_place(struct str *out, const struct machine_process *p);

#endif

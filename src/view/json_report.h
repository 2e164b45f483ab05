/* Pieces of JSON reports that several schemas share. */
#ifndef WARPLIGHT_VIEW_JSON_REPORT_H
#define WARPLIGHT_VIEW_JSON_REPORT_H

#include <stdio.h>

#include "base/json_write.h"
#include "view/view.h"

struct json_report {
    struct json_writer w;
    FILE *out;
    const struct report *report;
    const struct view_options *options;
};

enum { JSON_FLUSH_BYTES = 1 << 16 };

/* Writes to the file what has gathered, if that is more than above. */
void json_drain(struct json_report *j, size_t above);
/* A sentence, in English. */
void json_msg(struct json_report *j, const struct msg *msg);
/* The cells of a row as members of the open object; an unknown one says why. */
void json_cells(struct json_report *j, const struct column *columns, const void *row);
/* The members "sources" and "findings" of the open object. */
void json_sources(struct json_report *j);
void json_findings(struct json_report *j, const struct finding *findings, size_t count);

#endif

/* Parts of what `warplight info` prints. */
#ifndef WARPLIGHT_CMD_INFO_H
#define WARPLIGHT_CMD_INFO_H

#include "model/run.h"
#include "view/screen.h"

enum { INFO_INDENT = 2, INFO_TITLE_COLUMNS = 30 };

void info_put_heading(struct screen *s, const char *text);
/* A title and a text, which is made fit for a terminal and wrapped beside the title. */
void info_put_line(struct screen *s, int indent, const char *title, const char *text);

/* Whether a fact is one of those that info_put_gpus() prints. */
bool info_is_gpu_fact(const struct run *run, const struct fact *fact);
/* A section for each GPU that the facts speak of: what it is, how it was at the start and the end, what its
 * counters gained, and what is not known, with the reason. */
void info_put_gpus(struct screen *s, const struct run *run);

#endif

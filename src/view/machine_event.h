/* Inside view: the events of a sample, and how its texts are written. */
#ifndef WARPLIGHT_VIEW_MACHINE_EVENT_H
#define WARPLIGHT_VIEW_MACHINE_EVENT_H

#include "base/json_write.h"
#include "model/machine.h"

/* A key with a text of a sample; "" is written as null. In view/machine.c. */
void machine_json_text(struct json_writer *w, const char *key, const char *text);
/* The member "events". */
void machine_events_json(struct json_writer *w, const struct machine_sample *sample);

#endif

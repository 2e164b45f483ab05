/* Inside view: the events of a sample. */
#ifndef WARPLIGHT_VIEW_MACHINE_EVENT_H
#define WARPLIGHT_VIEW_MACHINE_EVENT_H

#include "base/json_write.h"
#include "model/machine.h"

/* The member "events". */
void machine_events_json(struct json_writer *w, const struct machine_sample *sample);

#endif

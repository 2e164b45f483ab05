/* From what pasted text shows (struct logbook) to what is wrong and what to do, by the tables of know/. */
#ifndef WARPLIGHT_ANALYZE_DIAGNOSE_H
#define WARPLIGHT_ANALYZE_DIAGNOSE_H

#include "base/err.h"
#include "model/diagnosis.h"
#include "model/logbook.h"

/* Adds an event for each kind of Xid and SXid on each device, a check for each cause (Xids of all devices
 * together; what another one explains gets none, its lines go to that one's evidence), and the sources. The
 * checks come out sorted. */
void diagnose_logbook(struct diagnosis *d, const struct logbook *book);
/* Adds that a file could not be read, and why; before diagnose_logbook(), which sorts. */
void diagnose_unread(struct diagnosis *d, const struct err *why);

#endif

/* Takes out of an answer what says whose machine it is: serial numbers, UUIDs, IP and MAC addresses, user
 * names in paths, and given names (of hosts). PCI addresses and process ids stay: a diagnosis needs them. */
#ifndef WARPLIGHT_MODEL_REDACT_H
#define WARPLIGHT_MODEL_REDACT_H

#include "base/str.h"
#include "model/diagnosis.h"

/* Appends text with stand-ins: <uuid>, <serial>, <ip>, <mac>, <user>, <host>. names: words that are replaced
 * by <host>. */
void redact_text(struct str *out, const char *text, const char *const *names, size_t name_count);
/* The same for every text of d that came from outside. */
void redact_diagnosis(struct diagnosis *d, const char *const *names, size_t name_count);

#endif

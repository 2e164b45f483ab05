/* An Xid as the text of a moment on a timeline: "Xid 31: what it means, python3 (4711)". In English, as all
 * texts of a recording. */
#ifndef WARPLIGHT_KNOW_XID_TEXT_H
#define WARPLIGHT_KNOW_XID_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* process: as the kernel's log has it, "python3 (4711)"; "" not known. */
void xid_text_add(struct str *out, int64_t code, const char *process);
/* Reads it again; *process is the end of text or "". False: it is no such text. */
bool xid_text_parse(const char *text, int64_t *code, const char **process);

#endif

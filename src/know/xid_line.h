/* Xid and SXid lines of NVIDIA's driver, from "NVRM: Xid (0000:02:00): 13, …" of 2013 to MIG suffixes:
 *
 *     NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 94, pid=7194, name=python3, Contained: …
 *     nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 …
 */
#ifndef WARPLIGHT_KNOW_XID_LINE_H
#define WARPLIGHT_KNOW_XID_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { XID_GRAPHICS_EXCEPTION = 13 };
enum { XID_DEVICE_BYTES = 64, XID_PROCESS_BYTES = 128 };

/* Texts are "" where the line does not say it. */
struct xid_line {
    bool is_switch; /* an SXid: of an NVSwitch */
    int64_t code;
    char device[XID_DEVICE_BYTES];   /* "0000:3b:00 GPU-I:05", in lower case up to the blank */
    char process[XID_PROCESS_BYTES]; /* "python3 (4711)" */
    bool is_continuation;            /* a further line of an SXid, which only describes it */
    bool is_mild;                    /* it says that it is not fatal */
    bool is_consequence;             /* it says that another one caused it */
    bool is_part; /* of an event on which another line has the last word, see model/burst.h */
};

/* Reads a line, with or without what a logger put in front. False: it is none. */
bool xid_line_parse(const char *text, size_t length, struct xid_line *out);

#endif

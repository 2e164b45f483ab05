#include "source/journal.h"

#include "source/child_output.h"

int journal_read(struct str *out, const char *program, int64_t deadline_ns)
{
    static const char *const arguments[] = {
        "journalctl",    "--dmesg", "--no-pager", "--quiet", "--output=short-iso-precise",
        "--lines=50000", NULL};
    return child_output(out, program ? program : arguments[0], arguments, JOURNAL_BYTES, deadline_ns);
}

#!/bin/bash
# A compressed file that swells without end is read in part, and the answer says so; what is before it counts.
python3 - <<'END'
import gzip
with gzip.open("bug-report.log.gz", "wb") as file:
    file.write(b"[   10.5] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n")
    for _ in range(20):
        file.write(b"a" * (16 << 20))
    file.write(b"\n[   20.5] NVRM: Xid (PCI:0000:3b:00): 48, x\n")
END
warplight doctor bug-report.log.gz --format json | grep -e '"xid"' -e "beyond all measure"

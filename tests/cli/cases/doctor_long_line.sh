#!/bin/bash
# A line that is too long is cut, and counted, also where the file ends with it.
for size in 16383 20000; do
    {
        echo 'kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.'
        head -c $size /dev/zero | tr '\0' x
    } >log
    warplight doctor log | grep log:
    echo >>log
    warplight doctor log | grep log:
done

#!/bin/bash
# One answer from several files: the cause, the lines that prove it, what only follows from it, and what to do.
cd "$SAMPLES/logs" || exit
warplight doctor nvlink-cuda.txt
echo "exit $?"
warplight doctor solo-45.txt xid79-solo.txt --redact --lang zh
echo "exit $?"
warplight doctor - <healthy.txt
echo "exit $?"
echo "the fan was loud today" | warplight doctor -
echo "exit $?"

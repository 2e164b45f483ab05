#!/bin/bash
# What is said of whole machines: one in order but for a sleeping GPU, one whose driver was updated without a restart,
# and a pod with a part of a GPU.
for machine in hybrid-laptop mismatch pod-hami; do
    python3 -B "$CLI/../fake/machines.py" "$SAMPLES/machines/$machine.machine" "$TMPDIR/$machine"
done
export WARPLIGHT_ROOT=$TMPDIR/hybrid-laptop
warplight doctor
echo "exit $?"
export WARPLIGHT_ROOT=$TMPDIR/mismatch
warplight doctor --lang zh
echo "exit $?"
export WARPLIGHT_ROOT=$TMPDIR/pod-hami
warplight doctor --redact
echo "exit $?"

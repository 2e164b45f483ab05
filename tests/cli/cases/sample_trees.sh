#!/bin/bash
# Machines as trees of files: AMD at work, a laptop with a sleeping GPU, cards without a driver, none.
for machine in amd laptop mixed none; do
    warplight sample --root "$SAMPLES/sysfs/$machine"
    echo
done

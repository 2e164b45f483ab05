#!/bin/bash
# Usage errors of occupancy.
try() {
    warplight "$@"
    echo "$? $(printf '%s ' warplight "$@")"
}
try occupancy
try occupancy --block 256
try occupancy --block 16x --regs 3
try occupancy --block 0 --regs 3
try occupancy --block 8x8x8x8 --regs 3
try occupancy --block 256 --regs 32 --cc 13.0
try occupancy --block 256 --regs 32 --cc 4
try occupancy "$SAMPLES/code/plain.ptx"
try occupancy "$SAMPLES/code/plain.cubin" --kernel nothing
try occupancy nowhere/app

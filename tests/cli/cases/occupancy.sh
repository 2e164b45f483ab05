#!/bin/bash
# Occupancy of numbers and of kernels, what limits it and what would change it.
warplight occupancy --block 256 --regs 40 --shared 8192 --cc 9.0
echo "== every GPU"
warplight occupancy --block 16x16 --regs 40 --shared 48KiB
echo "== barriers and a cluster"
warplight occupancy --block 64 --regs 32 --barriers 4 --cluster 4 --gpu sm_120 | sed '/^Over/,/^$/d'
echo "== registers and shared memory at once"
warplight occupancy --block 256 --regs 64 --shared 56KiB --cc 9.0 | grep -A 3 '^What'
echo "== it cannot be launched"
warplight occupancy --block 1024 --regs 72 --cc 8.0
echo "== of a kernel"
warplight occupancy "$SAMPLES/code/kernels.fatbin" --kernel barriers --cc 12.0 | head -12
echo "== for a program"
warplight occupancy --block 96 --regs 168 --cc 8.6 --format json | sed '/"by_block"/,$d'
# A screen that is narrower than the table.
COLUMNS=60 timeout 60 warplight occupancy --block 256 --regs 40 --lang zh | head -n 9

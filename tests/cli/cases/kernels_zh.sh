#!/bin/bash
# The same in Chinese.
code=$SAMPLES/code
export WARPLIGHT_LANG=zh
warplight kernels "$code/kernels.fatbin" --kernel spill_and_array --gpu sm_87
warplight occupancy --block 256 --regs 40 --shared 8192 --cc 9.0
warplight occupancy --block 1024 --regs 72 --cc 8.0 | head -3

#!/bin/bash
# What a beginner types: names in other forms, pieces of messages, lines of a log; and what speaks of it where nothing is
# called that.
for asked in "launch bound" "Warp Stall Reasons" "Idle_Launch_Bound" "NCCL timeout" "misaligned address" \
    "fallen off the bus" "NVRM: Xid (PCI:0000:01:00): 79, pid=12, GPU has fallen" "error 43" 占用率; do
    warplight explain "$asked" | head -n 1
done
for asked in "why is cudaMemPrefetchAsync slow" "persistent kernel" HAMi; do
    echo
    warplight explain "$asked"
done
echo
warplight explain HAMi --lang zh
# each error once
warplight explain CUDA_ERROR_ILLEGAL_ADDRESS | grep -c ^cuda-illegal-access
# no word of it is known
warplight explain "zzz yyy" 2>&1
warplight explain "" 2>&1

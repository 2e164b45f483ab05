#!/bin/bash
# The hottest lines of a kernel, what its warps wait for there, and the finding that names the line.
for lang in en zh; do
    export WARPLIGHT_LANG=$lang
    warplight kernels "$SAMPLES/ncu/transpose.ncu-repz" --kernel transpose_bad | tail -2
    warplight kernels "$SAMPLES/ncu/transpose.ncu-repz" --kernel transpose_bad --format json |
        grep -E '^ {5}"(file|line)"'
done

#!/bin/bash
# What cannot be read is said in one line.
try() {
    warplight "$@"
    echo "$? $(printf '%s ' warplight "$@")"
}
echo text >text
try kernels
try kernels text
try kernels missing
try kernels /dev/null
try kernels .
printf '\177ELF' >header
try kernels header
try kernels "$SAMPLES/code/plain.cubin" --kernel nothing
try kernels "$SAMPLES/code/plain.cubin" --gpu ampere
try kernels "$SAMPLES/code/plain.cubin" --cc 9
try kernels "$SAMPLES/code/plain.cubin" --block 0
try kernels "$SAMPLES/code/plain.cubin" --sort speed

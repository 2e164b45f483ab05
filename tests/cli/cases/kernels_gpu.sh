#!/bin/bash
# Which GPUs can run it: machine code, PTX that is compiled, or no kernel image and why.
code=$SAMPLES/code
ask() {
    warplight kernels "$@" | sed '/^kernel  /,$d'
    echo "exit ${PIPESTATUS[0]}"
}
ask "$code/plain-size.fatbin" --gpu sm_103
ask "$code/plain-size.fatbin" --gpu sm_90
ask "$code/plain-size.fatbin" --cc 12.0
ask "$code/plain.o" --cc 12.1
ask "$code/plain.cubin" --gpu sm_100f
echo "== for a program"
warplight kernels "$code/plain.o" --gpu sm_86 --format json | grep -A 12 '"images"'

#!/bin/bash
# Kernels of binaries: the table, spills with their lines, what is shown of old toolkits, PTX and folders.
code=$SAMPLES/code
warplight kernels "$code/kernels.fatbin" --kernel spill
echo "== one architecture's worth of numbers, worst first"
warplight kernels "$code/cuda-12.6.fatbin" --sort spills --limit 4 --block 128
echo "== an assembler that does not mark spills"
warplight kernels "$code/cuda-11.8.fatbin" --kernel 'spill*' --full-names
echo "== archive, object and PTX"
warplight kernels "$code/plain.a" "$code/plain.ptx" | head -8
echo "== a folder"
mkdir -p cache/HASH
cp "$code/plain.cubin" cache/HASH/k.cubin
cp "$code/plain.ptx" cache/HASH/k.ptx
printf '{"num_warps": 4, "shared": 65536, "num_ctas": 1}' >cache/HASH/k.json
echo nothing >cache/HASH/notes.txt
warplight kernels cache
echo "== damaged"
head -c 9000 "$code/plain-speed.fatbin" >cut.fatbin
warplight kernels cut.fatbin | tail -6

#!/bin/bash
# Sections can be listed, repeated, and come in their own order; each is one that "all" has.
trace=$SAMPLES/torch/pageable_h2d.json.gz
warplight report "$trace" -s losses,copies
warplight report "$trace" --section copies --section losses | cmp - <(warplight report "$trace" -s losses,copies)
for section in ledger findings gaps culprits kernels copies calls launches operators steps streams concurrency memory \
    comms ranks amdahl sources losses facts; do
    warplight report "$trace" --section $section --limit 1 >one || echo $section failed
    [ -s one ] || echo $section is empty
done

#!/bin/bash
trace=$SAMPLES/torch/loader_starved.json.gz
for what in idle-data-loading warn critical transfer-managed; do
    warplight report "$trace" --fail-on $what >out
    echo "$what $? $(test -s out && echo printed)"
done
warplight report "$SAMPLES/torch/gemm_bf16.json.gz" --fail-on critical >out
echo "healthy $?"

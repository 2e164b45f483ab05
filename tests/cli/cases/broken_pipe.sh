#!/bin/bash
# A reader that has seen enough is no error.
set -o pipefail
warplight report "$SAMPLES/torch/transformer_ok.json.gz" --format json | head -c 1
echo " ${PIPESTATUS[0]}"
warplight report "$SAMPLES/torch/transformer_ok.json.gz" --section all | true
echo "${PIPESTATUS[0]}"

#!/bin/bash
# A reader that has seen enough is no error.
set -o pipefail
warplight report "$SAMPLES/torch/transformer_ok.json.gz" --format json | head -c 1
echo " ${PIPESTATUS[0]}"
warplight report "$SAMPLES/torch/transformer_ok.json.gz" --section all | true
echo "${PIPESTATUS[0]}"
for format in folded chrome perfetto wlt; do
    warplight export "$SAMPLES/torch/transformer_ok.json.gz" --format $format | head -c 1 >/dev/null
    echo "$format ${PIPESTATUS[0]}"
done
# It would go on for ever.
warplight sample --root "$SAMPLES/sysfs/amd" -f json -i 20ms -q | head -c 1
echo " ${PIPESTATUS[0]}"

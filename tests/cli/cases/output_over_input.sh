#!/bin/bash
cp "$SAMPLES/torch/pageable_h2d.json.gz" trace.json.gz
ln -s trace.json.gz link
warplight report trace.json.gz -o link
echo $?
warplight export trace.json.gz --format chrome -o ./trace.json.gz
echo $?
cmp trace.json.gz "$SAMPLES/torch/pageable_h2d.json.gz"

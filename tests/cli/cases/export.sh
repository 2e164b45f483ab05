#!/bin/bash
trace=$SAMPLES/torch/pageable_h2d.json.gz
warplight export "$trace" -o trace.pftrace && head -c 1 trace.pftrace | od -An -tx1
warplight export "$trace" --format chrome | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["traceEvents"]) > 100)'
warplight export "$trace" --format chrome -o trace.json.gz && gzip -t trace.json.gz && echo compressed
warplight export "$trace" --format folded | head -2
warplight export "$trace" --format chrome --from 50% | wc -c >half
warplight export "$trace" --format chrome | wc -c >whole
[ "$(cat half)" -lt "$(cat whole)" ] && echo less

#!/bin/bash
# A choice of sections leaves the rest out, and run and devices in.
warplight report "$SAMPLES/torch/pageable_h2d.json.gz" --format json --section copies |
    python3 -c 'import json, sys; print(*json.load(sys.stdin))'

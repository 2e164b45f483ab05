#!/bin/bash
# A window changes what is looked at; what is outside does not count.
trace=$SAMPLES/torch/pageable_h2d.json.gz
wall() {
    warplight report "$trace" --format json "$@" |
        python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["run"]["narrowed"], r["devices"][0]["wall_ns"])'
}
wall
wall --from 100ms
wall --to 25%
wall --from 100ms --to 0.2s
wall --device 0
wall --step 2
wall --annotation 'step 3'
wall --annotation 'step 3@1'
warplight report "$trace" --from 100ms --to 200ms | head -n 1
fails() {
    warplight report "$trace" "$@"
    echo $?
}
fails --device 7
fails --step 0
fails --step 999
fails --annotation nosuch
fails --annotation step@1
fails --from 50% --to 40%

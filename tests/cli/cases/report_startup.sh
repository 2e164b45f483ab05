#!/bin/bash
# Start-up takes a third of this recording: findings are about the steps, the ledger is about all.
warplight report "$SAMPLES/torch/many_small_matrices.json.gz"
WARPLIGHT_LANG=zh warplight report "$SAMPLES/torch/many_small_matrices.json.gz" | head -4
warplight report --from 0 "$SAMPLES/torch/many_small_matrices.json.gz" | head -3

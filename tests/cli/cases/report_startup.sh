#!/bin/bash
# Start-up takes a quarter of this recording: findings are about the steps, the ledger is about all.
warplight report "$SAMPLES/torch/hand_written_loader.json.gz"
WARPLIGHT_LANG=zh warplight report "$SAMPLES/torch/hand_written_loader.json.gz" | head -4
warplight report --from 0 "$SAMPLES/torch/hand_written_loader.json.gz" | head -3

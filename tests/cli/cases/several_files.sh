#!/bin/bash
# Several files are one run: their devices stand side by side, told apart by the file.
warplight report "$SAMPLES/torch/pageable_h2d.json.gz" "$SAMPLES/torch/gemm_fp32.json.gz" | head -4
warplight report "$SAMPLES/torch/pageable_h2d.json.gz" "$SAMPLES/torch/gemm_fp32.json.gz" --format json |
    python3 -c 'import json, sys
r = json.load(sys.stdin)
print(len(r["run"]["sources"]), [d["id"] for d in r["devices"]], sorted({g["device_index"] for g in r["gaps"]}))'

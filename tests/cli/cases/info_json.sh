#!/bin/bash
# The machine form: strict JSON, the same in each language, null with its reason where nothing is known.
warplight export "$SAMPLES/torch/pageable_h2d.json.gz" -o run.wlt
warplight info --format json run.wlt "$SAMPLES/torch/strided_copy.json.gz" -o info.json
WARPLIGHT_LANG=zh warplight info --format json run.wlt "$SAMPLES/torch/strided_copy.json.gz" | cmp - info.json && echo same
python3 - <<'END'
import json
info = json.load(open("info.json"))
print(info["schema"], len(info["files"]))
for file in info["files"]:
    counts = file["counts"]
    print(file["format"], counts["kernels"], counts["copies"], counts["api_calls"], file["wall_ns"])
    assert counts["gpu_operations"] == sum(counts[k] for k in ("kernels", "copies", "memsets", "graphs"))
    assert abs(file["bytes_per_gpu_operation"] * counts["gpu_operations"] - file["bytes"]) < 1
    print(file["losses"])
END
warplight info --format json - <run.wlt | python3 -c 'import json, sys; f = json.load(sys.stdin)["files"][0]; print(f["bytes"] > 0, f["bytes_per_gpu_operation"] > 0)'
warplight info --format json <(cat run.wlt) | grep _why
WARPLIGHT_LANG=zh warplight info run.wlt | head -12 | grep -v 大小
warplight info missing.wlt "$SAMPLES/torch/strided_copy.json.gz"
echo $?

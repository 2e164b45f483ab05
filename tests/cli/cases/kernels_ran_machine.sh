#!/bin/bash
# Names that are fixed, and what is unknown says why.
warplight kernels "$SAMPLES/ncu/transpose_raw.csv.gz" --format json >report.json
python3 - <<'EOF'
import json
report = json.load(open("report.json"))
assert report["schema"] == "warplight.kernels/1"
NAMES = """name launches grid block registers_per_thread static_shared_bytes dynamic_shared_bytes spill_store_bytes
spill_load_bytes theoretical_occupancy_ratio occupancy_limiters metrics stalls findings""".split()
METRICS = """duration_ns sm_active_ratio achieved_occupancy_ratio issue_active_ratio dram_throughput_ratio dram_read_bytes
dram_write_bytes l1_hit_ratio l2_hit_ratio global_load_sectors_per_request global_store_sectors_per_request
shared_conflict_ratio threads_per_instruction tensor_active_ratio fp64_active_ratio""".split()
for kernel in report["kernels"]:
    assert not [name for name in NAMES if name not in kernel]
    for name in METRICS:
        assert kernel["metrics"][name] is not None or kernel["metrics"][name + "_why"]
    assert abs(sum(stall["share_ratio"] for stall in kernel["stalls"]) - 1) < 1e-9
    print(kernel["name"], kernel["grid"], kernel["total_ns"], kernel["findings"][0]["id"])
EOF
warplight kernels "$SAMPLES/ncu/transpose_raw.csv.gz" --format csv | cut -d, -f1-12

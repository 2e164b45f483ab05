#!/bin/bash
# Chosen fields as text and CSV; the moment is left out.
warplight sample --root "$SAMPLES/sysfs/amd" --fields power_watts,fan_ratio,energy_joules
warplight sample --root "$SAMPLES/sysfs/amd" -f csv --fields sm_clock_hz,temperature_celsius,energy_joules | cut -d, -f2-
warplight sample --root "$SAMPLES/sysfs/amd" -f csv --rows processes --fields gpu_memory_bytes,sm_ratio | cut -d, -f2-
warplight sample --root "$SAMPLES/sysfs/none" -f csv --rows host --fields memory_bytes,load_1min,cpu_busy_ratio | cut -d, -f2-
warplight sample --root "$SAMPLES/sysfs/mixed" -f json -d 43:00.0 --fields power_limit_watts |
    python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["devices"], indent=1))' | grep -v time_unix_ns

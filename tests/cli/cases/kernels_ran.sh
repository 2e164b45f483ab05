#!/bin/bash
# The first screen about kernels that were measured, within 80 columns.
export COLUMNS=80
warplight kernels "$SAMPLES/ncu/teaching_raw.csv.gz" --limit 4
warplight kernels "$SAMPLES/ncu/teaching_raw.csv.gz" | python3 "$CLI/too_wide.py" 80

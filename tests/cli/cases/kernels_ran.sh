#!/bin/bash
# The first screen about kernels that were measured, within 80 columns.
export COLUMNS=80
warplight kernels "$SAMPLES/ncu/teaching.csv" --limit 4
warplight kernels "$SAMPLES/ncu/teaching.csv" | python3 "$CLI/too_wide.py" 80

#!/bin/bash
# Everything about one of them.
warplight kernels "$SAMPLES/ncu/teaching_raw.csv.gz" --kernel transpose_tile

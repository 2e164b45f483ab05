#!/bin/bash
export WARPLIGHT_LANG=zh
warplight kernels "$SAMPLES/ncu/transpose_raw.csv.gz"
warplight kernels "$SAMPLES/ncu/transpose_raw.csv.gz" --kernel good

#!/bin/bash
export WARPLIGHT_LANG=zh
warplight kernels "$SAMPLES/ncu/transpose.csv"
warplight kernels "$SAMPLES/ncu/transpose.csv" --kernel good

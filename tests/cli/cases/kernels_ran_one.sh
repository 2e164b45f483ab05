#!/bin/bash
# Everything about one of them.
warplight kernels "$SAMPLES/ncu/teaching.csv" --kernel transpose_tile

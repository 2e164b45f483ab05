#!/bin/bash
# The page in Chinese.
warplight --lang zh sample --root "$SAMPLES/sysfs/amd"
warplight --lang zh sample --root "$SAMPLES/sysfs/none"

#!/bin/bash
# What cannot be asked for.
warplight sample --fields power_wats
warplight sample --rows host
warplight sample -i 0
warplight sample --root "$SAMPLES/sysfs/amd" --device 7
warplight sample extra
warplight sample --root nowhere
warplight top --replay nowhere.wlt
true

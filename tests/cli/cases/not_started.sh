#!/bin/bash
# Programs that cannot be started: exit code 4, and what to do.
try() {
    "$@"
    echo "$? $*"
}
: >plain
echo 'no format' >no-format
chmod +x no-format
try warplight record -o a.wlt -- ./missing
try warplight record -o a.wlt -- ./plain
try warplight record -o a.wlt -- ./no-format
try warplight kernels -- ./plain
mkdir folder
try warplight record --force -o folder -- true
try warplight record -o folder -- true

#!/bin/bash
# Colour only where it was asked for or where it is seen: a pipe sees none.
trace=$SAMPLES/torch/pageable_h2d.json.gz
escapes() { grep -c $'\033'; }
warplight report "$trace" | escapes
warplight report --color=never "$trace" | escapes
NO_COLOR=1 warplight report --color=auto "$trace" | escapes
warplight report --color=always "$trace" | head -3 | cat -v
warplight report --color=always "$trace" | sed 's/\x1b\[[0-9;]*m//g' | cmp - <(warplight report "$trace")

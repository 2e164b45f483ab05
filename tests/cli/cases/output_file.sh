#!/bin/bash
trace=$SAMPLES/torch/pageable_h2d.json.gz
warplight report "$trace" -o report.txt
warplight report "$trace" | cmp - report.txt
warplight report "$trace" -o - | cmp - report.txt
warplight report "$trace" -o nowhere/report.txt
echo $?

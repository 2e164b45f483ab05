#!/bin/bash
trace=$SAMPLES/torch/pageable_h2d.json.gz
warplight report "$trace" >text
warplight report - <"$trace" | cmp - text && echo same
zcat "$trace" | warplight report - | cmp - text && echo same

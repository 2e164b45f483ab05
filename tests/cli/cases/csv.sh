#!/bin/bash
# One section is a plain table; several stand behind their names.
trace=$SAMPLES/torch/pageable_h2d.json.gz
warplight report "$trace" --format csv --section copies | cat -A
warplight report "$trace" --format csv | head -1
warplight report "$trace" --format csv --section copies,losses | cat -A

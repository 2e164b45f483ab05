#!/bin/bash
# Standard error stays empty unless something fails; a pipe sees no progress.
warplight report --quiet "$SAMPLES/torch/pageable_h2d.json.gz" >/dev/null
warplight report "$SAMPLES/torch/pageable_h2d.json.gz" >/dev/null

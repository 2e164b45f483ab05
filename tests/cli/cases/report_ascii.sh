#!/bin/bash
# A terminal without UTF-8 gets ASCII only.
LC_ALL=C warplight report "$SAMPLES/torch/pageable_h2d.json.gz" | tee out
LC_ALL=C grep -c -P '[^\x00-\x7f]' out

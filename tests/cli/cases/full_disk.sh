#!/bin/bash
[ -w /dev/full ] || { echo no /dev/full; exit 77; }
warplight help >/dev/full
echo $?
for format in text json csv; do
    warplight report "$SAMPLES/torch/pageable_h2d.json.gz" --format $format -s all >/dev/full
    echo $?
done
warplight report "$SAMPLES/torch/pageable_h2d.json.gz" -o /dev/full

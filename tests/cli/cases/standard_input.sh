trace=$SAMPLES/torch/pageable_h2d.json.gz
warplight report - <"$trace" | diff - <(warplight report "$trace") && echo same
zcat "$trace" | warplight report - | diff - <(warplight report "$trace") && echo same

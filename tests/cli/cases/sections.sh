cd "$SAMPLES/torch" # the width of a path is part of the result
warplight report transformer_ok.json.gz --section all --limit 3

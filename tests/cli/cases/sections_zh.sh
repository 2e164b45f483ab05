#!/bin/bash
cd "$SAMPLES/torch" || exit # the width of a path is part of the result
warplight report transformer_ok.json.gz --section all --limit 3 --lang zh

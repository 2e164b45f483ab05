#!/bin/bash
# No line may be wider than the terminal, in either language.
trace=$SAMPLES/torch/transformer_ok.json.gz
COLUMNS=60 warplight report "$trace"
# What an account means is never cut.
COLUMNS=80 warplight report "$SAMPLES/torch/loader_starved.json.gz" | sed -n "/^Where the time/,/^$/p"
for columns in 40 60 80 120 200; do
    for lang in en zh; do
        COLUMNS=$columns warplight report --lang $lang --section all "$trace" |
            python3 "$CLI/too_wide.py" $columns
        COLUMNS=$columns warplight report --lang $lang "$trace" | python3 "$CLI/too_wide.py" $columns
    done
done

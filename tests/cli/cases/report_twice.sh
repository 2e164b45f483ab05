#!/bin/bash
# One recording given twice is not two ranks.
cd "$SAMPLES/torch" || exit
warplight report loader_starved.json.gz ./loader_starved.json.gz
echo "exit $?"

#!/bin/bash
warplight report "$SAMPLES/torch/transformer_ok.json.gz"

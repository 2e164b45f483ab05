#!/bin/bash
# Whichever way Chinese is asked for, and without that locale installed.
trace=$SAMPLES/torch/transformer_ok.json.gz
warplight report --lang zh "$trace" | tee zh
WARPLIGHT_LANG=zh warplight report "$trace" | cmp - zh
LC_ALL=zh_CN.UTF-8 warplight report "$trace" | cmp - zh
LC_ALL='' LANG=zh_TW warplight report "$trace" | cmp - zh
LC_ALL='' LANG=de_DE.UTF-8 LANGUAGE=zh_CN:en warplight report "$trace" | cmp - zh

#!/bin/bash
# Metrics by old and new names, reasons to wait, terms.
for asked in 'sm__throughput…' gld_efficiency achieved_occupancy CTA warp roofline long_scoreboard; do
    warplight explain "$asked"
    echo
done
warplight explain tail effect | head -1
WARPLIGHT_LANG=zh warplight explain occupancy
warplight explain --list | grep -c .
warplight explain long_scorebord 2>&1

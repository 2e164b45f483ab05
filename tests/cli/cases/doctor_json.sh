#!/bin/bash
# Machines get English whatever the language, and nothing private with --redact.
warplight doctor "$SAMPLES/logs/xid79-solo.txt" --format json --lang zh --redact

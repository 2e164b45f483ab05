#!/bin/bash
# Names from a recording can neither drive the terminal nor break a line, nor become a formula in a spreadsheet.
cat >trace.json <<'JSON'
{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "kernel", "name": "=cmd()|' /C calc'!A0", "pid": 0, "tid": 7, "ts": 10, "dur": 5,
 "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "\u001b[2J\u202eevil\nname,\"quoted\"", "pid": 0, "tid": 7, "ts": 20, "dur": 5,
 "args": {"device": 0, "stream": 7, "correlation": 2}}]}
JSON
warplight report trace.json --section kernels --full-names
warplight report trace.json --section kernels --format csv | cut -c1-60 | cat -A
warplight report trace.json --format json | python3 -c 'import json, sys; print(*(k["name"].encode() for k in json.load(sys.stdin)["kernels"]))'

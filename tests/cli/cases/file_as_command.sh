touch trace.json
warplight trace.json

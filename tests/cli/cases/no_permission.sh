#!/bin/bash
if [ "$(id -u)" -eq 0 ]; then
    echo root may read everything
    exit 77
fi
cp "$SAMPLES/torch/pageable_h2d.json.gz" trace
chmod 000 trace
warplight report trace

#!/bin/bash
# The overview, and the page of each command, asked for in each way.
warplight
warplight --help | diff - <(warplight help)
for command in report explain export info completion help; do
    echo "== $command"
    warplight help $command
    warplight $command --help | diff - <(warplight help $command)
done

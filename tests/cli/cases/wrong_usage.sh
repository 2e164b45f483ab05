#!/bin/bash
# One line on standard error, exit code 2, and the nearest right thing.
try() {
    warplight "$@"
    echo "$? $(printf '%s ' warplight "$@")"
}
try repotr x
try frobnicate
try --sectoin=gaps
try report
try report --sectoin gaps x
try report --section kernel x
try report --format yaml x
try report --format
try report --limit many x
try report --from yesterday x
try report --quiet=1 x
try report --fail-on idle-lanch-bound x
try report -x
try explain
try explain idle-lanch
try explain a b
try export x
try export --format perfeto x
try completion tcsh
try help repotr

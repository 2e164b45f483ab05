#!/bin/bash
# What cannot be read or is no text is an error with exit code 3, not "nothing wrong". Beside files that can be read
# it is part of the answer.
warplight doctor no-such-file
echo "exit $?"
warplight doctor "$(command -v bash)"
echo "exit $?"
warplight doctor no-such-file "$SAMPLES/logs/healthy.txt" "$(command -v bash)"
echo "exit $?"
warplight doctor no-such-file "$SAMPLES/logs/xid79-solo.txt" --format json | grep -A 20 input-unread | head -12

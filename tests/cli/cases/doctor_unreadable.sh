#!/bin/bash
# What cannot be read or is no text is an error with exit code 3, not "nothing wrong".
warplight doctor no-such-file
echo "exit $?"
warplight doctor "$(command -v bash)"
echo "exit $?"

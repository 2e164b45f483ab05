#!/bin/bash
# Inputs that are no recordings: exit code 3, what it is, and what to do.
try() {
    warplight report "$@"
    echo "$? $*"
}
mkdir folder
: >empty
echo 'hello, world' >text
head -c 4096 /dev/zero >zeros
printf '\x7fELF\2\1\1' >elf
printf '<!DOCTYPE html><title>Sign in</title>' >login.json
echo '{"a": 1}' >other.json
printf 'a\nb\033[31m' >$'bad\nname'
try missing
try folder
try empty
try text
try zeros
try elf
try login.json
try other.json
try $'bad\nname'
try ''
try --input-format nosuch text

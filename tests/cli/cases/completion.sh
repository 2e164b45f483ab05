#!/bin/bash
# The scripts are valid, and bash completes commands, options, choices and findings.
warplight completion bash >script
bash -n script
# shellcheck source=/dev/null
source ./script
complete_words() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _warplight
    echo "$*: ${COMPREPLY[*]}"
}
complete_words warplight re
complete_words warplight report --form
complete_words warplight report --format ''
complete_words warplight report -f c
complete_words warplight report --section k
complete_words warplight report --output ''
complete_words warplight explain idle-host
complete_words warplight --color a
complete_words warplight report trace
for shell in zsh fish; do
    warplight completion $shell >script
    if command -v $shell >/dev/null; then $shell -n script; fi
done

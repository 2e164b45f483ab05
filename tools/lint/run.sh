#!/usr/bin/env bash
# Runs every check of the source. A check is a command that says what it looked at, or every problem with its
# place, and exits with 0, or 77 where it cannot run.
#
#     tools/lint/run.sh PROGRAM
set -u
cd "$(dirname "$0")/../.." || exit 1
program=$1
passed=0 failed=0 skipped=0
# No check may leave compiled Python in the tree.
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8

check() { # NAME COMMAND...
    local name=$1 output
    shift
    output=$("$@" 2>&1 </dev/null)
    case $? in
    0)
        passed=$((passed + 1))
        printf 'ok    %-13s %s\n' "$name" "${output//$'\n'/$'\n                    '}"
        ;;
    77)
        skipped=$((skipped + 1))
        printf 'skip  %-13s %s\n' "$name" "$output"
        ;;
    *)
        failed=$((failed + 1))
        printf 'FAIL  %s\n%s\n' "$name" "      ${output//$'\n'/$'\n      '}"
        ;;
    esac
}

listed() { git ls-files -z --cached --others --exclude-standard -- "$@"; }

# The first place in each file; `clang-format -i FILE` mends it.
format() {
    local places
    places=$(listed 'src/*.c' 'src/*.h' 'tests/*.c' 'tests/*.h' | xargs -0r clang-format --dry-run 2>&1 |
        grep -E '^[^ ]+:[0-9]+:[0-9]+: ' | sort -t: -k1,1 -k2,2n | awk -F: '!seen[$1]++ { print $1 ":" $2 ": not as clang-format puts it" }')
    [ -z "$places" ] || { echo "$places"; return 1; }
    echo "clang-format agrees"
}

shell() {
    { listed '*.sh'; printf '%s\0' .ci/run; } | xargs -0r shellcheck && echo "shellcheck is content"
}

manual_syntax() {
    listed 'doc/man/*.1' | xargs -0r mandoc -T lint -W warning && echo "mandoc is content"
}

translations() {
    [ -x tools/check_po.sh ] || { echo "no tools/check_po.sh"; return 77; }
    tools/check_po.sh && echo "zh_CN is complete"
}

check layers python3 tools/lint/layers.py
check sizes python3 tools/lint/sizes.py
check banned python3 tools/lint/banned.py
check words python3 tools/lint/words.py
check links python3 tools/lint/links.py
check python python3 tools/lint/python.py
check format format
check shell shell
check translations translations
check manual-syntax manual_syntax
check manual python3 tools/lint/manual.py "$program"
check findings python3 tools/lint/findings.py "$program"
check transcripts python3 tools/lint/transcripts.py "$program"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

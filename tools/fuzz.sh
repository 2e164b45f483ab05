#!/usr/bin/env bash
# Runs every libFuzzer target of a build: first over its whole corpus (regression), then for some seconds of new
# input. What breaks a target is kept in BUILD/crashes/.
#
#     tools/fuzz.sh BUILD SECONDS_PER_TARGET [RUNS_PER_TARGET]
#
# With RUNS_PER_TARGET it explores no further than that, from the same seed every time: the check of a change then
# says the same whenever it is run.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
seconds=$2
explore=("-max_total_time=$seconds" -print_final_stats=1)
[ -z "${3:-}" ] || explore+=("-runs=$3" -seed=1)
passed=0
failed=0

export ASAN_OPTIONS=abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
mkdir -p "$build/crashes"

check() { # TITLE COMMAND...
    local title=$1 log
    shift
    log=$(mktemp)
    if "$@" >"$log" 2>&1 </dev/null; then
        passed=$((passed + 1))
        echo "ok    $title: $(grep -E '^(stat::number_of_executed_units|Done|Executed)' "$log" | tail -n 1)"
    else
        failed=$((failed + 1))
        echo "FAIL  $title"
        # What was wrong and where, rather than the dump of registers and dictionaries after it.
        grep -m 2 -A 14 -E 'runtime error|ERROR: ' "$log" || tail -n 40 "$log"
    fi
    rm -f "$log"
}

mapfile -t targets < <(ninja -C "$build" -t targets all | sed -n 's#^\(tests/fuzz/fuzz_[a-z0-9_]*\): .*#\1#p')
ninja -C "$build" "${targets[@]}" || exit 1
for target in "${targets[@]}"; do
    name=${target##*/}
    target=$build/$target
    corpus=tests/fuzz/corpus/${name#fuzz_}
    seeds=("$corpus"/*)
    grown=$build/corpus/$name
    mkdir -p "$grown"
    limits=(-timeout=10 -rss_limit_mb=1024 "-artifact_prefix=$build/crashes/$name-")
    check "$name corpus of ${#seeds[@]}" "$target" "${limits[@]}" "${seeds[@]}"
    check "$name new input" "$target" "${limits[@]}" "${explore[@]}" "$grown" "$corpus"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

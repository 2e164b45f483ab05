#!/usr/bin/env bash
# Runs every test under AddressSanitizer and UndefinedBehaviorSanitizer, and the threaded unit tests once more
# under ThreadSanitizer. THREADED names those. The last line is the count over all of them.
set -u
cd "$(dirname "$0")/.." || exit 1

# Any finding ends the process with a failure; nothing is only reported.
export ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

status=0
logs=(build-asan/meson-logs/testlog.json)
rm -f build-asan/meson-logs/testlog.json build-tsan/meson-logs/testlog.json

meson test -C build-asan --print-errorlogs || status=1

names=() targets=()
for name in ${THREADED-}; do
    if [ -f "tests/unit/test_$name.c" ]; then
        names+=("unit $name")
        targets+=("tests/unit/test_$name")
    fi
done
if [ ${#names[@]} -gt 0 ]; then
    # Only what these tests need is built a second time.
    if ninja -C build-tsan "${targets[@]}"; then
        meson test -C build-tsan --no-rebuild --print-errorlogs "${names[@]}" || status=1
        logs+=(build-tsan/meson-logs/testlog.json)
    else
        status=1
    fi
fi

python3 tools/tally.py "${logs[@]}" || status=1
exit $status

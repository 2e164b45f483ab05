#!/usr/bin/env python3
"""Counts the results in Meson test logs (one JSON object a line) and prints 'N passed, N failed, N skipped'.

Fails when a test failed, when a log is missing, and when no test ran at all.
"""
import collections
import json
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP", "IGNORED"}


def main(paths):
    counts = collections.Counter()
    for path in paths:
        try:
            with open(path, encoding="utf-8") as log:
                results = [json.loads(line)["result"] for line in log if line.strip()]
        except OSError as error:
            print(f"tally: {path}: {error.strerror}; did the build fail?", file=sys.stderr)
            counts["failed"] += 1
            continue
        for result in results:
            counts["passed" if result in PASSED else "skipped" if result in SKIPPED else "failed"] += 1
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 0 if counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

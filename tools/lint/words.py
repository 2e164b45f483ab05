#!/usr/bin/env python3
"""What no committed text may hold: paths of one machine, package hosts, credentials, and unfinished work."""
import re
import sys

from source import ROOT, files, finish

# Each pattern is spelled so that it does not match itself.
PATTERNS = [
    (re.compile(r"(?<![\w.])/(?:work|root|home)/\w"), "an absolute path of one machine"),
    (re.compile(r"https?://(?:deb|security|pypi|files|registry|static|index|proxy|crates|repo\d?)\.\w"),
     "the host of a package registry"),
    (re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b"), "unfinished work: finish it or open an issue"),
    (re.compile(r"@" r"@[A-Z]+@" r"@"), "a place holder that was not filled in"),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE" r" KEY"), "a private key"),
    (re.compile(r"^(?:<{7}|>{7}) ", re.M), "a merge conflict"),
]
BINARY = (".gz", ".zst", ".png", ".sqlite", ".ncu-rep", ".wlt", ".pb", ".bin")
# Foreign recordings hold what they hold.
FOREIGN = ("tests/samples/", "tests/golden/", "tests/fuzz/corpus/")


def main():
    problems = []
    checked = 0
    for path in files("**"):
        if path.endswith(BINARY) or path.startswith(FOREIGN):
            continue
        try:
            content = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            problems.append(f"{path}: not UTF-8; if it is binary on purpose, add its ending to tools/lint/words.py")
            continue
        checked += 1
        for pattern, meaning in PATTERNS:
            for match in pattern.finditer(content):
                line = content.count("\n", 0, match.start()) + 1
                problems.append(f"{path}:{line}: '{match[0]}': {meaning}")
    return finish(problems, f"{checked} text files")


if __name__ == "__main__":
    sys.exit(main())

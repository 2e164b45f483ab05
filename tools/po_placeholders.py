#!/usr/bin/env python3
"""Checks that every translation has the place holders {0} … {7} of its original, as many times."""
import ast
import re
import sys


def entries(path):
    """Yields (msgid, msgstr) of a .po file."""
    texts, current = {}, None
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        match = re.match(r'(msgid|msgid_plural|msgstr)(?:\[0\])? (".*")$', line)
        if match:
            current = match[1]
            if current == "msgid":
                yield from pairs(texts)
                texts = {}
            texts[current] = ast.literal_eval(match[2])
        elif line.startswith('"') and current:
            texts[current] += ast.literal_eval(line)
    yield from pairs(texts)


def pairs(texts):
    if "msgstr" in texts:
        yield from ((texts[key], texts["msgstr"]) for key in ("msgid", "msgid_plural") if key in texts)


def placeholders(text):
    return sorted(re.findall(r"\{[0-7]\}", text))


def main():
    wrong = 0
    for path in sys.argv[1:]:
        for msgid, msgstr in entries(path):
            if msgid and msgstr and placeholders(msgid) != placeholders(msgstr):
                print(f"{path}: place holders differ: {msgid!r} and {msgstr!r}", file=sys.stderr)
                wrong += 1
    return 1 if wrong else 0


sys.exit(main())

#!/usr/bin/env python3
"""Prints the lines of standard input that take more columns than allowed: too_wide.py COLUMNS"""
import sys
import unicodedata


def columns(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


limit = int(sys.argv[1])
for line in sys.stdin.read().splitlines():
    if columns(line) > limit:
        print(f"{columns(line)} columns, {limit} allowed: {line}")

#!/usr/bin/env python3
"""Checks that CSV reports can be parsed strictly and say the same as the JSON report.

    lint_csv.py WARPLIGHT RECORDING…
"""
import csv
import io
import json
import subprocess
import sys

SECTIONS = {"kernels": "kernels", "copies": "copies", "calls": "calls", "operators": "ops", "culprits": "culprits",
            "gaps": "gaps", "streams": "streams", "amdahl": "amdahl", "facts": "facts"}


def report(warplight, path, *options):
    done = subprocess.run([warplight, "report", path, "--limit", "1000000", *options], capture_output=True, check=True)
    return done.stdout.decode("utf-8")


def same(cell, value):
    if value is None:
        return cell == ""
    if isinstance(value, bool):
        return cell == str(value).lower()
    if isinstance(value, list):
        return cell == "x".join(map(str, value))
    if isinstance(value, int):
        return int(cell) == value
    if isinstance(value, float):
        return float(cell) == value
    return cell == value or cell == "'" + value


def check_section(warplight, path, name, rows):
    text = report(warplight, path, "--format", "csv", "--section", name)
    if not text.endswith("\r\n"):
        return ["the last line does not end with CRLF"]
    table = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    if len(table) != len(rows):
        return [f"{len(table)} rows instead of {len(rows)}"]
    wrong = []
    for number, (line, row) in enumerate(zip(table, rows), 1):
        for key, cell in line.items():
            if not same(cell, row[key]):
                wrong.append(f"row {number}: {key} is {cell!r} instead of {row[key]!r}")
            if cell[:1] in "=+@" and cell:
                wrong.append(f"row {number}: {key} begins like a formula: {cell!r}")
    return wrong


def main():
    warplight, *paths = sys.argv[1:]
    failures = 0
    for path in paths:
        truth = json.loads(report(warplight, path, "--format", "json"))
        for name, key in SECTIONS.items():
            wrong = check_section(warplight, path, name, truth[key])
            failures += bool(wrong)
            print(f"{'FAIL' if wrong else 'ok  '} {name} of {path.rsplit('/', 1)[-1]}", *wrong[:5], sep="\n  ")
    sys.exit(failures > 0)


main()

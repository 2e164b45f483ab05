#!/usr/bin/env python3
"""Prints the accuracy table of the findings as Markdown: python3 tests/gpu/accuracy.py WARPLIGHT

For every recording of tests/samples/torch/truth.tsv: the right answers, what `warplight report` puts first, the share
of the wall time that it says a change gives back. Ends with the count of right ones.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    folder = os.path.join(ROOT, "tests", "samples", "torch")
    right = count = 0
    print("| recording | right answers | found first | saving, share of wall | second | |\n|---|---|---|---|---|---|")
    for line in open(os.path.join(folder, "truth.tsv")).read().splitlines()[1:]:
        name, accepted = line.split("\t")[:2]
        path = os.path.join(folder, name + ".json.gz")
        if not os.path.exists(path):
            continue
        out = subprocess.run([sys.argv[1], "report", "--format", "json", path], capture_output=True, check=True)
        report = json.loads(out.stdout)
        findings, wall = report["findings"], report["devices"][0]["wall_ns"]
        top = findings[0]
        good = top["id"] in accepted.split("|")
        right, count = right + good, count + 1
        low, high = (100 * ns / wall for ns in top["saving_ns"])
        second = findings[1]["id"] if len(findings) > 1 else ""
        print(f"| {name} | {accepted.replace('|', ' or ')} | {top['id']} | {low:.0f}–{high:.0f} % | {second} | "
              f"{'right' if good else '**wrong**'} |")
    print(f"\n{right} of {count} right.")


main()

#!/usr/bin/env python3
"""`record` beside torch.profiler on the same programs: python3 tests/gpu/agree.py WARPLIGHT SCENARIOS NAME…

SCENARIOS takes NAME, --steps N and --trace FILE. A step's work is what a recording of 30 steps has more than one of 10, by 20,
and what torch.profiler's trace of 20 steps has, by 20: warm-up cancels. Prints operations and GPU time of a step, and busy
time of the device, by both.
"""
import json
import os
import subprocess
import sys
import tempfile

WARPLIGHT, SCENARIOS = sys.argv[1:3]


def totals(path):
    out = subprocess.run([WARPLIGHT, "report", "--format", "json", path], check=True, capture_output=True)
    report = json.loads(out.stdout)
    rows = report["kernels"] + report["copies"]
    return (sum(r["count"] for r in rows), sum(r["total_ns"] for r in rows), sum(d["busy_ns"] for d in report["devices"]))


def main():
    print("| program | operations a step: record, torch | GPU time a step, µs: record, torch | ratio | busy a step, ratio |\n"
          "|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[3:]:
            program = [sys.executable, SCENARIOS, name, "--steps"]
            seen = []
            for steps in ("10", "30"):
                recording = os.path.join(folder, "r.wlt")
                subprocess.run([WARPLIGHT, "record", "-q", "--no-report", "--force", "--graph-trace", "node", "-o", recording,
                                "--", *program, steps], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                seen.append(totals(recording))
            trace = os.path.join(folder, "t.json")
            subprocess.run([*program, "20", "--trace", trace], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            torch = totals(trace)
            ours = [(more - less) / 20 for less, more in zip(*seen)]
            theirs = [value / 20 for value in torch]
            print(f"| {name} | {ours[0]:.2f}, {theirs[0]:.2f} | {ours[1] / 1e3:.1f}, {theirs[1] / 1e3:.1f} | "
                  f"{ours[1] / theirs[1]:.3f} | {ours[2] / theirs[2]:.3f} |", flush=True)


main()

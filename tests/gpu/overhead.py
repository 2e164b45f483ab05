#!/usr/bin/env python3
"""What recording costs, on a real GPU: python3 tests/gpu/overhead.py WARPLIGHT FLOOR_LIBRARY LAUNCHBENCH OPBENCH [REPEATS]

Runs LAUNCHBENCH (prints "min N ns/launch") and OPBENCH (a mode; prints "N ns/op") bare, with the floor (CUPTI on, records thrown away), and under
`warplight record`, interleaved, and prints medians, spreads and ratios. Peers:
torch.profiler and Triton Proton for OPBENCH.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

WARPLIGHT, FLOOR, LAUNCHBENCH, OPBENCH = sys.argv[1:5]
REPEATS = int(sys.argv[5]) if len(sys.argv) > 5 else 5


def run(command, **environment):
    out = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    text = out.stdout + out.stderr
    found = re.findall(r"([0-9.]+) ns/(?:launch|op)", text)
    if not found:
        sys.exit(f"{command}: no figure in its output:\n{text[-2000:]}")
    return min(float(value) for value in found)


def table(title, variants):
    results = {name: [] for name in variants}
    for _ in range(REPEATS):
        for name, measure in variants.items():
            results[name].append(measure())
    bare, floor = statistics.median(results["bare"]), statistics.median(results["floor"])
    print(f"\n{title}, {REPEATS} interleaved runs\n")
    print("| | median | lowest – highest | ÷ bare | ÷ floor |\n|---|---|---|---|---|")
    for name, values in results.items():
        median = statistics.median(values)
        print(f"| {name} | {median:.1f} | {min(values):.1f} – {max(values):.1f} | {median / bare:.2f} | "
              f"{median / floor:.2f} |", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        record = [WARPLIGHT, "record", "--quiet", "--no-report", "--force", "-o", os.path.join(folder, "r.wlt"), "--"]
        table("ns per launch (launchbench)", {
            "bare": lambda: run([LAUNCHBENCH]),
            "floor": lambda: run([LAUNCHBENCH], CUDA_INJECTION64_PATH=FLOOR),
            "warplight record": lambda: run(record + [LAUNCHBENCH]),
        })
        size = os.path.getsize(os.path.join(folder, "r.wlt"))
        print(f"\nrecording of launchbench: {size} bytes, {size / 1500001:.1f} bytes per launch with its call")
        op = [sys.executable, OPBENCH]
        table("ns per operator (opbench)", {
            "bare": lambda: run(op + ["none"]),
            "floor": lambda: run(op + ["none"], CUDA_INJECTION64_PATH=FLOOR),
            "warplight record": lambda: run(record + op + ["none"]),
            "torch.profiler, CUDA only": lambda: run(op + ["kineto-cuda"]),
            "torch.profiler, CPU and CUDA": lambda: run(op + ["kineto"]),
            "Triton Proton": lambda: run(op + ["proton"]),
        })


main()

#!/usr/bin/env python3
"""What recording costs, on a real GPU: python3 tests/gpu/overhead.py WARPLIGHT FLOOR_LIBRARY BIN OPBENCH [REPEATS [CASE…]]

BIN holds launchbench and launches (of tests/gpu/launches.cu), which print "N ns/launch"; OPBENCH prints "N ns/op". Runs each
bare, with the floor (CUPTI on, records thrown away), under `warplight record`, and under peers, interleaved, and prints
medians, spreads and ratios as Markdown. NSYS names the nsys to compare with, where there is one.
Environment: LAUNCHES, OPS: how many of each in a round (100000).
"""
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

WARPLIGHT, FLOOR, BIN, OPBENCH = sys.argv[1:5]
REPEATS = int(sys.argv[5]) if len(sys.argv) > 5 else 3
CASES = sys.argv[6:]
NSYS = os.environ.get("NSYS", "")
LAUNCHES, OPS = os.environ.get("LAUNCHES", "100000"), os.environ.get("OPS", "100000")


def run(command, **environment):
    out = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    text = out.stdout + out.stderr
    found = re.findall(r"([0-9.]+) ns/(?:launch|op)", text)
    if not found:
        print(f"{command}: no figure in its output:\n{text[-1500:]}", file=sys.stderr)
        return None
    return min(float(value) for value in found)


def table(title, variants):
    results = {name: [] for name in variants}
    for _ in range(REPEATS):
        for name, measure in variants.items():
            results[name].append(measure())
    results = {name: [v for v in values if v is not None] for name, values in results.items()}
    bare, floor = statistics.median(results["bare"]), statistics.median(results["floor"])
    print(f"\n{title}, {REPEATS} interleaved runs\n")
    print("| | median | lowest – highest | ÷ bare | ÷ floor |\n|---|---|---|---|---|")
    for name, values in results.items():
        if not values:
            print(f"| {name} | did not run | | | |")
            continue
        median = statistics.median(values)
        print(f"| {name} | {median:.1f} | {min(values):.1f} – {max(values):.1f} | {median / bare:.3f} | "
              f"{median / floor:.2f} |", flush=True)


def variants(folder, command, extra=()):
    def record(*options):
        return [WARPLIGHT, "record", "--quiet", "--no-report", "--force", "-o", os.path.join(folder, "r.wlt"),
                *options, "--"] + command
    all_of_them = {
        "bare": lambda: run(command),
        "floor": lambda: run(command, CUDA_INJECTION64_PATH=FLOOR),
        "warplight record": lambda: run(record()),
    }
    for option in extra:
        all_of_them["warplight record " + " ".join(option)] = lambda option=option: run(record(*option))
    if NSYS:
        report = os.path.join(folder, "nsys")
        all_of_them["nsys, CUDA and NVTX"] = lambda: run(
            [NSYS, "profile", "-t", "cuda,nvtx", "-s", "none", "--cpuctxsw=none", "-f", "true", "-o", report] + command)
    return all_of_them


def wanted(case):
    return not CASES or case in CASES


def main():
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "r.wlt")
        bench = [os.path.join(BIN, "launches")]
        if wanted("launch"):
            command = [os.path.join(BIN, "launchbench"), LAUNCHES]
            table("ns per launch (launchbench)", variants(folder, command, extra=[["--paused"], ["--host-sampling", "0"]]))
            run([WARPLIGHT, "record", "--quiet", "--no-report", "--force", "-o", recording, "--",
                 *command])
            size = os.path.getsize(recording)
            print(f"\nrecording of launchbench: {size} bytes, {size / (5 * int(LAUNCHES) + 1):.1f} bytes per launch with its call")
            held = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            print(f"most memory that any process of this run held: {held} KiB")
        if wanted("threads"):
            table("ns per launch of a thread, 8 threads (launches LAUNCHES/4 8)", variants(folder, bench + [str(int(LAUNCHES) // 4), "8"]))
        if wanted("graphs"):
            table("ns per graph of 20 kernels (launches LAUNCHES/4 1 20)",
                  variants(folder, bench + [str(int(LAUNCHES) // 4), "1", "20"], extra=[["--graph-trace", "node"]]))
        if wanted("ops"):
            op = [sys.executable, OPBENCH]
            cases = variants(folder, op + ["none", OPS], extra=[["--torch-ops"], ["--paused"]])
            cases["torch.profiler, CUDA only"] = lambda: run(op + ["kineto-cuda", OPS])
            cases["torch.profiler, CPU and CUDA"] = lambda: run(op + ["kineto", OPS])
            cases["Triton Proton"] = lambda: run(op + ["proton", OPS])
            table("ns per operator (opbench)", cases)


main()

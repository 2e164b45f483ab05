#!/usr/bin/env python3
"""All programs with a planted bottleneck, recorded by `record` alone on a real GPU, in one go and one after the other:

    python3 tests/gpu/recorded.py WARPLIGHT SCENARIOS TRUTH OUT [SECONDS [NAME…]]

SCENARIOS takes NAME, --steps N and --trace FILE, and marks its steps as the NVTX range "step" (shared/workloads/scenarios.py);
TRUTH has the accepted first findings (shared/data/torch/truth.tsv). Both travel to a lent machine with the checkout's shared/:
put a copy of the two files there, and call it with those paths. Needs PyTorch with CUDA, WARPLIGHT with its injected library
beside it, and some 20 s a program: each runs twice, once recorded and once with torch.profiler (a third time
where it replays graphs, by their nodes). SECONDS (540) is the time for
all; what does not fit is named, and a second call with those names goes on.

A line a program: the first finding of the whole recording and of its steps alone (--annotation step), each with "yes" or "NO";
GPU operations and GPU time of the steps by record ÷ by torch.profiler; what a step takes with each. OUT/recorded.tsv holds the
same as a table, OUT/NAME.txt the first screens. Recordings and traces are deleted. Ends with 1 if a program or a count failed.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

WARPLIGHT, SCENARIOS, TRUTH, OUT = sys.argv[1:5]
SECONDS = float(sys.argv[5]) if len(sys.argv) > 5 else 540
LONGEST = 120  # seconds for one run of a program


def accepted():
    with open(TRUTH) as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    return {row[0]: row[1].split("|") for row in rows}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)


def report(path, *options):
    out = run(WARPLIGHT, "report", "--format", "json", *options, path)
    if out.returncode:
        raise RuntimeError(out.stderr.strip())
    return json.loads(out.stdout)


def screen(path, *options):
    return run(WARPLIGHT, "report", "--lang", "en", *options, path).stdout


def totals(found):
    rows = found["kernels"] + found["copies"]
    return sum(row["count"] for row in rows), sum(row["total_ns"] for row in rows)


def step_ms(out):
    took = re.search(r"([0-9.]+) ms/step", out.stdout)
    return float(took.group(1)) if took else float("nan")


def record(recording, program, *options):
    recorded = run(WARPLIGHT, "record", "-q", "--no-report", "--force", *options, "-o", recording, "--", *program)
    if recorded.returncode:
        raise RuntimeError(recorded.stderr.strip().splitlines()[-1])
    return recorded


def judge(name, right, folder):
    recording, trace = os.path.join(folder, "r.wlt"), os.path.join(folder, "t.json.gz")
    program = [sys.executable, SCENARIOS, name]
    recorded = record(recording, program)
    profiled = run(*program, "--trace", trace)
    whole, steps = report(recording), report(recording, "--annotation", "step")
    with open(os.path.join(OUT, name + ".txt"), "w") as file:
        file.write(screen(recording) + "\n" + screen(recording, "--annotation", "step"))
    first = [found["findings"][0]["id"] if found["findings"] else "none" for found in (whole, steps)]
    size, ours, theirs = os.path.getsize(recording), totals(steps), totals(report(trace))
    if ours[0] != theirs[0]:  # graphs are recorded whole: their nodes are counted in a second recording
        record(recording, program, "--graph-trace", "node")
        ours = totals(report(recording, "--annotation", "step"))
    return {"name": name, "whole": first[0], "whole_right": first[0] in right, "steps": first[1], "steps_right": first[1] in right,
            "start_up_told": "steady" in whole["run"], "ops": ours[0], "ops_torch": theirs[0], "time_ratio": ours[1] / max(theirs[1], 1),
            "ms_record": step_ms(recorded), "ms_torch": step_ms(profiled), "bytes": size,
            "lost": whole["run"]["losses"]["dropped"], "unlinked": whole["run"]["losses"]["unlinked"]}


def line(row):
    def answer(which):
        return f"{row[which]} ({'yes' if row[which + '_right'] else 'NO'})"
    return (f"{row['name']:22} whole: {answer('whole'):32} steps: {answer('steps'):32} operations {row['ops']} of {row['ops_torch']}, "
            f"time {row['time_ratio']:.3f}, ms a step {row['ms_record']:.2f} and {row['ms_torch']:.2f}, "
            f"lost {row['lost']}, without call {row['unlinked']}, {row['bytes']} bytes")


def main():
    os.makedirs(OUT, exist_ok=True)
    truth, began, longest = accepted(), time.monotonic(), 30.0
    names, rows, failed = sys.argv[6:] or list(truth), [], 0
    for at, name in enumerate(names):
        if time.monotonic() - began + longest > SECONDS:
            print(f"no time left for: {' '.join(names[at:])}")
            break
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                rows.append(judge(name, truth[name], folder))
                print(line(rows[-1]), flush=True)
                failed += rows[-1]["ops"] != rows[-1]["ops_torch"]
            except (RuntimeError, KeyError, OSError, ValueError, subprocess.TimeoutExpired) as error:
                print(f"{name:22} FAILED: {error}", flush=True)
                failed += 1
        longest = max(longest, time.monotonic() - start)
    if rows:
        with open(os.path.join(OUT, "recorded.tsv"), "w") as file:
            file.write("\t".join(rows[0]) + "\n" + "".join("\t".join(str(value) for value in row.values()) + "\n" for row in rows))
    print(f"{len(rows)} of {len(names)} programs: whole recording {sum(row['whole_right'] for row in rows)} right, "
          f"steps alone {sum(row['steps_right'] for row in rows)} right, {failed} failed or with other counts")
    sys.exit(1 if failed else 0)


main()

#!/usr/bin/env python3
"""Measured kernels beside Nsight Compute, on a machine with a GPU whose counters are open.

    kernels.py run MEASURE OUT PROGRAM [ARGUMENT…]    measures the program with MEASURE (tests/fake/measure of a build; the
                                                      library in WARPLIGHT_INJECT), in one pass and deep, and with ncu for the
                                                      same counters, into the folder OUT
    kernels.py cost MEASURE ROUNDS PROGRAM [ARGUMENT…] wall time bare, in one pass, deep, sampled, ncu basic, ncu full,
                                                      interleaved
    kernels.py compare LAUNCHES.jsonl NCU.csv         a table of differences, launch by launch in the order of launches

Clocks and caches are left alone: both see the same clock only by luck, so times differ by what it does between two runs.
"""
import csv
import json
import os
import statistics
import subprocess
import sys
import time

NCU = ["ncu", "--clock-control", "none", "--cache-control", "none"]


def launches(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    return [row for row in rows if row.get("metrics") and "launch" in row]


def ncu_rows(path):
    with open(path) as file:
        rows = list(csv.reader(line for line in file if line.startswith('"')))
    return [dict(zip(rows[0], row)) for row in rows[2:]]  # the first row under the header holds units


def differences(ours, theirs):
    """metric → [(difference, kernel, ours, theirs)]. ncu rounds to two digits: what is too small to compare is left out."""
    found = {}
    for our, their in zip(ours, theirs):
        for name, value in our["metrics"].items():
            text = their.get(name, "").replace(",", "")
            if value is None or not text:
                continue
            other = float(text)
            if abs(other) < 1:
                continue
            found.setdefault(name, []).append((abs(value - other) / abs(other), our["name"], value, other))
    return found


def compare(path, ncu_path):
    print("| counter | launches | median | largest | of |\n|---|---|---|---|---|")
    for name, rows in differences(launches(path), ncu_rows(ncu_path)).items():
        worst = max(rows)
        print(f"| `{name}` | {len(rows)} | {statistics.median(row[0] for row in rows):.2%} | {worst[0]:.2%} | "
              f"{worst[1]}: {worst[2]:.6g}, ncu {worst[3]:.6g} |")


def run(measure, out, *program):
    for name, options in (("quick", ()), ("deep", ("-d",))):
        path = os.path.join(out, f"{name}.jsonl")
        subprocess.run([measure, *options, *program], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "MEASURE_OUTPUT": path})
        names = ",".join(launches(path)[0]["metrics"])
        subprocess.run([*NCU, "--csv", "--page", "raw", "--metrics", names, "--log-file", os.path.join(out, f"{name}.csv"),
                        *program], check=True, stdout=subprocess.DEVNULL)
        compare(path, os.path.join(out, f"{name}.csv"))


def cost(measure, rounds, *program):
    ways = {"bare": [], "one pass": [measure], "deep": [measure, "-d"], "sampled": [measure, "-s"],
            "ncu basic": [*NCU, "--set", "basic"], "ncu full": [*NCU, "--set", "full"]}
    seconds = {name: [] for name in ways}
    for _ in range(int(rounds)):
        for name, way in ways.items():
            started = time.monotonic()
            subprocess.run([*way, *program], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            seconds[name].append(time.monotonic() - started)
    bare = statistics.median(seconds["bare"])
    print("| | median s | lowest – highest | ÷ bare |\n|---|---|---|---|")
    for name, all_of_it in seconds.items():
        median = statistics.median(all_of_it)
        print(f"| {name} | {median:.2f} | {min(all_of_it):.2f} – {max(all_of_it):.2f} | {median / bare:.1f} |")


if __name__ == "__main__":
    {"run": run, "cost": cost, "compare": compare}[sys.argv[1]](*sys.argv[2:])

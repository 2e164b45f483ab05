#!/usr/bin/env python3
"""Counts of programs whose work is known, on a real GPU: python3 tests/gpu/exact.py WARPLIGHT BIN

BIN holds teaching, launchbench and launches. What each launches and copies follows from its source; a recording must say the
same, with no loss. Prints a table and ends with 1 where anything differs.
"""
import json
import os
import subprocess
import sys
import tempfile

WARPLIGHT, BIN = sys.argv[1:3]
TWICE = ["saxpy", "transpose_naive", "transpose_tile", "transpose_padded", "reduce_modulo", "reduce_shuffle", "gemm_naive",
         "histogram_hot", "divergent", "aos_field", "register_spill", "fp64_literal", "odd_block"]
# program, arguments → kernels by name, copies by direction as (count, bytes)
PROGRAMS = [
    (["teaching"], {**{name: 2 for name in TWICE}, "busy_blocks": 4}, {"HtoD": (9, 9 * (1 << 28))}),
    (["launchbench", "20000"], {"tiny": 5 * 20000 + 1}, {}),
    (["launches", "5000", "8"], {"tiny": 5 * 5000 * 8 + 16}, {}),
    (["launches", "500", "1", "20", "--graph-trace", "node"], {"tiny": (5 * 500 + 16) * 20}, {}),
]


def record(command, folder):
    options = command[command.index("--graph-trace"):] if "--graph-trace" in command else []
    command = [c for c in command if c not in options]
    recording = os.path.join(folder, "r.wlt")
    subprocess.run([WARPLIGHT, "record", "-q", "--no-report", "--force", *options, "-o", recording, "--",
                    os.path.join(BIN, command[0]), *command[1:]], check=True, stdout=subprocess.DEVNULL)
    out = subprocess.run([WARPLIGHT, "report", "--format", "json", recording], check=True, capture_output=True)
    return json.loads(out.stdout)


def main():
    wrong = 0
    print("| program | what | launched | recorded |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for command, kernels, copies in PROGRAMS:
            report = record(command, folder)
            found = {}
            for kernel in report["kernels"]:
                name = kernel["short_name"]
                found[name] = found.get(name, 0) + kernel["count"]
            rows = [(name, count, found.pop(name, 0)) for name, count in kernels.items()]
            rows += [(name, 0, count) for name, count in found.items()]
            for direction, want in copies.items():
                moved = [copy for copy in report["copies"] if copy["kind"].startswith(direction)]
                got = sum(copy["count"] for copy in moved), sum(copy["bytes"] for copy in moved)
                rows.append((f"{direction} copies, bytes", want, got))
            rows += [(f"losses.{key}", 0, value) for key, value in report["run"]["losses"].items()]
            for what, want, got in rows:
                wrong += want != got
                if want != got or want != 0:
                    print(f"| {' '.join(command)} | {what} | {want} | {got}{'' if want == got else ' **differs**'} |")
    print(f"\n{wrong} differ.")
    sys.exit(1 if wrong else 0)


main()

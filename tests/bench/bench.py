#!/usr/bin/env python3
"""Speed and memory of `warplight report` on made traces, next to the physical floor and to peers, in one run.

    bench.py --build BUILD [--events N ...] [--repeat N] [--save FILE.md]

Each size is generated into a temporary folder. The programs take turns on the same file, so that a slow moment
of the machine meets all of them, and the median of the rounds counts. What is compared:

    floor      reads every byte of the file and does nothing with it
    report     warplight report, text: reads the file, builds the run, does all analyses
    json.load  Python's C parser, which yields plain objects and analyses nothing

A second table has the processor time of the phases: reading and modelling, sealing (sort, nest, link), analysing.

Seconds are wall time; "cpu" is the processor time of all threads. Peak memory cannot be seen below that of this
script, about 15 MiB.

Nothing is written into the tree unless --save asks for it. BENCH_MAX=2e7 in the environment raises the largest
size; the default fits in about two minutes on two cores.
"""
import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = [100_000, 1_000_000, 4_000_000, 20_000_000]
ONE_ROUND_ABOVE = 1_000_000   # events: larger files are run once
NO_PEER_ABOVE = 5_000_000     # json.load needs more than 1 KiB an event
JSON_LOAD = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"
FLOOR = """
import sys
with open(sys.argv[1], 'rb', buffering=0) as file:
    buffer = bytearray(1 << 20)
    while file.readinto(buffer):
        pass
"""


class Result:
    def __init__(self):
        self.wall = []
        self.cpu = []
        self.peak_bytes = 0

    def seconds(self):
        return statistics.median(self.wall)


def measure(argv, result):
    """Runs argv once and adds its wall time, processor time and peak memory."""
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                 env=dict(os.environ, LC_ALL="C.UTF-8"))
        _, status, usage = os.wait4(child.pid, 0)
        result.wall.append(time.perf_counter() - start)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            errors.seek(0)
            sys.exit(f"bench: {argv[0]} ended with {child.returncode}: {errors.read().decode(errors='replace').strip()}")
    result.cpu.append(usage.ru_utime + usage.ru_stime)
    result.peak_bytes = max(result.peak_bytes, usage.ru_maxrss * 1024)


def human(size):
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.2f} GiB"


def bench(program, generator, phase_program, events, repeat, folder):
    """Returns the rows of both tables."""
    path = Path(folder) / f"{events}.json"
    with path.open("wb") as out:
        subprocess.run([generator, str(events)], stdout=out, check=True)
    size = path.stat().st_size
    commands = {
        "floor": [sys.executable, "-S", "-c", FLOOR, str(path)],
        "report": [program, "report", str(path)],
        "json.load": [sys.executable, "-S", "-c", JSON_LOAD, str(path)],
    }
    if events > NO_PEER_ABOVE:
        del commands["json.load"]
    results = {name: Result() for name in commands}
    for _ in range(repeat):
        for name, argv in commands.items():
            measure(argv, results[name])
    phases = json.loads(subprocess.run([phase_program, str(path)], capture_output=True, check=True).stdout)
    path.unlink()

    report = results["report"].seconds()
    return [(f"{events:,}", human(size), name, f"{result.seconds():.3f}", f"{result.seconds() / report:.2f}",
             f"{statistics.median(result.cpu):.3f}", f"{result.seconds() * 1e9 / events:.0f}",
             f"{size / result.seconds() / 1e6:.0f}", human(result.peak_bytes), f"{result.peak_bytes / size:.2f}")
            for name, result in results.items()], phase_rows(events, size, phases)


def phase_rows(events, size, phases):
    analysed = phases["seal_s"] + phases["analyse_s"]
    return [(f"{events:,}", f"{phases['rows']:,}", f"{phases['read_s']:.3f}", f"{size / phases['read_s'] / 1e6:.0f}",
             f"{phases['seal_s']:.3f}", f"{phases['analyse_s']:.3f}", f"{events / phases['analyse_s'] / 1e6:.1f}",
             f"{events / analysed / 1e6:.1f}")]


PHASE_HEAD = ("events", "rows", "read, cpu s", "read, MB/s", "seal, cpu s", "analyse, cpu s", "analyse, M events/s",
              "seal and analyse, M events/s")
HEAD = ("events", "file", "what", "seconds", "ratio to report", "cpu", "ns/event", "MB/s", "peak memory",
        "memory ÷ file")


def table(head, rows):
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    lines = [head, tuple("-" * (w - 1) + (":" if i != 2 else "-") for i, w in enumerate(widths)), *rows]
    return "\n".join("| " + " | ".join(cell.ljust(w) if i == 2 else cell.rjust(w)
                                       for i, (cell, w) in enumerate(zip(line, widths))) + " |"
                     for line in lines)


def machine():
    model = "unknown processor"
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
        model = found[1] if found else model
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True, help="a Meson build folder with an optimised build")
    parser.add_argument("--events", type=int, nargs="+", help="sizes of the traces")
    parser.add_argument("--repeat", type=int, default=3, help="rounds a size (default 3)")
    parser.add_argument("--save", metavar="FILE", help="also write the table as Markdown")
    arguments = parser.parse_args()

    largest = float(os.environ.get("BENCH_MAX", "4e6"))
    sizes = arguments.events or [n for n in SIZES if n <= largest]
    program = str(Path(arguments.build) / "src/cmd/warplight")
    generator = str(Path(arguments.build) / "tests/bench/gen_trace")
    phase_program = str(Path(arguments.build) / "tests/bench/phases")
    rows, parts = [], []
    with tempfile.TemporaryDirectory(prefix="warplight-bench-") as folder:
        for events in sizes:
            print(f"bench: {events:,} events …", file=sys.stderr)
            rounds = arguments.repeat if events <= ONE_ROUND_ABOVE else 1
            whole, phases = bench(program, generator, phase_program, events, rounds, folder)
            rows += whole
            parts += phases
    text = table(HEAD, rows) + "\n\n" + table(PHASE_HEAD, parts)
    print(text)
    if arguments.save:
        version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
        Path(arguments.save).write_text(
            f"# Speed of `warplight report`\n\n{time.strftime('%Y-%m-%d')}, {version}, {machine()}. Made by "
            f"`make bench`; what the columns mean is in `tests/bench/bench.py`.\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

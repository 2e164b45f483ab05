#!/usr/bin/env python3
"""`warplight top` on a real GPU: when its first screen is there, what it costs beside nvidia-smi, and whether what it
shows is what nvidia-smi says.

    python3 tests/gpu/top.py WARPLIGHT [SECONDS]

Needs: Linux, an NVIDIA GPU with its driver, nvidia-smi; Python 3.11; no packages. A load makes the comparison worth
more: run one beside it, as `tests/gpu/scenarios.py`. Nothing is changed on the GPU, and no signal is sent to anybody.

What it prints, one line each:

    first screen      ms from the start of the program to a screen with values of the GPU, ten starts
    own cost          CPU time per second of top with its workers, and resident memory, at 1 s and at 100 ms, and of
                      `nvidia-smi -l 1` and `nvidia-smi -lms 100` beside it: the two take turns
    values            of a screen and of an `nvidia-smi --query-gpu` right after it; they fail by more than the
                      tolerance that is named, which covers that the GPU goes on between the two
    end               the terminal is as it was

Ends with 0 if the values agree and the terminal is restored. Times are printed and not judged.
"""
import os
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fake"))
from cost import per_second  # noqa: E402
from terminal import Terminal  # noqa: E402


def environment():
    return {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "WARPLIGHT_LANG": "en"}


def start(program, *arguments):
    return Terminal([program, "top", "--no-config", "--read-only", *arguments], 50, 160, environment())


def shows_values(screen):
    return re.search(r"\d W", screen.text())


def first_screen(program):
    times = []
    for _ in range(10):
        begun = time.monotonic()
        screen = start(program)
        screen.wait_for(shows_values, "power of a GPU")
        times.append((time.monotonic() - begun) * 1e3)
        screen.type("q")
        screen.wait_for_end()
        screen.close()
    print(f"first screen: median {statistics.median(times):.1f} ms, from {min(times):.1f} to {max(times):.1f} ms")


def costs_of(pid, seconds, pump):
    time.sleep(2)  # past what starting costs
    return per_second(pid, seconds, pump)


def compare_costs(program, seconds):
    for name, interval, loop in (("1 s", "1s", ("-l", "1")), ("100 ms", "100ms", ("-lms", "100"))):
        screen = start(program, "-i", interval)
        screen.wait_for(shows_values, "power of a GPU")
        own, memory = costs_of(screen.pid, seconds, lambda screen=screen: screen._read(0.1))
        screen.type("q")
        screen.wait_for_end()
        screen.close()
        smi = subprocess.Popen(["nvidia-smi", *loop], stdout=subprocess.DEVNULL)
        theirs, their_memory = costs_of(smi.pid, seconds, lambda: time.sleep(0.1))
        smi.terminate()
        smi.wait()
        ratio = f"{own / theirs:.2f}" if theirs else "–"
        print(f"own cost at {name}: {own / 1e7:.3f} % of a CPU, {memory / 2**20:.1f} MiB; nvidia-smi {' '.join(loop)}: "
              f"{theirs / 1e7:.3f} %, {their_memory / 2**20:.1f} MiB; ratio {ratio}")


BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def query():
    keys = "memory.used,memory.total,power.draw,temperature.gpu,clocks.sm"
    out = subprocess.run(["nvidia-smi", f"--query-gpu={keys}", "--format=csv,noheader,nounits", "-i", "0"],
                         check=True, capture_output=True, text=True).stdout
    return dict(zip(keys.split(","), [field.strip() for field in out.strip().split(",")]))


def shown(screen, pattern):
    """The first number that the pattern finds; of bytes in GiB. Without a unit it has that of the number after the slash."""
    found = re.search(pattern, screen.text())
    if not found:
        return None
    value = float(found[1].replace(",", ""))
    unit = next((group for group in found.groups()[1:] if group in BYTES), None)
    return value * BYTES[unit] / BYTES["GiB"] if unit else value


def compare_values(program):
    """(name, pattern on the screen, key of nvidia-smi, factor, tolerance as a share, and absolute)"""
    rows = (("memory used", r"memory\s+\S*\s+([\d,.]+)(?: ([KMGT]?i?B))? / [\d,.]+ ([KMGT]iB)", "memory.used", 1 / 1024,
             0.02, 0.6),
            ("power", r"power\s+\S*\s+([\d,.]+)(?: W)? / [\d,.]+ W", "power.draw", 1, 0.25, 15),
            ("temperature", r"temperature\s+\S*\s+([\d.]+)(?: °C)? / [\d.]+ °C", "temperature.gpu", 1, 0, 4),
            ("clock", r"clock\s+\S*\s+([\d,.]+)(?: MHz)? / [\d,.]+ MHz", "clocks.sm", 1, 0.25, 60))
    screen = start(program, "-i", "200ms")
    screen.wait_for(shows_values, "power of a GPU")
    for _ in range(20):
        screen._read(0.1)
    smi = query()
    failed = 0
    for name, pattern, key, factor, share, absolute in rows:
        ours = shown(screen, pattern)
        try:
            theirs = float(smi[key]) * factor
        except ValueError:
            print(f"values: {name}: top {ours}, nvidia-smi says {smi[key]}")
            continue
        good = ours is not None and abs(ours - theirs) <= absolute + share * abs(theirs)
        failed += not good
        print(f"values: {name}: top {ours}, nvidia-smi {theirs:.2f}, tolerance {absolute} + {share:.0%}: "
              f"{'agree' if good else 'DIFFER'}")
    print(screen.text())
    screen.type("q")
    status = screen.wait_for_end()
    restored = screen.is_restored()
    print(f"end: status {status}, terminal {'restored' if restored else 'NOT RESTORED'}")
    screen.close()
    return failed == 0 and status == 0 and bool(restored)


def main():
    program = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    first_screen(program)
    compare_costs(program, seconds)
    return 0 if compare_values(program) else 1


if __name__ == "__main__":
    sys.exit(main())

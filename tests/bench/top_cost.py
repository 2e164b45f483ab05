#!/usr/bin/env python3
"""What `warplight top` costs with a fake driver that answers at once, next to its floor, in one run.

    top_cost.py --build BUILD [--seconds N]

    top       the program on a pseudo-terminal of 160 × 50, with its workers
    sample    the floor: `warplight sample -f csv` asks the same driver as often and draws nothing
    start     ms until the first values are on the screen, median of ten; its floor is `warplight --version` there

CPU is that of the processes and their children, in per mille of one CPU; memory is resident. Compare ratios, not
numbers: they hold on other machines.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fake"))
from cost import per_second  # noqa: E402
from terminal import Terminal  # noqa: E402


def machine(folder, gpus):
    for index in range(gpus):
        device = os.path.join(folder, "bus/pci/devices", f"0000:{0x3b + index:02x}:00.0")
        os.makedirs(os.path.join(device, "power"), exist_ok=True)
        for name, text in (("vendor", "0x10de"), ("class", "0x030200"), ("device", "0x2330"), ("uevent", "DRIVER=nvidia"),
                           ("power/runtime_status", "active")):
            with open(os.path.join(device, name), "w", encoding="ascii") as file:
                file.write(text + "\n")


def run_top(program, environment, interval, seconds):
    screen = Terminal([program, "top", "--no-config", "-i", interval], 50, 160, environment)
    screen.wait_for("2.50 %")  # a rate: the second sample is there
    result = per_second(screen.pid, seconds, lambda: screen._read(0.05))
    screen.type("q")
    screen.wait_for_end()
    screen.close()
    return result


def run_sample(program, environment, interval, seconds):
    child = subprocess.Popen([program, "sample", "-f", "csv", "-i", interval], env=environment, stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    result = per_second(child.pid, seconds, lambda: time.sleep(0.05))
    child.terminate()
    child.wait()
    return result


def start_time(argv, environment, text):
    begun = time.monotonic()
    screen = Terminal(argv, 50, 160, environment)
    screen.wait_for(text)
    taken = (time.monotonic() - begun) * 1e3
    screen.type("q")
    screen.wait_for_end()
    screen.close()
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True, help="a Meson build folder with an optimised build")
    parser.add_argument("--seconds", type=float, default=8, help="of each measurement (default 8)")
    arguments = parser.parse_args()
    program = os.path.abspath(os.path.join(arguments.build, "src/cmd/warplight"))
    nvml = os.path.abspath(os.path.join(arguments.build, "tests/fake/libfake-nvml.so"))
    print("| GPUs | every | top, ‰ CPU | sample, ‰ CPU | ratio | top, MiB | sample, MiB |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for gpus in (1, 8, 16):
        with tempfile.TemporaryDirectory(prefix="warplight-bench-") as folder:
            machine(folder, gpus)
            environment = {**os.environ, "WARPLIGHT_NVML": nvml, "WARPLIGHT_SYSFS": folder, "FAKE_NVML_GPUS": str(gpus),
                           "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "WARPLIGHT_LANG": "en"}
            for interval in ("1s", "100ms"):
                top, memory = run_top(program, environment, interval, arguments.seconds)
                floor, floor_memory = run_sample(program, environment, interval, arguments.seconds)
                ratio = f"{top / floor:.2f}" if floor else "–"
                print(f"| {gpus} | {interval} | {top / 1e6:.1f} | {floor / 1e6:.1f} | {ratio} | {memory / 2**20:.1f} | "
                      f"{floor_memory / 2**20:.1f} |", flush=True)
            if gpus == 8:
                tops = [start_time([program, "top", "--no-config"], environment, "99.0 %") for _ in range(10)]
                floors = [start_time([program, "--version"], environment, "warplight") for _ in range(10)]
                starts = f"first values of 8 GPUs after {statistics.median(tops):.1f} ms; --version after " \
                         f"{statistics.median(floors):.1f} ms"
    print(f"\n{starts}")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What `warplight sample` costs with a fake driver that answers at once, next to its floor, in one run.

    sample_cost.py --build BUILD [--seconds N]

    floor      one process that makes the calls of a device's values and writes a line (nvml_floor.c): no worker that may
               hang, no rates, links, processes or host
    devices    warplight sample -f csv --no-processes
    all        warplight sample -f json: processes, host, links and Xids, too

Ten samples a second. CPU is that of a program and its children by sample, in µs; memory is resident, of all of them.
Compare ratios, not numbers: they hold on other machines. Nothing is asserted.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fake"))
from cost import per_second  # noqa: E402
from top_cost import machine  # noqa: E402

A_SECOND = 10


def run(argv, environment, seconds):
    """CPU by sample in µs, and resident bytes."""
    child = subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL)
    time.sleep(1)  # the driver is open
    cpu_ns, memory = per_second(child.pid, seconds, lambda: time.sleep(0.05))
    child.terminate()
    child.wait()
    return cpu_ns / 1e3 / A_SECOND, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True, help="a Meson build folder with an optimised build")
    parser.add_argument("--seconds", type=float, default=8, help="of each measurement (default 8)")
    arguments = parser.parse_args()
    program, floor, nvml = (os.path.abspath(os.path.join(arguments.build, path)) for path in (
        "src/cmd/warplight", "tests/bench/nvml_floor", "tests/fake/libfake-nvml.so"))
    print("| GPUs | program | CPU, µs a sample | ratio | memory, MiB |\n|---:|---|---:|---:|---:|")
    for gpus in (1, 8):
        with tempfile.TemporaryDirectory(prefix="warplight-bench-") as folder:
            machine(folder, gpus)
            environment = {**os.environ, "WARPLIGHT_NVML": nvml, "WARPLIGHT_SYSFS": folder, "FAKE_NVML_GPUS": str(gpus),
                           "FAKE_NVML_PROCESSES": f"{os.getpid()}:1024:40", "LC_ALL": "C.UTF-8"}
            sample = [program, "sample", "-i", f"{1000 // A_SECOND}ms"]
            least = None
            for name, argv in (("floor", [floor, str(1000 // A_SECOND), str(gpus)]),
                               ("devices", [*sample, "-f", "csv", "--no-processes"]), ("all", [*sample, "-f", "json"])):
                cpu, memory = run(argv, environment, arguments.seconds)
                least = least or cpu
                ratio = f"{cpu / least:.1f}" if least else "–"
                print(f"| {gpus} | {name} | {cpu:.0f} | {ratio} | {memory / 2**20:.1f} |", flush=True)


if __name__ == "__main__":
    main()

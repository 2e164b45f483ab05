#!/usr/bin/env python3
"""`record` on a real GPU, beyond its counts: python3 tests/gpu/live.py WARPLIGHT [CASE…]

Needs PyTorch with CUDA; WARPLIGHT's injected library is found beside it. Cases (all of them by default, some three minutes; each
prints a line, and the last line says how many failed):

native     host code in C between launches (zlib, by Python) is named by the samples of perf_event_open(2)
ctl        20 stops and starts while 8 threads launch: the program ends well, and what a launch costs before, recorded and stopped
slow-step  a step of 400 ms among steps of some ms makes one snapshot that holds it
killed     how much of a program is there that was killed 0.05, 0.2 and 1 s after its launches
demo       `make demo`, in the folder that it is called from (a checkout with what `make demo` needs)
"""
import glob
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

WARPLIGHT = os.path.abspath(sys.argv[1])

NATIVE = """
import os, torch, zlib
data, x = os.urandom(1 << 20), torch.zeros(1 << 20, device="cuda")
def prepare():
    return zlib.compress(data, 6)  # the line
for _ in range(60):
    prepare()
    x.add_(1)
torch.cuda.synchronize()
with open("/proc/self/maps") as maps:
    print(*{os.path.basename(line.split()[-1]) for line in maps if "/libz." in line or "/libz-" in line})
"""
# Where zlib spends its time on noise; others that have a name, such as adler32_z, take a few percent of it.
LONG_IN_ZLIB = re.compile(r"deflate\w*|longest_match\w*|compress_block|_tr_\w+|zlib_compress\w*|fill_window")

# 8 threads launch for ever; each line on standard input is answered by what a launch took since the line before.
THREADS = """
import sys, threading, time, torch
done, counts = threading.Event(), [0] * 8
def launch(number):
    stream, x = torch.cuda.Stream(), torch.zeros(64, device="cuda")
    with torch.cuda.stream(stream):
        while not done.is_set():
            for _ in range(200):
                x.add_(1)
            counts[number] += 200
            stream.synchronize()
threads = [threading.Thread(target=launch, args=(n,)) for n in range(8)]
[thread.start() for thread in threads]
for line in sys.stdin:
    before, start = sum(counts), time.perf_counter()
    time.sleep(0.5)
    print((time.perf_counter() - start) * 1e9 / max(1, sum(counts) - before), flush=True)
done.set()
[thread.join() for thread in threads]
torch.cuda.synchronize()
"""

STEPS = """
import time, torch
a = torch.randn(2048, 2048, device="cuda")
for i in range(400):
    torch.cuda.nvtx.range_push("step")
    for _ in range(20):
        a @ a
    torch.cuda.synchronize()
    if i == 300:
        time.sleep(0.4)
    torch.cuda.nvtx.range_pop()
time.sleep(1)
"""

KILLED = """
import os, signal, sys, time, torch
x = torch.zeros(64, device="cuda")
x.add_(1); torch.cuda.synchronize(); time.sleep(1)
for _ in range(3000):
    x.add_(1)
torch.cuda.synchronize()
time.sleep(float(sys.argv[1]))
os.kill(os.getpid(), signal.SIGKILL)
"""


def record(folder, *options, program, arguments=(), **popen):
    path = os.path.join(folder, "r.wlt")
    command = [WARPLIGHT, "record", "--no-report", "--force", "-o", path, *options, "--", sys.executable, "-c", program, *arguments]
    return path, subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, **popen)


def report(path):
    out = subprocess.run([WARPLIGHT, "report", "--format", "json", path], capture_output=True, text=True, timeout=120)
    if out.returncode:
        raise RuntimeError(out.stderr)
    return json.loads(out.stdout)


def launches(path):
    return sum(kernel["count"] for kernel in report(path)["kernels"])


def finish(process, seconds=120):
    out, errors = process.communicate(timeout=seconds)
    return process.returncode, out, errors


def native(folder):
    """Of a library without symbols nothing but its own name is known; a name that is told has to be the right one."""
    path, process = record(folder, program=NATIVE)
    code, out, errors = finish(process)
    found, libraries = report(path), out.split()
    line = next(number for number, text in enumerate(NATIVE.splitlines(), 1) if "# the line" in text)
    rows = [row for row in found["culprits"] if row["cause"] == "idle:host-compute" and "prepare" in (row["frame"] or "")]
    texts = [evidence["text"] for finding in found["findings"] if finding["id"] == "idle-host-compute"
             for evidence in finding["evidence"] if f"<string>:{line}: prepare" in evidence["text"]]
    if code or not rows or not texts:
        return False, f"exit {code}, {len(rows)} culprits, {errors[-300:]}"
    told = re.search(r"mostly inside (\S+?)(?:: (\S+))?$", texts[0])
    said = f"{texts[0]} ({rows[0]['inside']} for {rows[0]['inside_ns'] or 0} of {rows[0]['total_ns']} ns)"
    if not told:
        return not libraries, said + (f", although {libraries} are mapped" if libraries else ": zlib is in the interpreter")
    where, function = told.groups()
    named = function is None or bool(LONG_IN_ZLIB.fullmatch(function))
    return (where in libraries or where.startswith("zlib")) and named, said


def ctl(folder):
    path, process = record(folder, "--paused", program=THREADS, stdin=subprocess.PIPE)

    def ask():
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    def tell(word):
        return subprocess.run([WARPLIGHT, "ctl", word, str(process.pid)], capture_output=True, text=True, timeout=60).returncode
    ask()
    before, recorded, stopped, failed = [ask() for _ in range(3)], [], [], 0
    for _ in range(20):
        failed += tell("start") != 0
        recorded.append(ask())
        failed += tell("stop") != 0
        stopped.append(ask())
    code, _, errors = finish(process)
    found = report(path)
    medians = [statistics.median(values) for values in (before, recorded, stopped)]
    said = (f"exit {code}, {failed} of 40 switches failed, {launches(path)} kernels, losses {found['run']['losses']}; ns between launches of all threads: "
            f"never started {medians[0]:.0f}, recorded {medians[1]:.0f}, stopped {medians[2]:.0f} "
            f"(first {stopped[0]:.0f}, last {stopped[-1]:.0f})")
    return code == 0 and failed == 0 and launches(path) > 0, said + ("" if code == 0 else errors[-300:])


def slow_step(folder):
    _, process = record(folder, "--keep", "20s", "--on-slow-step", "10x", "--step", "step", program=STEPS)
    code, _, errors = finish(process)
    files = sorted(glob.glob(os.path.join(folder, "r-*.wlt")))
    reasons = []
    for file in files:
        facts = {fact["key"]: fact["value"] for fact in report(file)["facts"]}
        reasons.append(facts.get("snapshot_reason", "?"))
    slow = [reason for reason in reasons if re.match(r"slow step: step took [34]\d{5} us", reason)]
    return code == 0 and len(slow) == 1, f"exit {code}, snapshots: {reasons}, {errors.strip().splitlines()[-1:]}"


def killed(folder):
    kept = []
    for seconds in ("0.05", "0.2", "1"):
        path, process = record(folder, program=KILLED, arguments=[seconds])
        code, _, _ = finish(process)
        kept.append((seconds, code, launches(path)))
    whole = all(code == 128 + signal.SIGKILL for _, code, _ in kept) and kept[-1][2] >= 3001
    return whole, ", ".join(f"after {seconds} s {count} of 3001 or more" for seconds, _, count in kept)


def demo(_):
    began = time.monotonic()
    out = subprocess.run(["make", "demo"], capture_output=True, text=True, timeout=590)
    last = (out.stdout + out.stderr).strip().splitlines()[-1:]
    return out.returncode == 0, f"exit {out.returncode} after {time.monotonic() - began:.0f} s: {last}"


CASES = {"native": native, "ctl": ctl, "slow-step": slow_step, "killed": killed, "demo": demo}


def main():
    failed = 0
    names = sys.argv[2:] or list(CASES)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                good, said = CASES[name](folder)
            except (RuntimeError, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
                good, said = False, repr(error)
        failed += not good
        print(f"{name:10} {'ok' if good else 'FAILED'}: {said}", flush=True)
    print(f"{failed} of {len(names)} failed")
    sys.exit(1 if failed else 0)


main()

#!/usr/bin/env python3
"""Proves `warplight kernels -- PROGRAM` on a machine with a GPU, in one go:

    kernels.py WARPLIGHT OUT TEACHING TRANSPOSE TRUTH [SECONDS]

WARPLIGHT  the program; WARPLIGHT_INJECT names its library where it is not installed, WARPLIGHT_CUPTI a CUPTI of 12.6 or newer
OUT        a folder: OUT/kernels.md is written as results come, what they were made from lies beside it
TEACHING   a program of kernels with one planted property each, launched twice, compiled with -lineinfo
TRANSPOSE  the program of doc/transpose.md, compiled with -lineinfo
TRUTH      lines of kernel (a grid and block after @ where it has several), findings that are right first, property
SECONDS    what it may take (480): what does not fit any more is left out and said

Wanted besides: ncu on the PATH (or in NCU), a python3 with PyTorch (or in PYTHON), open counters: root. Each is left out where it
is missing. Parts, the most telling first: values beside Nsight Compute's, findings against the truth, transposes with their hottest
lines, CUDA graphs, counters that are locked, then cost, interleaved for as long as there is time.

Clocks and caches are left alone: two runs see the same clock only by luck, so times differ by what it does between them.
"""
import csv
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

WARPLIGHT, OUT, TEACHING, TRANSPOSE, TRUTH = (os.path.abspath(path) for path in sys.argv[1:6])
END = time.monotonic() + (float(sys.argv[6]) if len(sys.argv) > 6 else 480)
NCU = [os.environ.get("NCU", "ncu"), "--clock-control", "none", "--cache-control", "none", "--force-overwrite"]
PYTHON = os.environ.get("PYTHON", "python3")
HAS_NCU = shutil.which(NCU[0]) is not None

STEP = """
import sys, time, torch
def layer():
    return torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True, device="cuda", dtype=torch.bfloat16)
model = torch.nn.Sequential(*[layer() for _ in range(6)])
optimizer = torch.optim.AdamW(model.parameters())
x = torch.randn(16, 512, 1024, device="cuda", dtype=torch.bfloat16)
steps, times = int(sys.argv[1]), []
for _ in range(steps):
    torch.cuda.synchronize()
    begun = time.perf_counter()
    model(x).float().square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.synchronize()
    times.append(time.perf_counter() - begun)
print("first", sum(times[:3]), "last", sum(times[-10:]) / 10)
"""
GRAPH = """
import torch
x = torch.randn(4096, 4096, device="cuda")
for _ in range(3):
    y = (x @ x).relu().sin().sum()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = (x @ x).relu().sin().sum()
begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
for i in range(20):
    graph.replay()
    if i < 3:  # a kernel that is new takes turns with the graph
        [torch.cos, torch.tanh, torch.erf][i](x)
torch.cuda.synchronize()
begin.record()
for _ in range(50):
    graph.replay()
end.record()
torch.cuda.synchronize()
print("replay", begin.elapsed_time(end) / 50 * 1e6)
"""


# ---- running ---------------------------------------------------------------------------------------------------


def say(text=""):
    print(text, flush=True)
    with open(os.path.join(OUT, "kernels.md"), "a") as file:
        file.write(text + "\n")


def left():
    return END - time.monotonic()


def run(command, most=120, **environment):
    """(seconds, output, errors), or None where it fails or there is no time."""
    limit = min(most, left())
    if limit < 2:
        return None
    begun = time.monotonic()
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=OUT, start_new_session=True,
                                   env={**os.environ, "WARPLIGHT_LANG": "en", **environment})
    except OSError as failure:
        say(f"\n`{' '.join(command)[:160]}`: {failure}")
        return None
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # what a profiler started as well: it would keep the counters
        process.communicate()
        say(f"\n`{' '.join(command)[:160]}` took more than {limit:.0f} s")
        return None
    if process.returncode != 0:
        say(f"\n`{' '.join(command)[:160]}` ended with {process.returncode}: {errors.strip()[-400:]}")
        return None
    return time.monotonic() - begun, output, errors


def kernels(name, options, program):
    """Rows of `warplight kernels`, of a program or (no program) of files among the options."""
    path = os.path.join(OUT, name + ".json")
    command = [WARPLIGHT, "kernels", *options, "--format", "json", "-o", path, *(["--", *program] if program else [])]
    out = run(command)
    if not out:
        return []
    with open(os.path.join(OUT, name + ".txt"), "w") as file:
        file.write(out[2])
    with open(path) as file:
        return json.load(file)["kernels"]


def key_of(kernel):
    """Demanglers spell parameters differently: names are compared without them."""
    return kernel["name"].split("(")[0], tuple(kernel["grid"] or ()), tuple(kernel["block"] or ())


def script(name, text):
    path = os.path.join(OUT, name)
    with open(path, "w") as file:
        file.write(text)
    return path


# ---- parts -----------------------------------------------------------------------------------------------------


def machine():
    say("# Live counters on hardware\n\n" + time.strftime("%Y-%m-%d"))
    for command in (["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], [NCU[0], "--version"],
                    [WARPLIGHT, "--version"], [PYTHON, "-c", "import torch; print('torch', torch.__version__)"]):
        out = run(command, 30) if shutil.which(command[0]) else None
        say(f"- {command[0]}: {out[1].strip().splitlines()[0] if out else 'not there'}")


def compare(ours, theirs):
    """Each canonical metric beside that of Nsight Compute's report, kernel by kernel."""
    found, reports = {}, {key_of(kernel): kernel for kernel in theirs}
    for kernel in ours:
        other = reports.get(key_of(kernel))
        for metric, value in (kernel["metrics"].items() if other else ()):
            their = other["metrics"].get(metric)
            if not isinstance(value, (int, float)) or not isinstance(their, (int, float)):
                continue
            least = 0.01 if metric.endswith("_ratio") else 1
            if abs(their) < least and abs(value) < least:
                continue
            found.setdefault(metric, []).append((abs(value - their) / max(abs(their), least), kernel["name"], value, their))
    say("\n| metric | kernels | median | largest | of: ours, ncu |\n|---|---|---|---|---|")
    for metric, rows in sorted(found.items()):
        worst = max(rows)
        say(f"| `{metric}` | {len(rows)} | {statistics.median(row[0] for row in rows):.2%} | {worst[0]:.2%} | "
            f"{worst[1][:40]}: {worst[2]:.6g}, {worst[3]:.6g} |")


def values():
    say("\n## Values beside Nsight Compute (--set full)")
    quick = kernels("quick", ["--launches", "0"], [TEACHING])
    deep = kernels("deep", ["--deep", "--stalls"], [TEACHING])
    report = os.path.join(OUT, "teaching.ncu-rep")
    if HAS_NCU and not os.path.exists(report):
        run([*NCU, "--set", "full", "--import-source", "yes", "-o", report[:-len(".ncu-rep")], TEACHING], 150)
    theirs = kernels("ncu", [report], []) if os.path.exists(report) else []
    for name, ours in (("one pass", quick), ("--deep", deep)):
        say(f"\n{name}: {len(ours)} kernels, {len(theirs)} in the report")
        compare(ours, theirs)
    return quick, deep


def findings(quick, deep):
    for name, ours in (("--deep --stalls", deep), ("one pass", quick)):
        against_the_truth(name, ours)


def against_the_truth(title, ours):
    say(f"\n## Findings of a live run ({title}) against the truth\n")
    say("| kernel | right first | found first | line | |\n|---|---|---|---|---|")
    right = count = 0
    with open(TRUTH) as file:
        truth = [line.rstrip("\n").split("\t") for line in file][1:]
    for name, accepted, *_ in truth:
        name, _, shape = name.partition("@")
        grid = [int(part) for part in shape.split("x")] if shape else None
        for kernel in ours:
            if kernel["name"].split("(")[0] != name or (grid and [kernel["grid"][0], kernel["block"][0]] != grid):
                continue
            first = kernel["findings"][0] if kernel["findings"] else {"id": "none", "file": None, "line": None}
            good = first["id"] in accepted.split("|")
            right, count = right + good, count + 1
            place = f"{os.path.basename(first['file'])}:{first['line']}" if first["file"] else ""
            say(f"| {name} {shape} | {accepted.replace('|', ' or ')} | {first['id']} | {place} | {'right' if good else '**wrong**'} |")
            break
    say(f"\n{right} of {count} right, of {len(truth)} in the truth.")


def transposes():
    say("\n## Transposes, before and after\n")
    say("| kernel | a launch, µs | first finding | promised of its time | hottest line | its first reasons |\n|---|---|---|---|---|---|")
    ours = kernels("transpose", ["--deep", "--stalls"], [TRANSPOSE])
    for kernel in ours:
        duration = kernel["metrics"]["duration_ns"]
        first = kernel["findings"][0] if kernel["findings"] else None
        promised = [ns / kernel["total_ns"] for ns in first["saving_ns"]] if first and kernel["total_ns"] else [0, 0]
        line = kernel["lines"][0] if kernel["lines"] else {}
        reasons = sorted(line.get("stalls", {}).items(), key=lambda pair: -pair[1])[:2]
        place = f"{os.path.basename(line['file'])}:{line['line']}" if line.get("line") else line.get("offset_bytes", "")
        say(f"| {kernel['name']} | {(duration or 0) / 1e3:.2f} | {first['id'] if first else ''} | {promised[0]:.0%} to {promised[1]:.0%} | "
            f"{place} | {', '.join(name for name, _ in reasons)} |")
    instructions(ours)


def listing(table):
    """Text of each instruction by kernel and offset, from ncu's source page as CSV: a table for each launch, with addresses."""
    texts, start = {}, None
    for row in csv.reader(table):
        if row and row[0] == "Kernel Name":
            kernel, start = row[1].split("(")[0], None
        elif row and row[0].startswith("0x"):
            start = int(row[0], 16) if start is None else start
            texts[kernel, int(row[0], 16) - start] = " ".join(row[1].split())
    return texts


def instructions(ours):
    """The instructions at which lines wait mostly, beside ncu's listing. Where a jump goes is a label here and an address there."""
    report = os.path.join(OUT, "transpose.ncu-rep")
    once = [TRANSPOSE, "1024", "1"]  # its size, and launches of each kernel
    if not HAS_NCU or not run([*NCU, "--set", "full", "-o", report[:-len(".ncu-rep")], *once], 90):
        return
    out = run([NCU[0], "--import", report, "--page", "source", "--csv"], 30)
    theirs = listing(out[1].splitlines()) if out else {}
    same, others = 0, []
    for kernel in ours:
        for line in kernel["lines"]:
            text, their = line.get("instruction"), theirs.get((kernel["name"].split("(")[0], line["offset_bytes"]))
            if text and their and (text == their or ("`" in text and text.split("`")[0] == their.split("0x")[0])):
                same += 1
            else:
                others.append(f"{kernel['name'][:32]} +{line['offset_bytes']:#x}: {text}, ncu {their}")
    say(f"\nInstructions of {same + len(others)} lines: {same} are as in ncu's listing ({len(theirs)} instructions)"
        + "".join(f"\n- {other}" for other in others))


def graphs():
    say("\n## CUDA graphs\n")
    program = [PYTHON, script("graph.py", GRAPH)]
    bare = run(program)
    if not bare:
        return
    replay = float(bare[1].split()[-1])
    for kernel in kernels("graph", [], program):
        if not kernel["name"].startswith("CUDA graph"):
            continue
        duration = kernel["metrics"]["duration_ns"]
        say(f"- {kernel['name']}: {kernel['launches']} launches of {kernel.get('graph_kernels')} kernels, measured as {duration / 1e3:.1f} µs; "
            f"by events {replay / 1e3:.1f} µs a replay in a row")
    names = [kernel["name"] for kernel in kernels("graph-stalls", ["--stalls"], program)]
    say(f"- rows with --stalls, which sees kernels of graphs: {', '.join(name[:32] for name in names)[:400]}")


def locked():
    say("\n## Counters that are locked\n")
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        say("not tried: it takes root and setpriv to become somebody else")
        return
    folder = os.path.join("/tmp", "warplight-locked")
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o777)
    out = os.path.join(folder, "out.json")
    said = run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", WARPLIGHT, "kernels", "--format", "json", "-o", out, "--",
                TEACHING], 60, HOME=folder)
    if said:
        say(f"as nobody: {said[2].strip()}")
    if os.path.exists(out):
        with open(out) as file:
            rows = json.load(file)["kernels"]
        say(f"{len(rows)} kernels shown, {sum(bool(row['metrics'].get('duration_ns')) for row in rows)} with a duration")


# ---- cost ------------------------------------------------------------------------------------------------------


def ways_to_run():
    table = os.path.join(OUT, "cost.json")
    ways = {"bare": [], "one pass": [WARPLIGHT, "kernels", "--quiet", "--format", "json", "-o", table, "--"]}
    ways["--deep"] = [*ways["one pass"][:2], "--deep", *ways["one pass"][2:]]
    ways["--stalls"] = [*ways["one pass"][:2], "--stalls", *ways["one pass"][2:]]
    if HAS_NCU:
        ways["ncu --set basic"] = [*NCU, "--set", "basic", "-o", os.path.join(OUT, "cost")]
        ways["ncu --set full"] = [*NCU, "--set", "full", "-o", os.path.join(OUT, "cost")]
    return ways


def print_costs(title, seconds):
    bare = statistics.median(seconds["bare"]) if seconds["bare"] else None
    say(f"\n{title}\n\n| | runs | median s | lowest – highest | ÷ bare |\n|---|---|---|---|---|")
    for name, rows in seconds.items():
        if rows and bare:
            median = statistics.median(rows)
            say(f"| {name} | {len(rows)} | {median:.2f} | {min(rows):.2f} – {max(rows):.2f} | {median / bare:.2f} |")


def cost():
    """Round after round, each program each way; what is slow is left out once it would not fit. ncu counts a step of PyTorch's
    every launch, so that it gets few of them; the ratio is of the same number of steps."""
    say("\n## Cost, wall time of the whole program, interleaved")
    step = script("step.py", STEP)
    has_torch = run([PYTHON, "-c", "import torch"], 60) is not None
    programs = {"teaching": [TEACHING]}
    if has_torch:
        programs["100 steps of PyTorch"] = [PYTHON, step, "100"]
        programs["3 steps of PyTorch"] = [PYTHON, step, "3"]
    seconds = {title: {name: [] for name in ways_to_run()} for title in programs}
    begun = True
    while begun and left() > 20:
        begun = False
        for title, program in programs.items():
            for name, way in ways_to_run().items():
                before = seconds[title][name]
                slow = name.startswith("ncu") and title.startswith("100")
                if slow or left() < (1.3 * max(before) if before else 15):
                    continue
                out = run([*way, *program], 150)
                begun = begun or out is not None
                if out:
                    before.append(out[0])
        with open(os.path.join(OUT, "cost-so-far.json"), "w") as file:
            json.dump(seconds, file)
    for title, rows in seconds.items():
        print_costs(title, rows)


def main():
    os.makedirs(OUT, exist_ok=True)
    machine()
    for part, arguments in ((findings, values()), (transposes, ()), (graphs, ()), (locked, ()), (cost, ())):
        if left() < 15:
            say(f"\n{part.__name__}: left out, the time is over")
            continue
        try:
            part(*arguments)
        except (KeyError, ValueError, TypeError, IndexError, OSError) as failure:
            say(f"\n{part.__name__}: {failure!r}")  # the parts after it are worth having
    say(f"\n{left():.0f} s were left.")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""`sample` and `doctor` on a real GPU beside nvidia-smi and NVML polled from Python, in one run:

    python3 tests/gpu/machine.py WARPLIGHT OUT [SECONDS]

Needs Linux with an NVIDIA GPU, torch for the load, nvcc (PATH or /usr/local/cuda/bin) for the faults, and root for the kernel
log and the PID namespace; what is missing is left out and said so. pynvml is used where it is installed, else the same calls
through ctypes. Takes at most SECONDS (default: 300). OUT/machine.json has everything and is written anew after each part, so
that a run that is cut short leaves what it had; a summary for doc/measured/machine.md is printed at the end, and stands in
OUT/machine.md.

Parts, in this order:
    facts      what machine it is
    idle       10 samples a second by each program, all at once, without load: CPU per sample, memory
    load       the same under bf16 matrix products that reach the power limit, and how far the values of the same moment agree
    faults     illegal accesses of a program (faults.cu): what `sample` told while it ran, what the kernel log has, and what
               `doctor` says afterwards
    namespace  the same within a PID namespace (unshare -pf --mount-proc)
    doctor     of the machine, of a running program (--pid), and of one that is named only (-- python3 -c …)
"""
import csv
import datetime
import glob
import io
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PERIOD = 0.1       # seconds between samples
IDLE_SECONDS, LOAD_SECONDS = 12, 25
NEAR = 0.3         # seconds within which two readings are of the same moment
KINDS = ("illegal-address", "misaligned", "trap", "shared-out-of-range", "assert")

LOAD = """
import sys, time, torch
a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
host = torch.empty(64 << 20, dtype=torch.uint8).pin_memory()
print("ready", flush=True)
end = time.time() + float(sys.argv[1])
while time.time() < end:
    for _ in range(50):
        c = a @ b
    host.cuda(non_blocking=True)
    torch.cuda.synchronize()
"""

# Polls what is compared, as a Python program would: a line of JSON for each sample.
POLLER = r"""
import json, sys, time
period, uuid = float(sys.argv[1]), sys.argv[2]
try:
    import pynvml as n
    n.nvmlInit()
    gpu = n.nvmlDeviceGetHandleByUUID(uuid)
    kind = "pynvml"
    def read():
        memory, use = n.nvmlDeviceGetMemoryInfo(gpu, version=n.nvmlMemory_v2), n.nvmlDeviceGetUtilizationRates(gpu)
        return {"power_watts": n.nvmlDeviceGetPowerUsage(gpu) / 1000, "sm_clock_hz": n.nvmlDeviceGetClockInfo(gpu, 1) * 10**6,
                "temperature_celsius": n.nvmlDeviceGetTemperature(gpu, 0), "memory_used_bytes": memory.used,
                "gpu_utilization_ratio": use.gpu / 100, "pcie_generation": n.nvmlDeviceGetCurrPcieLinkGeneration(gpu),
                "pcie_width": n.nvmlDeviceGetCurrPcieLinkWidth(gpu)}
    read()
except (ImportError, AttributeError, TypeError):  # not there, or too old
    import ctypes as c
    n = c.CDLL("libnvidia-ml.so.1")
    n.nvmlInit_v2()
    gpu = c.c_void_p()
    n.nvmlDeviceGetHandleByUUID(uuid.encode(), c.byref(gpu))
    kind = "ctypes"
    class Memory(c.Structure):
        _fields_ = [("version", c.c_uint), ("total", c.c_ulonglong), ("reserved", c.c_ulonglong), ("free", c.c_ulonglong),
                    ("used", c.c_ulonglong)]
    def ask(name, out, *before):
        code = getattr(n, name)(gpu, *before, c.byref(out))
        return None if code else out
    def number(name, *before):
        out = ask(name, c.c_uint(), *before)
        return None if out is None else out.value
    def times(value, factor):
        return None if value is None else value * factor
    def read():
        memory, use = Memory(), (c.c_uint * 2)()
        memory.version = c.sizeof(memory) | 2 << 24
        got = ask("nvmlDeviceGetMemoryInfo_v2", memory)
        use = ask("nvmlDeviceGetUtilizationRates", use)
        return {"power_watts": times(number("nvmlDeviceGetPowerUsage"), 0.001),
                "sm_clock_hz": times(number("nvmlDeviceGetClockInfo", 1), 10**6),
                "temperature_celsius": number("nvmlDeviceGetTemperature", 0),
                "memory_used_bytes": got and got.used, "gpu_utilization_ratio": use and use[0] / 100,
                "pcie_generation": number("nvmlDeviceGetCurrPcieLinkGeneration"),
                "pcie_width": number("nvmlDeviceGetCurrPcieLinkWidth")}
next_one = time.monotonic()
while True:
    row = {"time": time.time(), "kind": kind, **read()}
    print(json.dumps(row), flush=True)
    next_one += period
    time.sleep(max(0, next_one - time.monotonic()))
"""

# What is compared, by its name in `sample`: nvidia-smi's name, what its number is multiplied by, and the error allowed.
FIELDS = {
    "power_watts": ("power.draw", 1, 0.02), "sm_clock_hz": ("clocks.sm", 1e6, 1e6),
    "temperature_celsius": ("temperature.gpu", 1, 1), "memory_used_bytes": ("memory.used", 1 << 20, 1 << 20),
    "gpu_utilization_ratio": ("utilization.gpu", 0.01, 0.011), "pcie_generation": ("pcie.link.gen.gpucurrent", 1, 0),
    "pcie_width": ("pcie.link.width.current", 1, 0),
}
HELD = "clocks_event_reasons_counters.sw_power_cap"


class Results:
    """Everything that was found, on disk at each step."""

    def __init__(self, folder):
        self.folder, self.parts, self.began = folder, {}, time.time()

    def put(self, part, value):
        self.parts[part] = value
        self.parts["seconds"] = round(time.time() - self.began, 1)
        path = os.path.join(self.folder, "machine.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.parts, file, indent=1)
        os.replace(path + ".new", path)
        print(f"[{self.parts['seconds']:6.1f} s] {part}", flush=True)


def output(*command, seconds=60, **options):
    """What a program says, with its exit code and time; never raises."""
    began = time.monotonic()
    try:
        out = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False,
                             stdin=subprocess.DEVNULL, **options)
        code, text, errors = out.returncode, out.stdout, out.stderr
    except (OSError, subprocess.TimeoutExpired) as problem:
        code, text, errors = None, "", str(problem)
    return {"rc": code, "seconds": round(time.monotonic() - began, 3), "out": text, "err": errors[-4000:]}


def told(command, **options):
    """The same for a program that writes JSON."""
    out = output(*command, **options)
    try:
        out["json"] = json.loads(out.pop("out"))
    except ValueError:
        out["json"] = None
    return out


# ---- processes and what they use ----------------------------------------------------------------------------------------------


def tree(pid):
    found = [pid]
    for number in found:
        for path in glob.glob(f"/proc/{number}/task/*/children"):
            try:
                with open(path, encoding="ascii") as file:
                    found += [int(child) for child in file.read().split()]
            except OSError:
                pass
    return found


def used(pid):
    """CPU seconds and resident bytes of a process and its children, by process."""
    out = {}
    for number in tree(pid):
        try:
            cpu = time.clock_gettime_ns(~number << 3 | 2) / 1e9  # as clock_getcpuclockid(3) numbers it
            with open(f"/proc/{number}/status", encoding="ascii", errors="replace") as file:
                status = dict(line.split(":", 1) for line in file if ":" in line)
            out[number] = {"cpu": cpu, "name": status["Name"].strip(),
                           "peak_bytes": int(status.get("VmHWM", "0").split()[0]) * 1024}
        except (OSError, KeyError):
            pass
    return out


class Watched:
    """A program whose lines are kept with the time at which they came."""

    def __init__(self, name, command, **options):
        self.name, self.lines = name, []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        stdin=subprocess.DEVNULL, errors="replace", start_new_session=True, **options)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append((time.time(), line.rstrip("\n")))

    def wait_for_lines(self, count, seconds):
        end = time.monotonic() + seconds
        while len(self.lines) < count and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.02)
        return len(self.lines) >= count

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.reader.join(5)


def costs(programs, seconds):
    """CPU per line and memory of running programs over some seconds, after each has begun to write."""
    for program in programs:
        program.wait_for_lines(3, 20)
    before = {p.name: (used(p.process.pid), len(p.lines)) for p in programs}
    time.sleep(seconds)
    out = {}
    for p in programs:
        after, lines = used(p.process.pid), len(p.lines)
        was, had = before[p.name]
        cpu = sum(value["cpu"] - was.get(pid, {"cpu": 0})["cpu"] for pid, value in after.items())
        got = lines - had
        out[p.name] = {"lines": got, "cpu_seconds": round(cpu, 4), "seconds": seconds,
                       "cpu_ms_per_line": round(cpu / got * 1000, 3) if got else None,
                       "peak_bytes": sum(value["peak_bytes"] for value in after.values()),
                       "processes": {value["name"]: value for value in after.values()}}
    return out


# ---- parts --------------------------------------------------------------------------------------------------------------------


def facts(warplight):
    query = output("nvidia-smi", "--query-gpu=index,uuid,name,driver_version,pci.bus_id,power.limit,mig.mode.current",
                   "--format=csv,noheader,nounits")
    try:
        with open("/dev/kmsg", "rb") as file:
            os.set_blocking(file.fileno(), False)
            kmsg = "readable"
    except OSError as problem:
        kmsg = str(problem)
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "gpus": query["out"].splitlines(),
            "query_error": query["err"], "kernel": " ".join(os.uname()), "uid": os.getuid(), "cpus": os.cpu_count(),
            "kernel_log": kmsg, "pid_namespace": os.readlink("/proc/self/ns/pid"),
            "version": output(warplight, "--version")["out"].partition("\n")[0], "nvcc": nvcc()}


def nvcc():
    return shutil.which("nvcc") or next((p for p in ["/usr/local/cuda/bin/nvcc"] if os.access(p, os.X_OK)), None)


def pollers(warplight, index, uuid):
    """The four that are compared. dmon cannot do more than one a second."""
    smi = ",".join(["timestamp", *(name for name, _, _ in FIELDS.values()), HELD])
    ms = str(int(PERIOD * 1000))
    return [
        Watched("warplight sample", [warplight, "sample", "-i", ms + "ms", "-f", "json", "--device", index]),
        Watched("warplight sample --no-processes",
                [warplight, "sample", "-i", ms + "ms", "-f", "json", "--device", index, "--no-processes"]),
        Watched("nvidia-smi --query-gpu", ["nvidia-smi", f"--query-gpu={smi}", "--format=csv,noheader,nounits", "-i", index,
                                           "-lms", ms]),
        Watched("nvidia-smi dmon", ["nvidia-smi", "dmon", "-i", index, "-d", "1", "-s", "pucvmet"]),
        Watched("Python and NVML", [sys.executable, "-c", POLLER, str(PERIOD), uuid]),
    ]


def samples_of(program):
    rows = []
    for _, line in program.lines:
        try:
            rows.append(json.loads(line))
        except ValueError:
            pass  # the last line was cut
    return rows


def ours(program):
    rows = []
    for sample in samples_of(program):
        device = sample["devices"][0] if sample["devices"] else {}
        if device.get("time_unix_ns"):
            rows.append({"time": device["time_unix_ns"] / 1e9, **device})
    return rows


def smi_rows(program):
    rows = []
    for came, line in program.lines:
        cells = next(csv.reader(io.StringIO(line), skipinitialspace=True), [])
        if len(cells) != len(FIELDS) + 2:
            continue
        try:
            stamp = datetime.datetime.strptime(cells[0], "%Y/%m/%d %H:%M:%S.%f").timestamp()
        except ValueError:
            stamp = came
        row = {"time": stamp}
        for (key, (_, scale, _)), cell in zip(FIELDS.items(), cells[1:]):
            try:
                row[key] = float(cell) * scale
            except ValueError:
                row[key] = None
        try:
            row["held_s"] = int(cells[-1]) * 1e-6
        except ValueError:
            row["held_s"] = None
        rows.append(row)
    return rows


def compare(ours_rows, other_rows, key, error):
    """A value agrees when the other program had it, or one on each side of it, within NEAR seconds."""
    pairs = agree = 0
    gaps = []
    for row in ours_rows:
        near = [other[key] for other in other_rows if abs(other["time"] - row["time"]) <= NEAR and other.get(key) is not None]
        if not near or row.get(key) is None:
            continue
        pairs += 1
        agree += min(near) - error <= row[key] <= max(near) + error
        gaps.append(min(abs(row[key] - value) for value in near))
    return {"pairs": pairs, "agree": agree, "median_gap": statistics.median(gaps) if gaps else None,
            "largest_gap": max(gaps) if gaps else None}


def spread(rows, key):
    values = sorted(row[key] for row in rows if row.get(key) is not None)
    return [values[0], statistics.median(values), values[-1]] if values else None


def held_share(rows):
    known = [row for row in rows if row.get("held_s") is not None]
    if len(known) < 2 or known[-1]["time"] <= known[0]["time"]:
        return None
    return (known[-1]["held_s"] - known[0]["held_s"]) / (known[-1]["time"] - known[0]["time"])


def watch(warplight, index, uuid, seconds):
    """All pollers at once: cost, values, and what they agree on."""
    programs = pollers(warplight, index, uuid)
    out = {"cost": costs(programs, seconds)}
    for program in programs:
        program.end()
    rows, smi = ours(programs[0]), smi_rows(programs[2])
    python = [json.loads(line) for _, line in programs[4].lines if line.endswith("}")]
    out["python"] = python[0]["kind"] if python else None
    out["agreement"] = {key: {"nvidia-smi": compare(rows, smi, key, error), "NVML": compare(rows, python, key, error)}
                        for key, (_, _, error) in FIELDS.items()}
    keys = [*FIELDS, "power_average_watts", "power_cap_ratio", "heat_ratio", "sm_active_ratio", "tensor_active_ratio",
            "memory_bandwidth_ratio", "pcie_receive_bytes_per_s", "pcie_replay_count"]
    out["values"] = {key: spread(rows, key) for key in keys}
    out["links"] = sorted({str(row.get(key)) for row in rows for key in ("pcie_link", "nvlink_link")})
    out["power_cap_share"] = {"warplight": statistics.fmean(values) if (values := [
        row["power_cap_ratio"] for row in rows if row.get("power_cap_ratio") is not None]) else None,
        "nvidia-smi": held_share(smi)}
    out["dmon"] = [line for _, line in programs[3].lines][:8]
    out["last_sample"] = samples_of(programs[0])[-1:]
    return out


def load(warplight, index, uuid):
    work = Watched("load", [sys.executable, "-c", LOAD, str(LOAD_SECONDS + 15)])
    if not work.wait_for_lines(1, 60):
        work.end()
        return {"error": "the load did not start: is torch there?"}
    time.sleep(2)  # clocks and power settle
    out = watch(warplight, index, uuid, LOAD_SECONDS)
    page = output(warplight, "sample", seconds=30)
    out["page"] = page["out"]
    work.end()
    return out


class KernelLog(threading.Thread):
    """New lines of the kernel log about Xids."""

    def __init__(self):
        super().__init__(daemon=True)
        self.lines, self.error, self.ended = [], None, threading.Event()
        try:
            self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self.fd, 0, os.SEEK_END)
        except OSError as problem:
            self.error = str(problem)
        self.start()

    def run(self):
        while self.error is None and not self.ended.wait(0.05):
            self._drain()

    def _drain(self):
        while True:
            try:
                line = os.read(self.fd, 16384).decode(errors="replace")
            except BlockingIOError:
                return
            except OSError:
                continue  # records were overwritten
            if "Xid" in line:
                self.lines.append(line.splitlines()[0])

    def end(self):
        self.ended.set()
        self.join(5)
        return {"lines": self.lines, "error": self.error}


def build_faults(folder):
    compiler = nvcc()
    if not compiler:
        return None, {"error": "nvcc is not there"}
    program = os.path.join(folder, "faults")
    built = output(compiler, "-o", program, os.path.join(HERE, "faults.cu"), seconds=120)
    return (program if built["rc"] == 0 else None), built


def see_fault(warplight, program, kind, before=()):
    """Runs one fault while `sample` runs. before: a command that both are run under."""
    log = KernelLog()
    watcher = Watched("sample", [*before, warplight, "sample", "-i", "200ms", "-f", "json"])
    started = watcher.wait_for_lines(3, 20)
    fault = output(*before, program, kind, seconds=40)
    time.sleep(2)
    watcher.end()
    events, sources = [], {}
    for sample in samples_of(watcher):
        events += sample.get("events", [])
        sources = {source["name"]: source["state"] for source in sample["sources"]}
    return {"started": started, "program": fault["out"].strip(), "rc": fault["rc"], "events": events, "sources": sources,
            "kernel_log": log.end()}


def faults(warplight, program, deadline):
    out = {}
    for kind in KINDS:
        if time.time() > deadline:
            out[kind] = {"error": "no time was left"}
            continue
        out[kind] = see_fault(warplight, program, kind)
    out["doctor"] = told([warplight, "doctor", "-f", "json"])
    return out


def namespace(warplight, program):
    """One process namespace for all three, as a container has one."""
    inside = ["unshare", "-pf", "--mount-proc"]
    probe = output(*inside, "true")
    if probe["rc"] != 0:
        return {"error": probe["err"]}
    script = ("import json, subprocess, sys, time\n"
              "w, f, kind = sys.argv[1:4]\n"
              "s = subprocess.Popen([w, 'sample', '-i', '200ms', '-f', 'json'], stdout=subprocess.PIPE, text=True)\n"
              "lines = [s.stdout.readline() for _ in range(3)]\n"
              "fault = subprocess.run([f, kind], capture_output=True, text=True)\n"
              "time.sleep(2)\n"
              "s.send_signal(2)\n"
              "lines += s.communicate()[0].splitlines()\n"
              "rows = [json.loads(line) for line in lines if line.strip()]\n"
              "doctor = subprocess.run([w, 'doctor', '-f', 'json'], capture_output=True, text=True)\n"
              "print(json.dumps({'program': fault.stdout, 'events': [e for r in rows for e in r.get('events', [])],\n"
              "    'processes': [p for r in rows for p in r['processes']][:20],\n"
              "    'sources': rows[-1]['sources'], 'doctor_rc': doctor.returncode, 'doctor': json.loads(doctor.stdout)}))\n")
    out = {}
    for kind in KINDS[:2]:
        out[kind] = told([*inside, sys.executable, "-c", script, warplight, program, kind], seconds=60)
    return out


def doctor(warplight):
    work = Watched("load", [sys.executable, "-c", LOAD, "60"])
    running = work.wait_for_lines(1, 60)
    out = {"machine": told([warplight, "doctor", "-f", "json"]),
           "named": told([warplight, "doctor", "-f", "json", "--", "python3", "-c", "import torch"]),
           "text": output(warplight, "doctor")}
    if running:
        out["pid"] = told([warplight, "doctor", "-f", "json", "--pid", str(work.process.pid)])
        out["processes"] = told([warplight, "sample", "-f", "json"])
    work.end()
    return out


# ---- summary ------------------------------------------------------------------------------------------------------------------


def checks_of(answer):
    checks = (answer or {}).get("checks", [])
    return ", ".join(f"{check['id']} {check['status']}" for check in checks if check["status"] in ("fail", "warn")) or "no complaint"


def mib(size):
    return f"{size / (1 << 20):.1f}"


def cost_table(title, part):
    yield f"\n{title}\n\n| program | samples | CPU ms a sample | CPU of one core | peak MiB, all processes |\n|---|---|---|---|---|"
    for name, cost in part["cost"].items():
        share = cost["cpu_seconds"] / cost["seconds"] * 100
        yield f"| {name} | {cost['lines']} | {cost['cpu_ms_per_line']} | {share:.2f} % | {mib(cost['peak_bytes'])} |"


def agreement_table(part):
    yield "\n| value | lowest, median, highest | as nvidia-smi has it | as NVML from Python has it |\n|---|---|---|---|"
    for key, by in part["agreement"].items():
        yield f"| {key} | {part['values'][key]} | " + " | ".join(
            f"{by[who]['agree']} of {by[who]['pairs']}, largest gap {by[who]['largest_gap']}" for who in ("nvidia-smi", "NVML")) + " |"
    yield f"\nTime held by the power limit: {part['power_cap_share']}. Links: {part['links']}."


def event_names(events):
    return ", ".join(f"{event['xid']} ({'+'.join(event['told_by'])}) ×{event['count']}" for event in events) or "none"


def fault_table(found):
    yield "\n| fault | CUDA | kernel log | `sample` told |\n|---|---|---|---|"
    for kind in KINDS:
        one = found.get(kind, {})
        if "events" in one:
            yield (f"| {kind} | {one['program'].split(': ')[-1]} | {len(one['kernel_log']['lines'])} lines "
                   f"{one['kernel_log']['error'] or ''} | {event_names(one['events'])} |")
    answer = (found.get("doctor") or {}).get("json") or {}
    yield f"\n`doctor` afterwards: {[(e['xid'], e.get('device'), e['count']) for e in answer.get('events', [])]}; {checks_of(answer)}."


def summary(parts):
    lines = [f"{parts['facts']['date']}, {parts['facts']['gpus']}, kernel log {parts['facts']['kernel_log']}, "
             f"{parts['facts']['version']}"]
    if "cost" in parts.get("idle", {}):
        lines += cost_table(f"Idle, every {PERIOD} s:", parts["idle"])
    if "cost" in parts.get("load", {}):
        lines += [*cost_table(f"Under load, every {PERIOD} s:", parts["load"]), *agreement_table(parts["load"])]
    if isinstance(parts.get("faults"), dict) and "doctor" in parts["faults"]:
        lines += fault_table(parts["faults"])
    for kind, one in parts.get("namespace", {}).items():
        inner = one.get("json") if isinstance(one, dict) else None
        if inner:
            lines.append(f"\nIn a PID namespace, {kind}: {event_names(inner['events'])}; doctor: {checks_of(inner['doctor'])}.")
    for name in ("machine", "pid", "named"):
        one = parts.get("doctor", {}).get(name)
        if one:
            lines.append(f"\n`doctor`, {name}: exit {one['rc']} in {one['seconds']} s; {checks_of(one['json'])}.")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    warplight, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    budget = float(sys.argv[3]) if len(sys.argv) > 3 else 300
    os.makedirs(folder, exist_ok=True)
    os.environ.update(WARPLIGHT_LANG="en", LC_ALL="C.UTF-8")
    results = Results(folder)
    end = results.began + budget

    def part(name, needs, make, *arguments):
        if time.time() + needs > end:
            results.put(name, {"error": "no time was left"})
            return
        try:
            results.put(name, make(*arguments))
        except Exception as problem:  # the other parts are worth having
            results.put(name, {"error": repr(problem)})

    results.put("facts", facts(warplight))
    gpus = results.parts["facts"]["gpus"]
    if gpus:
        index, uuid = [cell.strip() for cell in gpus[0].split(",")[:2]]
        part("idle", IDLE_SECONDS + 25, watch, warplight, index, uuid, IDLE_SECONDS)
        part("load", LOAD_SECONDS + 40, load, warplight, index, uuid)
    with tempfile.TemporaryDirectory() as scratch:
        program, built = build_faults(scratch)
        if program:
            part("faults", 40, faults, warplight, program, end - 60)
            part("namespace", 30, namespace, warplight, program)
        else:
            results.put("faults", built)
    part("doctor", 20, doctor, warplight)
    with open(os.path.join(folder, "machine.md"), "w", encoding="utf-8") as file:
        file.write(summary(results.parts))
    print(summary(results.parts))


if __name__ == "__main__":
    main()

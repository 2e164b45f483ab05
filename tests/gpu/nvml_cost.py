#!/usr/bin/env python3
"""What each question of NVML's costs: python3 tests/gpu/nvml_cost.py [ROUNDS [PERIOD_MS]]

Asks everything that the sampler asks (src/source/nvml_*.c), each question once a round, with a round every PERIOD_MS (100), and
prints CPU and wall time of a question, medians over ROUNDS (20), the dearest first: first on the GPU as it is found, then under
matrix products, where torch is there. Fields are asked for one by one and all together, as the sampler does. A question's
cost is mostly that of asking the GPU's own processor, which is waited for actively: what the driver keeps on the host is cheap.

Numbers: nvmlFieldValue ids, NVML_GPM and enumerations as in nvml.h of driver 580.
"""
import ctypes as c
import os
import statistics
import subprocess
import sys
import time

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
PERIOD = float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.1
ALL_LINKS = 0xFFFFFFFF
LOAD = """
import torch, time
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
print("ready", flush=True)
while True:
    for _ in range(20):
        a @ a
    torch.cuda.synchronize()
"""
FIELDS = {"held": [74, 75, 76, 269, 270, 271], "energy": [83], "memory temperature": [82], "power instant": [186],
          "PCIe bytes": [197, 198], "PCIe replays": [94], "NVLink bytes": [138, 139], "NVLink errors": [45, 52, 59],
          "NVLink count": [91], "NVLink state": [165], "retired": [29, 30, 31], "recovery": [230]}

nvml = c.CDLL("libnvidia-ml.so.1")
device = c.c_void_p()


class Field(c.Structure):
    _fields_ = [("id", c.c_uint), ("scope", c.c_uint), ("time", c.c_longlong), ("latency", c.c_longlong), ("type", c.c_uint),
                ("code", c.c_int), ("value", c.c_ulonglong)]


class GpmMetric(c.Structure):
    _fields_ = [("id", c.c_uint), ("code", c.c_int), ("value", c.c_double), ("names", c.c_void_p * 3)]


class GpmMetrics(c.Structure):
    _fields_ = [("version", c.c_uint), ("count", c.c_uint), ("before", c.c_void_p), ("after", c.c_void_p),
                ("metrics", GpmMetric * 340)]


class ProcessesUse(c.Structure):
    _fields_ = [("version", c.c_uint), ("count", c.c_uint), ("since", c.c_ulonglong), ("at", c.c_void_p)]


def ask(name, *arguments):
    function = getattr(nvml, name, None)
    return (lambda: function(device, *arguments)) if function else (lambda: 13)


def number(name, *before):
    return ask(name, *before, c.byref(c.c_ulonglong()))


def fields(ids):
    at = (Field * len(ids))()
    for field, wanted in zip(at, ids):
        field.id, field.scope = wanted, ALL_LINKS if wanted in (138, 139) else 0
    return ask("nvmlDeviceGetFieldValues", len(ids), at)


def sized(name, size, version):
    memory = c.create_string_buffer(size)
    c.c_uint.from_buffer(memory).value = size | version << 24
    return ask(name, memory)


def process_list(name):
    count, room = c.c_uint(), c.create_string_buffer(24 * 1024)

    def call():
        count.value = 1024
        return getattr(nvml, name)(device, c.byref(count), room)
    return call


def process_use():
    room = c.create_string_buffer(40 * 1024)

    def call():
        use = ProcessesUse(c.sizeof(ProcessesUse) | 1 << 24, 1024, int((time.time() - 1) * 1e6), c.addressof(room))
        return nvml.nvmlDeviceGetProcessesUtilizationInfo(device, c.byref(use))
    return call


def gpm():
    samples = [c.c_void_p(), c.c_void_p()]
    for sample in samples:
        nvml.nvmlGpmSampleAlloc(c.byref(sample))

    def get():
        samples.reverse()
        return nvml.nvmlGpmSampleGet(device, samples[1])

    def metrics():
        wanted = GpmMetrics(1, 8, samples[0], samples[1])
        for at, metric in enumerate((1, 2, 3, 5, 10, 11, 12, 13)):
            wanted.metrics[at].id = metric
        return nvml.nvmlGpmMetricsGet(c.byref(wanted))
    def metric(number):
        def one():
            wanted = GpmMetrics(1, 1, samples[0], samples[1])
            wanted.metrics[0].id = number
            return nvml.nvmlGpmMetricsGet(c.byref(wanted)) or wanted.metrics[0].code
        return one
    get()
    return {"GPM sample": get, "GPM metrics": metrics, **{f"GPM metric {number}": metric(number) for number in (1, 2, 3, 5, 10, 11, 12, 13)}}


def events():
    event_set, event = c.c_void_p(), c.create_string_buffer(64)
    nvml.nvmlEventSetCreate(c.byref(event_set))
    nvml.nvmlDeviceRegisterEvents(device, c.c_ulonglong(8), event_set)
    return lambda: nvml.nvmlEventSetWait_v2(event_set, event, 0)


def questions():
    two = (c.byref(c.c_uint()), c.byref(c.c_uint()))
    found = {"fields: " + name: fields(ids) for name, ids in FIELDS.items()}
    found.update({f"field {number}": fields([number]) for ids in FIELDS.values() if len(ids) > 1 for number in ids})
    found["fields: held, energy, memory temperature"] = fields([74, 75, 76, 82, 83, 269, 270, 271])
    found["fields: links"] = fields([197, 198, 138, 139, 94, 52, 59, 45])
    found.update({
        "SM clock": number("nvmlDeviceGetClockInfo", 1), "memory clock": number("nvmlDeviceGetClockInfo", 2),
        "reasons": number("nvmlDeviceGetCurrentClocksEventReasons"), "power": number("nvmlDeviceGetPowerUsage"),
        "temperature, V": sized("nvmlDeviceGetTemperatureV", 12, 1), "temperature": number("nvmlDeviceGetTemperature", 0),
        "utilization": ask("nvmlDeviceGetUtilizationRates", (c.c_uint * 2)()),
        "memory, v2": sized("nvmlDeviceGetMemoryInfo_v2", 40, 2), "memory": ask("nvmlDeviceGetMemoryInfo", (c.c_ulonglong * 3)()),
        "PCIe generation": number("nvmlDeviceGetCurrPcieLinkGeneration"), "PCIe width": number("nvmlDeviceGetCurrPcieLinkWidth"),
        "enforced limit": number("nvmlDeviceGetEnforcedPowerLimit"), "P state": number("nvmlDeviceGetPerformanceState"),
        "ECC": number("nvmlDeviceGetTotalEccErrors", 1, 0),
        "remapped": ask("nvmlDeviceGetRemappedRows", *two, c.byref(c.c_uint()), c.byref(c.c_uint())),
        "encoder": ask("nvmlDeviceGetEncoderUtilization", *two), "decoder": ask("nvmlDeviceGetDecoderUtilization", *two),
        "JPEG": ask("nvmlDeviceGetJpgUtilization", *two), "optical flow": ask("nvmlDeviceGetOfaUtilization", *two),
        "fan": number("nvmlDeviceGetFanSpeed"), "energy": number("nvmlDeviceGetTotalEnergyConsumption"),
        "violation": ask("nvmlDeviceGetViolationStatus", 0, (c.c_ulonglong * 2)()),
        "compute processes": process_list("nvmlDeviceGetComputeRunningProcesses_v3"),
        "graphics processes": process_list("nvmlDeviceGetGraphicsRunningProcesses_v3"),
        "MPS processes": process_list("nvmlDeviceGetMPSComputeRunningProcesses_v3"),
        "use of processes": process_use(), "events": events(),
        "MIG mode": ask("nvmlDeviceGetMigMode", *two), "persistence": number("nvmlDeviceGetPersistenceMode"),
        "fabric": sized("nvmlDeviceGetGpuFabricInfoV", 40, 2),
    })
    found.update(gpm())
    return found


def measure(title, asked):
    cpu, wall, codes = {name: [] for name in asked}, {name: [] for name in asked}, {}
    for _ in range(ROUNDS + 1):
        begun = time.monotonic()
        for name, question in asked.items():
            before, was = time.thread_time_ns(), time.monotonic_ns()
            codes[name] = question()
            wall[name].append((time.monotonic_ns() - was) / 1e3)
            cpu[name].append((time.thread_time_ns() - before) / 1e3)
        time.sleep(max(0, PERIOD - (time.monotonic() - begun)))
    print(f"\n{title}; {ROUNDS} rounds\n\n| question | CPU µs | highest | wall µs | answer |\n|---|---|---|---|---|")
    rows = sorted(asked, key=lambda name: -statistics.median(cpu[name][1:]))
    for name in rows:
        print(f"| {name} | {statistics.median(cpu[name][1:]):.0f} | {max(cpu[name][1:]):.0f} | {statistics.median(wall[name][1:]):.0f} | "
              f"{codes[name]} |", flush=True)


def main():
    nvml.nvmlInit_v2()
    nvml.nvmlDeviceGetHandleByIndex_v2(0, c.byref(device))
    asked = questions()
    measure("As found", asked)
    load = subprocess.Popen([sys.executable, "-c", LOAD], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if load.stdout.readline():
            time.sleep(2)
            measure("Under load", asked)
        else:
            print("\nno load: torch is not there", file=sys.stderr)
    finally:
        load.kill()
        load.wait()


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    main()

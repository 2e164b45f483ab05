#!/usr/bin/env python3
"""Which part of CUPTI slows launches down after it was switched off again: python3 tests/gpu/after_stop.py [REPEATS]

Needs PyTorch with CUDA (its own libcupti is used); nothing of Warplight runs. Each variant is a process that times a loop of
small operators before CUPTI is touched, while some kinds of activity are selected, and after all of them were switched off
as `ctl stop` does; the last variant ends CUPTI (cuptiFinalize) at the exit of a call of the program. Prints medians over REPEATS
(3) processes in ns an operator, and ÷ before. A process that dies is a result, too.

Source of the numbers: CUpti_ActivityKind, CUpti_CallbackDomain and CUpti_ApiCallbackSite in the headers of CUDA 13.
"""
import ctypes
import re
import statistics
import subprocess
import sys
import time

KERNEL, DRIVER, RUNTIME, DEVICE, OVERHEAD, SYNCHRONIZATION, MEMCPY, MEMSET, MEMORY, POOL, GRAPH = 10, 4, 5, 8, 17, 38, 1, 2, 49, 50, 51
ALL = [GRAPH, KERNEL, MEMCPY, MEMSET, RUNTIME, OVERHEAD, SYNCHRONIZATION, DEVICE, MEMORY, POOL]
CALLS = [307, 514]  # cuLaunchKernel, cuGraphLaunch: switched singly, as the library does
RUNTIME_DOMAIN, DRIVER_DOMAIN, EXIT_SITE = 2, 1, 1
# name → kinds, single calls of the driver, how it ends
VARIANTS = {
    "nothing": ([], [], "off"),
    "kernels": ([KERNEL], [], "off"),
    "runtime calls": ([RUNTIME], [], "off"),
    "calls of the driver, singly": ([], CALLS, "off"),
    "calls of the driver, singly, then the kind off": ([], CALLS, "driver off"),
    "overhead": ([OVERHEAD], [], "off"),
    "synchronization": ([SYNCHRONIZATION], [], "off"),
    "memory": ([MEMORY, POOL], [], "off"),
    "all but kernels": ([kind for kind in ALL if kind != KERNEL], CALLS, "driver off"),
    "all": (ALL, CALLS, "off"),
    "all, then the kind of driver calls off": (ALL, CALLS, "driver off"),
    "all, then cuptiFinalize": (ALL, CALLS, "finalize"),
}
REQUEST = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t))
COMPLETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(ctypes.c_int))
BUFFER_BYTES = 4 << 20
kept = []  # buffers and callbacks live as long as the process: CUPTI may keep some


@REQUEST
def request(buffer, size, most):
    kept.append(ctypes.create_string_buffer(BUFFER_BYTES))
    buffer[0] = ctypes.addressof(kept[-1])
    size[0], most[0] = BUFFER_BYTES, 0


@COMPLETE
def complete(_context, _stream, _buffer, _size, _valid):
    pass


def open_cupti():
    with open("/proc/self/maps") as maps:
        paths = re.findall(r"(/\S*libcupti\.so\S*)", maps.read())
    return ctypes.CDLL(paths[0] if paths else "libcupti.so")


def finalize(cupti):
    """As CUPTI's documentation has it: flush, then end it where a call of the program returns."""
    done = []
    subscriber = ctypes.c_void_p()

    @CALLBACK
    def on_call(_user, _domain, _call, data):
        if data[0] == EXIT_SITE and not done:
            done.append(cupti.cuptiFinalize())
    kept.append(on_call)
    cupti.cuptiActivityFlushAll(1)
    results = [cupti.cuptiSubscribe(ctypes.byref(subscriber), on_call, None)]
    results += [cupti.cuptiEnableDomain(1, subscriber, domain) for domain in (RUNTIME_DOMAIN, DRIVER_DOMAIN)]
    return results, done


def one(name):
    import torch
    kinds, calls, end = VARIANTS[name]
    x = torch.zeros(1024, device="cuda")

    def loop(count=30000):
        start = time.perf_counter()
        for i in range(count):
            x.add_(1)
            if i % 256 == 255:
                torch.cuda.synchronize()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e9 / count
    loop()
    before = min(loop() for _ in range(3))
    cupti = open_cupti()
    cupti.cuptiActivityRegisterCallbacks(request, complete)
    for kind in kinds:
        cupti.cuptiActivityEnable(kind)
    for call in calls:
        cupti.cuptiActivityEnableDriverApi(call, ctypes.c_uint8(1))
    during = min(loop() for _ in range(3))
    for kind in kinds:
        cupti.cuptiActivityDisable(kind)
    for call in calls:
        cupti.cuptiActivityEnableDriverApi(call, ctypes.c_uint8(0))
    said = ""
    if end == "driver off":
        cupti.cuptiActivityDisable(DRIVER)
    if end == "finalize":
        results, done = finalize(cupti)
        loop(1000)
        said = f" (subscribe and enable {results}, cuptiFinalize {done})"
    else:
        cupti.cuptiActivityFlushAll(1)
    loop()
    print(before, during, min(loop() for _ in range(3)), said)


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print("| selected | before | while selected | after | ÷ before |\n|---|---|---|---|---|")
    for name in VARIANTS:
        rows, said = [], ""
        for _ in range(repeats):
            out = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True, timeout=300)
            found = re.match(r"([0-9.]+) ([0-9.]+) ([0-9.]+) (.*)", out.stdout)
            if found and out.returncode == 0:
                rows.append([float(value) for value in found.groups()[:3]])
                said = found.group(4)
            else:
                said = f"ended with {out.returncode}: {out.stderr.strip().splitlines()[-1:]}"
        medians = [statistics.median(column) for column in zip(*rows)] if rows else [float("nan")] * 3
        print(f"| {name} | {medians[0]:.0f} | {medians[1]:.0f} | {medians[2]:.0f} | {medians[2] / medians[0]:.2f} | {said}", flush=True)


if len(sys.argv) > 2 and sys.argv[1] == "--one":
    one(sys.argv[2])
else:
    main()

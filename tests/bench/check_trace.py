#!/usr/bin/env python3
"""What gen_trace promises: the same bytes for the same arguments, about as many events as asked for, and a trace
that is sound: kernels run one at a time, after the call that launched them, and calls nest.

    check_trace.py GEN_TRACE
"""
import json
import subprocess
import sys

EVENTS = 6000
ROUNDING_US = 0.002


def generate(program, *arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, check=True).stdout


def gpu_work(events):
    return sorted((e for e in events if e.get("cat") in ("kernel", "gpu_memcpy")), key=lambda e: e["ts"])


def check_stream(events):
    calls = {}
    for event in events:
        if event.get("cat") == "cuda_runtime":
            assert event["args"]["correlation"] not in calls, "a correlation is used twice"
            calls[event["args"]["correlation"]] = event
    work = gpu_work(events)
    assert len(work) > EVENTS / 50
    for before, after in zip(work, work[1:]):
        assert before["ts"] + before["dur"] <= after["ts"] + ROUNDING_US, "two operations overlap on the stream"
    for event in work:
        assert calls[event["args"]["correlation"]]["ts"] < event["ts"], "an operation starts before its launch"


def check_nesting(events):
    threads = {}
    for event in events:
        if event["ph"] == "X" and event["cat"] in ("cpu_op", "user_annotation", "cuda_runtime", "python_function"):
            threads.setdefault(event["tid"], []).append(event)
    for spans in threads.values():
        open_ends = []
        for span in sorted(spans, key=lambda e: (e["ts"], -e["dur"])):
            end = span["ts"] + span["dur"]
            while open_ends and open_ends[-1] <= span["ts"] + ROUNDING_US:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1] + ROUNDING_US, f"{span['name']} outlives its caller"
            open_ends.append(end)


def main(program):
    for extra in ([], ["--python", "--memory"]):
        arguments = [*extra, "--seed", "7", "--events", str(EVENTS)]
        text = generate(program, *arguments)
        assert text == generate(program, *arguments), "two runs differ"
        assert text != generate(program, *extra, "--seed", "8", "--events", str(EVENTS)), "the seed has no effect"
        events = json.loads(text)["traceEvents"]
        assert EVENTS <= len(events) <= EVENTS + 20, f"{len(events)} events"
        check_stream(events)
        check_nesting(events)


if __name__ == "__main__":
    main(sys.argv[1])

#!/usr/bin/env python3
"""Checks that JSON reports keep the promises of warplight.report/1, and that doc/formats/report.md names all of it.

    lint_report.py WARPLIGHT RECORDING|FOLDER…
"""
import json
import os
import pathlib
import re
import subprocess
import sys

TOP = {"schema": str, "warplight_version": str, "run": dict, "devices": list, "findings": list, "gaps": list,
       "culprits": list, "kernels": list, "copies": list, "calls": list, "launches": dict, "ops": list, "steps": dict,
       "streams": list, "concurrency": list, "memory": list, "comms": list, "ranks": list, "amdahl": list,
       "facts": list}
NAMES = {
    "run": "sources losses origin_ns wall_ns narrowed",
    "run.sources[]": "path format bytes repairs",
    "run.losses": "dropped untimed unlinked truncated_bytes malformed",
    "devices[]": "id name compute_capability sm_count wall_ns busy_ns ledger",
    "devices[].ledger[]": "account ns",
    "kernels[]": "name count total_ns min_ns median_ns max_ns busy_share_ratio",
    "copies[]": "kind count bytes total_ns",
    "ops[]": "name count host_total_ns host_self_ns device_total_ns device_self_ns",
    "steps": "count median_ns rows",
    "findings[]": "id class severity confidence_ratio lost_ns saving_ns title evidence action",
    "findings[].evidence[]": "text values",
}
PAGE = pathlib.Path(__file__).resolve().parents[2] / "doc/formats/report.md"
DOCUMENTED = set(re.findall(r"`([a-z_0-9]+)(?:\[\d*\])?`", PAGE.read_text("utf-8")))
SEVERITIES = {"info", "warn", "critical"}


class Linter:
    def __init__(self, label):
        self.label = label
        self.wrong = 0

    def check(self, fine, what):
        if not fine:
            print(f"{self.label}: {what}", file=sys.stderr)
            self.wrong += 1

    def walk(self, value, path):
        """Rules that hold everywhere: names present, unknown has its reason, units fit values, no NaN."""
        if isinstance(value, list):
            for item in value:
                self.walk(item, path + "[]")
            return
        if not isinstance(value, dict):
            return
        for name in NAMES.get(path, "").split():
            self.check(name in value, f"{path} lacks {name}")
        for key, item in value.items():
            where = f"{path}.{key}" if path else key
            self.check(key.removesuffix("_why") in DOCUMENTED, f"{where} is not in doc/formats/report.md")
            if item is None:
                self.check(isinstance(value.get(key + "_why"), str), f"{where} is null without {key}_why")
            elif key.endswith(("_ns", "_bytes", "_count")) or key == "count":
                numbers = item if isinstance(item, list) else [item]
                self.check(all(type(n) is int for n in numbers if n is not None), f"{where} is no integer: {item}")
            elif key.endswith("_ratio") and key != "excess_ratio":
                self.check(isinstance(item, (int, float)) and 0 <= item, f"{where} is no ratio: {item}")
            self.walk(item, where)

    def descending(self, rows, key, what):
        values = [row[key] for row in rows]
        self.check(values == sorted(values, reverse=True), f"{what} are not sorted by {key}")

    def report(self, report):
        for name, kind in TOP.items():
            self.check(isinstance(report.get(name), kind), f"{name} is missing or no {kind.__name__}")
        self.check(report["schema"] == "warplight.report/1", "wrong schema")
        self.walk(report, "")
        steady = [device["steady"] for device in report["devices"] if "steady" in device]
        self.check(bool(steady) == ("steady" in report["run"]), "a steady part here and not there")
        for device in report["devices"] + steady:
            ledger = {row["account"]: row["ns"] for row in device["ledger"]}
            self.check(sum(ledger.values()) == device["wall_ns"], "the ledger does not sum to wall_ns")
            self.check(sum(ns for name, ns in ledger.items() if not name.startswith("idle:")) == device["busy_ns"],
                       "the busy accounts do not sum to busy_ns")
            self.check(all(ns >= 0 for ns in ledger.values()), "an account is negative")
            self.check(device["end_ns"] - device["start_ns"] == device["wall_ns"], "the window is not wall_ns long")
        for device in report["devices"]:
            part = {row["account"]: row["ns"] for row in device.get("steady", {}).get("ledger", [])}
            self.check(all(part.get(row["account"], 0) <= row["ns"] or row["account"].startswith("idle:")
                           for row in device["ledger"]), "the steady part is busier than all")
        for name in ("kernels", "copies", "calls", "culprits", "comms"):
            self.descending(report[name], "total_ns", name)
        if "gaps_omitted" not in report:
            idle = sum(device["wall_ns"] - device["busy_ns"] for device in report["devices"])
            self.check(sum(gap["duration_ns"] for gap in report["gaps"]) == idle, "the gaps do not sum to the idle time")
        for finding in report["findings"]:
            low, high = finding["saving_ns"]
            self.check(low is None or low <= high, f"{finding['id']}: saving_ns is no range")
            self.check(finding["severity"] in SEVERITIES, f"{finding['id']}: severity {finding['severity']}")
            self.check(finding["confidence_ratio"] is None or finding["confidence_ratio"] <= 1,
                       f"{finding['id']}: confidence")
            text = finding["title"] + finding["action"] if finding["action"] else finding["title"]
            self.check(not any("\u4e00" <= c <= "\u9fff" for c in text), f"{finding['id']}: its text is not English")


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def recordings(paths):
    for path in map(pathlib.Path, paths):
        yield from sorted(path.glob("*.json.gz")) if path.is_dir() else [path]


def main():
    warplight, *paths = sys.argv[1:]
    wrong = 0
    for path in recordings(paths):
        outputs = [subprocess.run([warplight, "report", "--format", "json", "--limit", "1000000", path],
                                  env=os.environ | {"WARPLIGHT_LANG": lang}, capture_output=True, check=True).stdout
                   for lang in ("en", "zh")]
        linter = Linter(os.path.basename(path))
        linter.check(outputs[0] == outputs[1], "the JSON depends on the language")
        linter.report(json.loads(outputs[0].decode("utf-8"), parse_constant=no_constant))
        wrong += linter.wrong
        print(f"{'FAIL' if linter.wrong else 'ok  '} {linter.label}")
    sys.exit(wrong > 0)


main()

#!/usr/bin/env python3
"""What `warplight record` says of native code that keeps the GPU waiting, on a program against the fake CUPTI.

    python3 tests/fake/test_native_functions.py WARPLIGHT INJECT_LIBRARY FAKE_CUPTI NATIVE_APP
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from sanitized import preload

WARPLIGHT, INJECT, CUPTI, APP = (os.path.abspath(path) for path in sys.argv[1:5])
NAME = os.path.basename(APP)


def run_tool(folder, *arguments):
    environment = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
    environment.update(WARPLIGHT_CUPTI=CUPTI, WARPLIGHT_INJECT=INJECT, WARPLIGHT_LANG="en",
                       ASAN_OPTIONS="detect_leaks=0")
    return subprocess.run([WARPLIGHT, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120, cwd=folder)


def record(folder, app, mode):
    out = run_tool(folder, "record", "--no-report", "--force", "-o", "run.wlt", "--", *preload(INJECT), app, mode)
    assert out.returncode == 0, out.stderr
    info = json.loads(run_tool(folder, "info", "--format", "json", "run.wlt").stdout)["files"][0]
    return info, {fact["key"]: fact["value"] for fact in info["facts"]}


class NativeFunctions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def evidence(self, mode, app=APP):
        info, facts = record(self.folder.name, app, mode)
        self.assertNotIn("native_functions_why", facts)
        self.assertGreater(info["counts"]["native_frames"], 0)
        report = json.loads(run_tool(self.folder.name, "report", "--format", "json", "run.wlt").stdout)
        for device in report["devices"]:
            self.assertEqual(sum(line["ns"] for line in device["ledger"]), device["wall_ns"])
        # On a machine with more to do than CPUs it waits for one as well.
        found = [finding for finding in report["findings"] if finding["id"] in ("idle-host-compute", "idle-host-wait")]
        return " ".join(item["text"] for finding in found for item in finding["evidence"])

    def test_a_function_is_named(self):
        self.assertIn(f"{NAME}: prepare_batch", self.evidence("static"))

    def test_an_exported_one_is_named_in_a_stripped_program_and_others_are_told_apart(self):
        strip = shutil.which("strip")
        if not strip:
            self.skipTest("no strip")
        app = os.path.join(self.folder.name, "stripped")
        subprocess.run([strip, "-s", "-o", app, APP], check=True)
        self.assertIn("stripped: shuffle_samples", self.evidence("exported", app))
        self.assertRegex(self.evidence("static", app), r"stripped\+0x[0-9a-f]+\b")

    def test_of_a_library_that_runs_the_caller_is_named(self):
        evidence = self.evidence("library")
        self.assertIn(f"{NAME}: copy_samples", evidence)

    def test_exports_hold_the_function(self):
        record(self.folder.name, APP, "static")
        for kind in ("chrome", "perfetto", "folded"):
            out = os.path.join(self.folder.name, f"out.{kind}")
            arguments = ("--weight", "host") if kind == "folded" else ()
            result = run_tool(self.folder.name, "export", "--format", kind, *arguments, "-o", out, "run.wlt")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(out, "rb") as file:
                self.assertIn(b"prepare_batch", file.read())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as first:
        refused = record(first, APP, "static")[1].get("native_functions_why")
    if refused:
        print("skipped:", refused)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]], verbosity=1)

#!/usr/bin/env python3
"""What `warplight record` sees of the host, on Python programs against the fake CUPTI: no numbers of a GPU.

    python3 tests/fake/test_host_sampling.py WARPLIGHT INJECT_LIBRARY FAKE_CUPTI
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from sanitized import preload

WARPLIGHT, INJECT, CUPTI = (os.path.abspath(path) for path in sys.argv[1:4])
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "host_program.py")


def line_of(text):
    """The line of the program that holds this text."""
    with open(PROGRAM, encoding="utf-8") as source:
        return next(number for number, line in enumerate(source, 1) if text in line)


def interpreters():
    """Of the versions whose frames can be read, those that are here and work."""
    versions = [f"3.{minor}" for minor in (11, 12, 13, 14)]
    names = [f"python{version}" for version in versions] + ["python3"]
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    paths = [f"/usr/bin/{name}" for name in names] + [shutil.which(name) for name in names]
    found = {}
    for path in [sys.executable, *paths, *glob.glob(f"{pyenv}/versions/3.*/bin/python3")]:
        if not path or not os.path.exists(path):
            continue
        out = subprocess.run([path, "-c", "import sys, ctypes; print(*sys.version_info[:2], sep='.')"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if out.returncode == 0 and out.stdout.strip() in versions:
            found.setdefault(out.stdout.strip(), path)
    return found


PYTHONS = interpreters()
PYTHON = next(iter(PYTHONS.values()), None)


class HostSampling(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "run.wlt")

    def tearDown(self):
        self.folder.cleanup()

    def run_tool(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        environment.update(WARPLIGHT_CUPTI=CUPTI, WARPLIGHT_INJECT=INJECT, WARPLIGHT_LANG="en",
                           ASAN_OPTIONS="detect_leaks=0")
        return subprocess.run([WARPLIGHT, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=120, cwd=self.folder.name)

    def record(self, *target, options=()):
        out = self.run_tool("record", "--no-report", "--force", "-o", self.file, *options, "--", *preload(INJECT), *target)
        self.assertEqual(out.returncode, 0, out.stderr)
        return out

    def report(self):
        out = self.run_tool("report", "--format", "json", self.file)
        self.assertEqual(out.returncode, 0, out.stderr)
        report = json.loads(out.stdout)
        for device in report["devices"]:
            self.assertEqual(sum(line["ns"] for line in device["ledger"]), device["wall_ns"])
        return report

    def finding(self, report, identity):
        return next((finding for finding in report["findings"] if finding["id"] == identity), None)

    def evidence(self, mode, identity, python=None):
        self.record(python or PYTHON, PROGRAM, mode)
        finding = self.finding(self.report(), identity)
        self.assertIsNotNone(finding, identity)
        return " ".join(item["text"] for item in finding["evidence"])

    def info(self):
        return json.loads(self.run_tool("info", "--format", "json", self.file).stdout)["files"][0]

    def test_a_starved_loader_is_found_in_every_python(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                evidence = self.evidence("loader", "idle-data-loading", python)
                self.assertIn(f"{PROGRAM}:{line_of('time.sleep(PAUSE_S)  # loading')}: Loader.next_batch", evidence)
                self.assertIn("clock_nanosleep", evidence)

    def test_a_read_is_named_with_its_file_and_line(self):
        evidence = self.evidence("read", "idle-host-io")
        self.assertRegex(evidence, r"read\(/\S*/samples\.fifo\)")
        self.assertIn(f"{PROGRAM}:{line_of('source.read(16)')}: read", evidence)

    def test_a_lock_is_named_with_its_line(self):
        evidence = self.evidence("lock", "idle-host-wait")
        self.assertIn("futex", evidence)
        self.assertIn(f"{PROGRAM}:{line_of('with held:')}: lock", evidence)

    def test_a_slow_function_is_named_with_its_line(self):
        self.record(PYTHON, PROGRAM, "compute")
        report = self.report()
        # On a machine with more to do than CPUs it waits for one as well.
        found = [self.finding(report, identity) for identity in ("idle-host-compute", "idle-host-wait")]
        evidence = " ".join(item["text"] for finding in found if finding for item in finding["evidence"])
        lines = {line_of("while time.perf_counter()"), line_of("total += sum")}
        named = {int(line) for line in re.findall(re.escape(PROGRAM) + r":(\d+): Preprocess\.normalise", evidence)}
        self.assertTrue(named and named <= lines, evidence)

    def tells_of_copying(self):
        self.record(PYTHON, PROGRAM, "copy")
        facts = {fact["key"]: fact["value"] for fact in self.info()["facts"]}
        if "native_functions_why" in facts:
            self.skipTest(facts["native_functions_why"])
        report = self.report()
        found = [self.finding(report, identity) for identity in ("idle-host-compute", "idle-host-wait")]
        evidence = [item["text"] for finding in found if finding for item in finding["evidence"]]
        return any(re.search(re.escape(PROGRAM) + r":\d+: copy, mostly inside lib\S+", text) or
                   re.search(r"waiting for a CPU, called from " + re.escape(PROGRAM), text) for text in evidence)

    def test_the_native_function_under_a_python_frame_is_told(self):
        if preload(INJECT):
            self.skipTest("a sanitizer stands between Python and the C library")
        # These are samples, and the kernel gives few of them on a machine that has more to do than it can.
        self.assertTrue(any(self.tells_of_copying() for _ in range(4)))

    def test_spans_of_host_threads_and_the_period_are_in_the_recording(self):
        self.record(PYTHON, PROGRAM, "read", options=("--host-sampling", "100"))
        info = self.info()
        facts = {fact["key"]: fact["value"] for fact in info["facts"]}
        self.assertEqual(facts["host_sampling_period_ns"], "10000000")
        self.assertGreater(info["counts"]["os_calls"], 0)
        self.assertGreater(info["counts"]["python_frames"], 0)

    def test_it_can_be_switched_off(self):
        self.record(PYTHON, PROGRAM, "read", options=("--host-sampling", "0"))
        info = self.info()
        self.assertNotIn("host_sampling_period_ns", {fact["key"] for fact in info["facts"]})
        self.assertEqual(info["counts"]["os_calls"] + info["counts"]["python_frames"], 0)

    def test_a_rate_beyond_the_highest_is_refused(self):
        out = self.run_tool("record", "--host-sampling", "1001", "-o", self.file, "--", "true")
        self.assertEqual(out.returncode, 2)
        self.assertFalse(os.path.exists(self.file))


if __name__ == "__main__":
    if not PYTHONS:
        print("no CPython 3.11 to 3.14 here")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]], verbosity=1)

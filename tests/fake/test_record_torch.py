#!/usr/bin/env python3
"""`warplight record --torch-ops` against a stand-in for PyTorch.

    python3 tests/fake/test_record_torch.py WARPLIGHT INJECT_LIBRARY FAKE_CUPTI APP FAKE_TORCH
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

WARPLIGHT, INJECT, CUPTI, APP, TORCH = (os.path.abspath(path) for path in sys.argv[1:6])


class Torch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "run.wlt")
        self.package = os.path.join(self.folder.name, "torch")
        self.torch = os.path.join(self.package, "lib", "libtorch_cpu.so")
        os.makedirs(os.path.dirname(self.torch))
        shutil.copy(TORCH, self.torch)
        self.set_version("2.9.1+cu128")

    def tearDown(self):
        self.folder.cleanup()

    def set_version(self, version):
        with open(os.path.join(self.package, "version.py"), "w") as file:
            file.write(f"from typing import Optional\n\n__all__ = ['__version__']\n__version__ = '{version}'\n")

    def environment(self):
        keep = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        return {**keep, "WARPLIGHT_CUPTI": CUPTI, "WARPLIGHT_INJECT": INJECT, "WARPLIGHT_LANG": "en",
                "FAKE_TORCH": self.torch, "ASAN_OPTIONS": "detect_leaks=0"}  # programs leave with operators open

    def record(self, *arguments, options=("--torch-ops",)):
        command = [WARPLIGHT, "record", "-o", self.file, "--force", "--no-report", *options, "--", APP, *arguments]
        out = subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=120,
                             cwd=self.folder.name)
        self.assertEqual(out.returncode, 0, out.stderr)
        return out

    def events(self):
        """Duration events of the recording: (name, category, thread, start, end)."""
        path = os.path.join(self.folder.name, "trace.json")
        out = subprocess.run([WARPLIGHT, "export", "--format", "chrome", "-o", path, self.file],
                             env=self.environment(), capture_output=True, text=True, timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        with open(path) as file:
            events = json.load(file)["traceEvents"]
        return [(event["name"], event.get("cat"), event["tid"], event["ts"], event["ts"] + event["dur"])
                for event in events if event.get("ph") == "X"]

    def report(self):
        out = subprocess.run([WARPLIGHT, "report", "--format", "json", self.file], env=self.environment(),
                             capture_output=True, text=True, timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)

    def counts(self):
        return {row["name"]: row["count"] for row in self.report()["ops"]}

    def check_steps(self, count):
        counts = self.counts()
        for name in ("Optimizer.step#SGD.step", "aten::linear", "aten::addmm"):
            self.assertEqual(counts.get(name), count, name)
        self.assertNotIn("a build feature", counts)

    def test_operators_have_their_names_nesting_and_kernels(self):
        out = self.record("100")
        self.assertIn("4 callbacks\n", out.stdout)
        self.check_steps(100)
        report = self.report()
        self.assertEqual(report["run"]["losses"]["dropped"], 0)
        rows = {row["name"]: row for row in report["ops"]}
        self.assertEqual(rows["aten::addmm"]["device_self_ns"], 100 * 1000)
        self.assertEqual(rows["aten::linear"]["device_total_ns"], 100 * 1000)
        self.assertEqual(rows["aten::linear"]["device_self_ns"], 0)
        kinds = {(name, category) for name, category, *_ in self.events()}
        self.assertIn(("aten::addmm", "cpu_op"), kinds)
        self.assertIn(("Optimizer.step#SGD.step", "user_annotation"), kinds)

    def test_without_the_option_nothing_is_registered(self):
        out = self.record("100", options=())
        self.assertIn("0 callbacks\n", out.stdout)
        self.assertNotIn("aten::addmm", self.counts())
        self.assertNotIn("PyTorch", out.stderr)

    def test_a_library_that_is_loaded_late_is_found(self):
        self.record("1000", "late")
        self.check_steps(1000)

    def test_every_thread_has_its_operators(self):
        self.record("20000", "threads")
        events = self.events()
        nodes, inner = {}, {}
        for name, category, thread, start, end in events:
            if name == "MmBackward0":
                self.assertEqual(category, "cpu_op")
                nodes.setdefault(thread, []).append((start, end))
            elif name == "aten::mm":
                inner.setdefault(thread, []).append((start, end))
        self.assertEqual(len(nodes), 8)
        self.assertEqual(set(nodes), set(inner))
        for thread, ranges in nodes.items():
            self.assertEqual(len(ranges), 20000)
            self.assertEqual(len(inner[thread]), 20000)
            inside = zip(sorted(ranges), sorted(inner[thread]), strict=True)
            self.assertTrue(all(node[0] <= op[0] and op[1] <= node[1] for node, op in inside))

    def test_what_ends_on_another_thread_is_nobodys_time(self):
        self.record("10", "threads")
        names = [name for name, *_ in self.events()]
        self.assertEqual(names.count("around"), 1)
        self.assertNotIn("ends elsewhere", names)
        self.assertNotIn("async", names)

    def test_ranges_that_cross_are_told_apart(self):
        self.record("50", "cross")
        events = sorted((event for event in self.events() if event[0] in ("first", "second")), key=lambda e: e[3])
        self.assertEqual([name for name, *_ in events], ["first", "second"] * 50)
        for first, second in zip(events[::2], events[1::2], strict=True):
            self.assertLessEqual(first[3], second[3])
            self.assertLessEqual(first[4], second[4])

    def test_forks_while_operators_run_disturb_nothing(self):
        self.record("1000", "fork")
        self.check_steps(1000)
        self.assertEqual(self.counts()["around the fork"], 20)

    def test_a_program_may_leave_while_operators_run(self):
        self.record("1000", "leave")
        self.check_steps(1000)

    def test_a_paused_program_is_not_watched(self):
        command = [WARPLIGHT, "record", "-o", self.file, "--no-report", "--paused", "--torch-ops", "--", APP, "100", "obey"]
        with subprocess.Popen(command, env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, cwd=self.folder.name) as process:
            said = 0
            for action, callbacks in ((None, 0), ("start", 4), ("stop", 0), ("start", 4)):
                self.assertEqual(process.stdout.readline(), f"{said} callbacks\n")
                if action:
                    subprocess.run([WARPLIGHT, "ctl", action, str(process.pid)], env=self.environment(), check=True,
                                   capture_output=True, timeout=120)
                process.stdin.write(f"{callbacks}\n")
                process.stdin.flush()
                said = callbacks
            process.stdin.close()
            self.assertEqual(process.stdout.readline(), "4 callbacks\n")
            self.assertEqual(process.wait(timeout=120), 0)
        self.check_steps(200)

    def test_who_outlives_the_recording_is_rid_of_us(self):
        self.record("100", "daemon")
        self.check_steps(100)
        alone, watched = (os.path.join(self.folder.name, name) for name in ("alone", "watched"))
        end = time.monotonic() + 30
        while not os.path.exists(alone) and not os.path.exists(watched) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertTrue(os.path.exists(alone))

    def test_an_unknown_version_is_left_alone_and_said(self):
        for version in ("3.0.0", "2.99.0a0+git1234567", "1.11.0"):
            with self.subTest(version=version):
                self.set_version(version)
                out = self.record("100")
                self.assertIn("0 callbacks\n", out.stdout)
                self.assertIn(f"its version is not one of those that are known ({version.rsplit('.', 1)[0]};", out.stderr)
                self.assertEqual(self.report()["kernels"][0]["count"], 100)

    def test_a_version_that_nothing_tells_is_left_alone_and_said(self):
        for text in (None, "", "__version__ = 'new'", "__version__ = '2", "x" * 100000):
            with self.subTest(text=text and text[:20]):
                path = os.path.join(self.package, "version.py")
                if text is None:
                    os.remove(path)
                else:
                    with open(path, "w") as file:
                        file.write(text)
                out = self.record("100")
                self.assertIn("0 callbacks\n", out.stdout)
                self.assertIn("tells its version", out.stderr)

    def test_the_package_for_cpp_tells_its_version_too(self):
        os.remove(os.path.join(self.package, "version.py"))
        with open(os.path.join(self.package, "build-version"), "w") as file:
            file.write("2.4.1+cu121\n")
        self.record("100")
        self.check_steps(100)

    def test_a_program_without_pytorch_is_told_so(self):
        out = self.record("100", "bare")
        self.assertIn("never loaded libtorch_cpu.so", out.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)

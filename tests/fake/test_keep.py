#!/usr/bin/env python3
"""The flight recorder (`record --keep`), against a fake CUPTI.

    python3 tests/fake/test_keep.py WARPLIGHT INJECT_LIBRARY FAKE_CUPTI APP
"""
import glob
import os
import signal
import sys
import time
import unittest

from control_case import APP, LAUNCHES, ControlCase, wait_for


class Keep(ControlCase):
    def files(self):
        return sorted(os.path.basename(path) for path in glob.glob(os.path.join(self.folder.name, "*.wlt")))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def facts(self, name):
        return {fact["key"]: fact["value"] for fact in self.info(self.path(name))["facts"]}

    def test_what_is_too_old_is_dropped_and_counted(self):
        recording = self.record("--keep", "2s")
        recording.tell("work")
        wait_for(lambda: self.ask("status", recording.pid)["records"] > 0)
        time.sleep(2.2)
        recording.tell("work")
        self.assertEqual(self.ask("snapshot", recording.pid)["written"], self.path("run-001.wlt"))
        self.assertEqual(self.kernels(self.path("run-001.wlt")), LAUNCHES)
        self.assertGreaterEqual(int(self.facts("run-001.wlt")["rows_too_old"]), 2 * LAUNCHES)
        self.assertEqual(self.facts("run-001.wlt")["rows_too_many"], "0")
        self.assertEqual(self.info(self.path("run-001.wlt"))["losses"]["unlinked"], 0)
        recording.end()

    def test_each_snapshot_is_whole_and_says_why(self):
        recording = self.record("--keep", "60s")
        recording.tell("work")
        self.ctl("snapshot", recording.pid)
        recording.tell("work")
        recording.process.send_signal(signal.SIGUSR2)
        wait_for(lambda: self.ask("status", recording.pid)["snapshots"] == 2)
        recording.tell("work")
        self.assertEqual(recording.end(), 0)
        self.assertEqual(self.files(), ["run-001.wlt", "run-002.wlt", "run-003.wlt"])
        for name, reason in (("run-001.wlt", "ctl"), ("run-002.wlt", "signal"), ("run-003.wlt", "end: exit code 0")):
            self.assertEqual(self.facts(name)["snapshot_reason"], reason)
            self.assertEqual(self.facts(name)["command_line"], f"{APP} {LAUNCHES} obey")
            self.assertIn("cupti_version", self.facts(name))
            self.assertEqual(self.info(self.path(name))["sources"][0]["repairs"], [])
            self.assertEqual(self.report(self.path(name))["devices"][0]["name"], "Fake GPU")
        self.assertEqual(self.kernels(self.path("run-001.wlt")), LAUNCHES)
        self.assertEqual(self.kernels(self.path("run-003.wlt")), 3 * LAUNCHES)

    def test_files_that_exist_are_passed_over(self):
        with open(self.path("run-001.wlt"), "w") as file:
            file.write("precious")
        recording = self.record("--keep", "60s", "--force")
        recording.tell("work")
        recording.end()
        with open(self.path("run-001.wlt")) as file:
            self.assertEqual(file.read(), "precious")
        self.assertEqual(self.kernels(self.path("run-002.wlt")), LAUNCHES)

    def test_a_crash_leaves_its_last_moments(self):
        recording = self.record("--keep", "60s", program=(APP, str(LAUNCHES), "obey"))
        recording.tell("work")
        os.kill(self.ask("status", recording.pid)["target_pid"], signal.SIGKILL)
        self.assertEqual(recording.end(), 128 + signal.SIGKILL)
        self.assertEqual(self.facts("run-001.wlt")["snapshot_reason"], "end: signal 9")
        self.assertEqual(self.kernels(self.path("run-001.wlt")), LAUNCHES)

    def test_a_slow_step_is_kept_and_the_next_ones_are_not(self):
        recording = self.record("--keep", "60s", "--on-slow-step", "300ms")
        for _ in range(3):
            recording.tell("step 1")
        self.assertEqual(self.files(), [])
        recording.tell("step 400")
        wait_for(lambda: self.ask("status", recording.pid)["snapshots"] == 1)
        recording.tell("step 400")
        recording.tell("step 1")
        recording.end()
        self.assertIn("1 more slow steps", recording.stderr)
        self.assertEqual(self.files(), ["run-001.wlt", "run-002.wlt"])
        self.assertRegex(self.facts("run-001.wlt")["snapshot_reason"], r"^slow step: step took \d{6} us$")
        self.assertEqual(self.info(self.path("run-001.wlt"))["counts"]["annotations"], 4)

    def test_a_step_of_many_times_the_median_is_slow(self):
        recording = self.record("--keep", "60s", "--on-slow-step", "50x", "--step", "step")
        for _ in range(10):
            recording.tell("step 1")
        recording.tell("step 1000")
        wait_for(lambda: self.ask("status", recording.pid)["snapshots"] == 1)
        recording.end()
        self.assertRegex(self.facts("run-001.wlt")["snapshot_reason"], r", the median is \d+ us$")

    def test_a_disk_that_is_full_for_a_while_ends_nothing(self):
        recording = self.record("--keep", "60s")
        recording.tell("work")
        os.mkdir(self.path("elsewhere"))
        os.rename(self.folder.name, self.folder.name + ".moved")
        try:
            out = self.run_warplight_in("/", "ctl", "snapshot", recording.pid)
            self.assertEqual(out.returncode, 4)
            self.assertIn("cannot make the snapshot", out.stderr)
        finally:
            os.rename(self.folder.name + ".moved", self.folder.name)
        self.ctl("snapshot", recording.pid)
        self.assertEqual(recording.end(), 0)

    def test_wrong_usage_is_said_before_anything_starts(self):
        for options, words in ((("--keep", "0"), "give a time"), (("--on-slow-step", "2x"), "--keep"),
                               (("--keep", "1s", "--on-slow-step", "0.5x"), "cannot be '0.5x'"),
                               (("--keep", "1s", "--on-slow-step", "x"), "cannot be 'x'"),
                               (("--keep", "1s", "--step", "s"), "--on-slow-step")):
            out = self.run_warplight("record", *options, "--no-report", "--", "/bin/true")
            self.assertEqual(out.returncode, 2, out.stderr)
            self.assertIn(words, out.stderr)
        self.assertEqual(self.files(), [])



if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=1)

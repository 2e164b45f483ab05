#!/usr/bin/env python3
"""Control of recordings that run, against a fake CUPTI: start, stop, status, snapshots.

    python3 tests/fake/test_ctl.py WARPLIGHT INJECT_LIBRARY FAKE_CUPTI APP
"""
import contextlib
import glob
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

WARPLIGHT, INJECT, CUPTI, APP = (os.path.abspath(path) for path in sys.argv[1:5])
LAUNCHES = 100
RECORDS = 2 * LAUNCHES + 2 * LAUNCHES // 10  # launches and copies, with their calls


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.02)


class Recording:
    """A program that obeys, and its recorder."""

    def __init__(self, case, *options, file="run.wlt", program=None, **extra):
        self.case = case
        self.file = os.path.join(case.folder.name, file)
        command = [WARPLIGHT, "record", "-o", self.file, "--no-report", *options, "--",
                   *(program or (APP, str(LAUNCHES), "obey"))]
        self.process = subprocess.Popen(command, env=case.environment(**extra), cwd=case.folder.name, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.pid = str(self.process.pid)
        wait_for(lambda: any(r["record_pid"] == self.process.pid for r in case.status()))

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        self.case.assertEqual(self.process.stdout.readline(), "did it\n")

    def end(self):
        _, self.stderr = self.process.communicate(timeout=120)
        return self.process.returncode


class Control(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.running = []

    def tearDown(self):
        for recording in self.running:
            if recording.process.poll() is None:
                recording.process.kill()
                recording.process.wait()
            for pipe in (recording.process.stdin, recording.process.stdout, recording.process.stderr):
                with contextlib.suppress(OSError):
                    pipe.close()
        self.folder.cleanup()

    def environment(self, **extra):
        keep = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        return {**keep, "WARPLIGHT_CUPTI": CUPTI, "WARPLIGHT_INJECT": INJECT, "WARPLIGHT_LANG": "en", **extra}

    def record(self, *options, **extra):
        recording = Recording(self, *options, **extra)
        self.running.append(recording)
        return recording

    def run_warplight(self, *arguments):
        return subprocess.run([WARPLIGHT, *arguments], env=self.environment(), capture_output=True, text=True, timeout=120,
                              cwd=self.folder.name)

    def ctl(self, *arguments):
        out = self.run_warplight("ctl", *arguments)
        self.assertEqual(out.returncode, 0, out.stderr)
        return out.stdout

    def ask(self, *arguments):
        return json.loads(self.ctl(*arguments, "--format", "json"))["recordings"][0]

    def status(self):
        return json.loads(self.ctl("status", "--format", "json"))["recordings"]

    def report(self, path):
        out = self.run_warplight("report", "--format", "json", path)
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)

    def kernels(self, path):
        report = self.report(path)
        self.assertEqual(report["run"]["losses"]["dropped"], 0)
        return sum(kernel["count"] for kernel in report["kernels"])

    def info(self, path):
        out = self.run_warplight("info", "--format", "json", path)
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)["files"][0]

    def test_a_paused_program_is_not_touched_before_the_start(self):
        calls = os.path.join(self.folder.name, "calls")
        recording = self.record("--paused", FAKE_CUPTI_CALLS=calls)
        recording.tell("work")
        wait_for(lambda: self.ask("status", recording.pid)["processes"] == 1)
        self.assertEqual(self.ask("status", recording.pid)["state"], "paused")
        self.assertFalse(os.path.exists(calls))
        self.assertEqual(self.ask("start", recording.pid)["state"], "recording")
        recording.tell("work")
        self.assertEqual(recording.end(), 0)
        self.assertEqual(self.kernels(recording.file), LAUNCHES)

    def test_a_paused_program_that_is_never_started_leaves_an_empty_recording(self):
        recording = self.record("--paused")
        recording.tell("work")
        self.assertEqual(recording.end(), 0)
        self.assertIn("0 records", recording.stderr)
        self.assertEqual(self.info(recording.file)["counts"]["gpu_operations"], 0)
        self.assertEqual(self.info(recording.file)["sources"][0]["repairs"], [])

    def test_devices_from_before_the_start_are_named_where_cupti_can(self):
        for setting, name in (("0", "Fake GPU"), ("1", "")):
            with self.subTest(no_dump=setting):
                recording = self.record("--paused", file=f"{setting}.wlt", FAKE_CUPTI_NO_DUMP=setting)
                recording.tell("work")
                self.ctl("start", recording.pid)
                recording.tell("work")
                recording.end()
                report = self.report(recording.file)
                self.assertEqual(report["devices"][0]["name"] or "", name)

    def test_a_recording_stops_and_starts_as_often_as_asked(self):
        recording = self.record()
        recording.tell("work")
        for _ in range(3):
            before = self.ask("stop", recording.pid)
            self.assertEqual(before["state"], "paused")
            recording.tell("work")
            self.assertEqual(self.ask("status", recording.pid)["records"], before["records"])
            self.ctl("start", recording.pid)
            recording.tell("work")
        self.assertEqual(recording.end(), 0)
        self.assertEqual(self.kernels(recording.file), 4 * LAUNCHES)

    def test_a_stop_hands_everything_over_and_switches_everything_off(self):
        calls = os.path.join(self.folder.name, "calls")
        recording = self.record(FAKE_CUPTI_CALLS=calls)
        recording.tell("work")
        self.assertEqual(self.ask("stop", recording.pid)["records"], RECORDS + 1)
        self.assertEqual(self.kernels(recording.file), LAUNCHES)
        with open(calls) as file:
            lines = file.read().split("\n")
        kinds = {state: {line.split()[1] for line in lines if line.startswith(state)} for state in ("enable", "disable")}
        self.assertEqual(kinds["enable"], kinds["disable"])
        recording.end()

    def test_ranges_of_a_pause_are_left_out(self):
        recording = self.record("--paused")
        recording.tell("step 1")
        self.ctl("start", recording.pid)
        recording.tell("step 1")
        self.ctl("stop", recording.pid)
        recording.tell("step 1")
        recording.end()
        self.assertEqual(self.info(recording.file)["counts"]["annotations"], 1)

    def test_a_snapshot_can_be_read_while_the_recording_goes_on(self):
        recording = self.record()
        recording.tell("work")
        wait_for(lambda: self.ask("status", recording.pid)["records"] > RECORDS)
        written = self.ask("snapshot", recording.pid)["written"]
        self.assertEqual(self.kernels(written), LAUNCHES)
        recording.tell("work")
        recording.end()
        self.assertEqual(self.kernels(recording.file), 2 * LAUNCHES)

    def test_recordings_are_found_by_file_and_by_either_pid(self):
        first, second = self.record(file="first.wlt"), self.record(file="second.wlt")
        target = str(self.ask("status", first.pid)["target_pid"])
        for name in (target, first.pid, first.file, "first.wlt"):
            self.assertEqual(self.ask("status", name)["file"], first.file)
        out = self.run_warplight("ctl", "stop")
        self.assertEqual(out.returncode, 2)
        for pid in (first.pid, second.pid):
            self.assertIn(pid, out.stderr)
        self.ctl("stop", "second.wlt")
        self.assertEqual(self.ask("status", first.pid)["state"], "recording")
        self.assertEqual(self.ask("status", second.pid)["state"], "paused")
        for recording in (first, second):
            self.assertEqual(recording.end(), 0)

    def test_what_does_not_run_is_said_in_one_line(self):
        recording = self.record()
        for arguments, code, words in ((("stop", "999999999"), 4, "no recording that runs is called that"),
                                       (("sotp", recording.pid), 2, "did you mean 'stop'?"),
                                       (("stop", "x", "y"), 2, "one word too many"), ((), 2, "usage")):
            out = self.run_warplight("ctl", *arguments)
            self.assertEqual(out.returncode, code, out.stderr)
            self.assertIn(words, out.stderr)
            self.assertEqual(len(out.stderr.strip().splitlines()), 1)
        recording.end()

    def test_what_a_killed_recorder_left_is_not_taken_for_running(self):
        recording = self.record()
        recording.process.kill()
        recording.process.wait()
        self.assertNotIn(recording.process.pid, [r["record_pid"] for r in self.status()])
        self.assertEqual(len(glob.glob(f"/dev/shm/warplight-{recording.pid}-*/control")), 1)
        self.record(file="next.wlt").end()
        self.assertEqual(glob.glob(f"/dev/shm/warplight-{recording.pid}-*"), [])

    def test_hostile_peers_do_not_stop_a_recording(self):
        recording = self.record()
        path, = glob.glob(f"/dev/shm/warplight-{recording.pid}-*/control")
        peers = []
        for request in (b"", b"x", b"status" * 1000, bytes(64), b"status\0", None, None) * 10:
            peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
            with contextlib.suppress(OSError):
                peer.connect(path)
                if request is not None:
                    peer.send(request)
            peers.append(peer)
        recording.tell("work")
        self.assertEqual(self.ask("status", recording.pid)["state"], "recording")
        for peer in peers:
            peer.close()
        self.assertEqual(recording.end(), 0)
        self.assertEqual(self.kernels(recording.file), LAUNCHES)

    def test_processes_of_a_long_path_can_be_controlled(self):
        long = os.path.join(self.folder.name, "x" * 100, "y" * 100)
        os.makedirs(long)
        environment = self.environment(TMPDIR=long)
        recording = self.record(TMPDIR=long)
        out = subprocess.run([WARPLIGHT, "ctl", "stop", recording.pid], env=environment, capture_output=True, text=True,
                             timeout=60)
        self.assertEqual(out.returncode, 0, out.stderr)
        recording.end()

    @unittest.skipIf(os.geteuid() != 0, "another user is needed")
    def test_another_user_may_not_control_a_recording(self):
        recording = self.record()
        path, = glob.glob(f"/dev/shm/warplight-{recording.pid}-*/control")

        def become_nobody():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        probe = ("import socket, sys\ns = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                 "s.settimeout(30)\ns.connect(sys.argv[1])\ns.send(b'stop')\ntry:\n    sys.exit(len(s.recv(100)))\n"
                 "except ConnectionError:\n    pass\n")
        folder = os.path.dirname(path)
        os.chmod(folder, 0o711)  # as if the folder did not protect it
        os.chmod(path, 0o777)
        out = subprocess.run(["/usr/bin/python3", "-c", probe, path], preexec_fn=become_nobody, capture_output=True, timeout=60)
        os.chmod(folder, 0o700)
        self.assertEqual(out.returncode, 0, out.stderr)  # it got to the door, and no answer
        self.assertEqual(self.ask("status", recording.pid)["state"], "recording")
        recording.end()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=1)

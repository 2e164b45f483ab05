"""Programs that obey, their recorders, and what `ctl` says of them: shared by the tests of control and retention."""
import contextlib
import json
import os
import signal
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


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return None


class Recording:
    """A program that obeys, and its recorder."""

    def __init__(self, case, *options, file="run.wlt", program=None, group=False, **extra):
        self.case = case
        self.file = os.path.join(case.folder.name, file)
        command = [WARPLIGHT, "record", "-o", self.file, "--no-report", *options, "--",
                   *(program or (APP, str(LAUNCHES), "obey"))]
        self.process = subprocess.Popen(command, env=case.environment(**extra), cwd=case.folder.name, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        preexec_fn=(lambda: os.setpgid(0, 0)) if group else None)
        self.pid = str(self.process.pid)
        wait_for(lambda: any(r["record_pid"] == self.process.pid for r in case.status()))

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        self.case.assertEqual(self.process.stdout.readline(), "did it\n")

    def end(self):
        _, self.stderr = self.process.communicate(timeout=120)
        return self.process.returncode


class ControlCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.running = []

    def tearDown(self):
        for recording in self.running:
            if recording.process.poll() is None:
                recording.process.send_signal(signal.SIGCONT)
                recording.process.terminate()
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
        return self.run_warplight_in(self.folder.name, *arguments)

    def run_warplight_in(self, folder, *arguments):
        return subprocess.run([WARPLIGHT, *arguments], env=self.environment(), capture_output=True, text=True, timeout=120,
                              cwd=folder)

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

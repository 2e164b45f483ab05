#!/usr/bin/env python3
"""Control of recordings that run, against a fake CUPTI: start, stop, status, snapshots.

    python3 tests/fake/test_ctl.py WARPLIGHT INJECT_LIBRARY FAKE_CUPTI APP
"""
import contextlib
import fcntl
import glob
import os
import pty
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import unittest

from control_case import APP, CUPTI, LAUNCHES, RECORDS, WARPLIGHT, ControlCase, state_of, wait_for

DRIVER, KERNEL = "4", "10"  # CUPTI's numbers of kinds


class Control(ControlCase):
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

    def test_a_stop_hands_everything_over(self):
        recording = self.record()
        recording.tell("work")
        self.assertEqual(self.ask("stop", recording.pid)["records"], RECORDS + 1)
        self.assertEqual(self.kernels(recording.file), LAUNCHES)
        recording.end()

    @staticmethod
    def switched_on(calls):
        """What is on after these calls of CUPTI: kinds, single calls of the driver, counters, subscriptions."""
        on = set()
        for line in calls:
            what, number = line.split()
            if what in ("enable", "enable-driver-call"):
                on.add((what, number))
            elif what in ("disable", "disable-driver-call"):
                on.discard((what.replace("disable", "enable"), number))
            elif what in ("count-managed", "subscribe"):
                on.add(what)
            elif what in ("count-no-managed", "unsubscribe"):
                on.discard({"count-no-managed": "count-managed"}.get(what, "subscribe"))
        return on

    def test_nothing_is_switched_on_while_stopped_and_all_of_it_again_after_a_start(self):
        for library in (CUPTI, CUPTI.replace("fake-cupti", "fake-cupti-old")):
            with self.subTest(library=library):
                calls = os.path.join(self.folder.name, os.path.basename(library))

                def on(calls=calls):
                    with open(calls) as file:
                        return self.switched_on(file.read().splitlines())
                recording = self.record(file=os.path.basename(library) + ".wlt", FAKE_CUPTI_CALLS=calls,
                                        WARPLIGHT_CUPTI=library)
                recording.tell("managed")
                wait_for(lambda: "count-managed" in on())
                recorded = on()
                self.assertIn(("enable", KERNEL), recorded)
                self.assertEqual(("enable", DRIVER) in recorded, "old" in library)
                for _ in range(2):
                    self.ctl("stop", recording.pid)
                    self.assertEqual(on(), set())
                    recording.tell("work")
                    self.assertEqual(on(), set())
                    self.ctl("start", recording.pid)
                    self.assertEqual(on(), recorded)
                self.assertEqual(recording.end(), 0)

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

    def test_program_and_recorder_stop_and_continue_together(self):
        # A process group of its own, as jobs of a shell have.
        recording = self.record(program=(APP, "100", "sleep"), group=True)
        pids = (recording.process.pid, self.ask("status", recording.pid)["target_pid"])
        os.kill(pids[0], signal.SIGTSTP)
        wait_for(lambda: [state_of(pid) for pid in pids] == ["T", "T"])
        os.kill(pids[0], signal.SIGCONT)
        wait_for(lambda: "T" not in [state_of(pid) for pid in pids])
        self.assertEqual(self.ask("status", recording.pid)["state"], "recording")
        os.kill(pids[0], signal.SIGTERM)
        self.assertEqual(recording.end(), 128 + signal.SIGTERM)

    def test_the_line_on_the_terminal_fits_it(self):
        for columns in (40, 90):
            with self.subTest(columns=columns):
                pid, terminal = pty.fork()
                if pid == 0:
                    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
                    os.execve(WARPLIGHT, [WARPLIGHT, "record", "-o", os.path.join(self.folder.name, "run.wlt"), "--force",
                                          "--no-report", "--", APP, "100", "sleep"], self.environment(LANG="C.UTF-8"))
                output = b""
                while b"launches" not in output:
                    output += os.read(terminal, 4096)
                os.write(terminal, b"\x03")
                with contextlib.suppress(OSError):
                    while more := os.read(terminal, 4096):
                        output += more
                os.close(terminal)
                os.waitpid(pid, 0)
                lines = output.decode().replace("\x1b[K", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
                lines = lines.replace("^C", "")  # the terminal's own echo
                shown = [line for line in lines.split("\r") if line.startswith("recording")]
                self.assertTrue(shown)
                self.assertLess(max(len(line) for line in shown), columns)

    @unittest.skipIf(os.geteuid() != 0, "another user is needed")
    def test_a_program_with_other_rights_is_named(self):
        program = os.path.join(self.folder.name, "true")
        shutil.copy("/bin/true", program)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        out = self.run_warplight("record", "--no-report", "--", program)
        self.assertEqual(out.returncode, 0)
        self.assertIn("runs with other rights than yours", out.stderr)

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

#!/usr/bin/env python3
"""`warplight record` and programs, disks and limits at their worst: nothing may harm the program, and nothing
may get lost in silence.

    python3 tests/fake/test_record_faults.py WARPLIGHT INJECT_LIBRARY FAKE_CUPTI APP
"""
import collections
import glob
import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import signals

WARPLIGHT, INJECT, CUPTI, APP = (os.path.abspath(path) for path in sys.argv[1:5])
RECORDS_OF_100 = 1 + 2 * 100 + 2 * 10  # a device, launches and copies with their calls


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.02)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def sanitized():
    with open(APP, "rb") as file:
        return b"__asan_init" in (program := file.read()) or b"__tsan_init" in program


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "run.wlt")
        self.before = self.buffers()

    def tearDown(self):
        self.folder.cleanup()
        self.assertEqual(self.buffers() - self.before, set(), "buffers were left behind")

    @staticmethod
    def buffers():
        folders = glob.glob("/dev/shm/warplight-*")  # but for those of recordings that are going on
        # One that ended since the look has removed its own.
        return {folder for folder in folders if not alive(int(folder.split("-")[1])) and os.path.exists(folder)}

    def environment(self, **extra):
        keep = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        return {**keep, "WARPLIGHT_CUPTI": CUPTI, "WARPLIGHT_INJECT": INJECT, "WARPLIGHT_LANG": "en", **extra}

    def command(self, *target):
        return [WARPLIGHT, "record", "-o", self.file, "--force", "--no-report", "--", *target]

    def record(self, *target, preexec_fn=None, **extra):
        return subprocess.run(self.command(*target), env=self.environment(**extra), capture_output=True, text=True,
                              timeout=120, cwd=self.folder.name, preexec_fn=preexec_fn)

    def start(self, *target, **options):
        return subprocess.Popen(self.command(*target), env=self.environment(), cwd=self.folder.name, **options)

    def read(self, *arguments):
        out = subprocess.run([WARPLIGHT, *arguments, self.file], env=self.environment(), capture_output=True,
                             text=True, timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)

    def report(self):
        return self.read("report", "--format", "json")

    def events(self):
        return [event for event in self.read("export", "--format", "chrome")["traceEvents"] if event["ph"] == "X"]

    def check_records(self, out, count, code=0):
        self.assertEqual(out.returncode, code, out.stderr)
        self.assertIn(f"warplight: {count} records", out.stderr)

    # ---- what the library is ---------------------------------------------------------------------------------

    @unittest.skipUnless(shutil.which("readelf") and shutil.which("nm"), "needs binutils")
    def test_the_library_shows_its_entry_points_alone_and_needs_libc_alone(self):
        def lines(*command):
            return subprocess.run([*command, INJECT], capture_output=True, text=True, check=True).stdout.splitlines()

        dynamic = lines("readelf", "-dW")
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", "\n".join(dynamic))
        if any("san.so" in name for name in needed):
            self.skipTest("a sanitizer is linked in")
        exported = {line.split()[-1] for line in lines("nm", "-D", "--defined-only")}
        self.assertEqual(exported, {"InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension"})
        self.assertEqual([name for name in needed if not re.match(r"(libc|libdl|libpthread|ld-linux.*)\.so", name)], [])
        self.assertNotIn("TEXTREL", "\n".join(dynamic))
        self.assertIn("NODELETE", "\n".join(dynamic))
        for line in lines("readelf", "-lW"):
            if re.match(r"\s+(LOAD|GNU_STACK)", line):
                self.assertNotRegex(line, r"\bRWE\b")

    # ---- limits of the target --------------------------------------------------------------------------------

    def test_a_limit_on_the_size_of_files_is_named_and_the_program_goes_on(self):
        out = self.record("/bin/sh", "-c", f"ulimit -f 1000; exec {APP} 100")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("done\n", out.stdout)
        self.assertIn("ulimit -f", out.stderr)

    @unittest.skipIf(sanitized(), "sanitizers need more address space than there is")
    def test_too_little_address_space_is_named_and_the_program_goes_on(self):
        out = self.record("/bin/sh", "-c", f"ulimit -v 60000; exec {APP} 100")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("done\n", out.stdout)
        self.assertIn("ulimit -v", out.stderr)

    def on_a_small_disk(self, size, script):
        """Runs a script in a mount namespace in which /dev/shm is small and $SHM says so."""
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("needs the right to mount")
        setup = f"mount -t tmpfs -o size={size} none /dev/shm && "
        return subprocess.run(["unshare", "-m", "/bin/sh", "-c", setup + script], env=self.environment(), text=True,
                              capture_output=True, timeout=120, cwd=self.folder.name)

    def test_no_room_for_buffers_at_the_start_is_named_and_the_program_goes_on(self):
        fill = "head -c 1000000 /dev/zero > /dev/shm/full; "
        out = self.on_a_small_disk("64k", fill + " ".join(self.command(APP, "20000")))
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("done\n", out.stdout)
        self.assertIn("full", out.stderr)

    def test_buffers_that_outgrow_their_disk_drop_and_count_but_never_kill(self):
        for api in ("26", "130001"):
            with self.subTest(api=api):
                out = self.on_a_small_disk("3m", f"FAKE_CUPTI_API={api} " + " ".join(self.command(APP, "100000")))
                self.assertEqual(out.returncode, 0, out.stderr)
                self.assertIn("done\n", out.stdout)
                kept = int(re.search(r"(\d+) records in", out.stderr).group(1))
                dropped = self.report()["run"]["losses"]["dropped"]
                self.assertEqual(kept + dropped, 1 + 2 * 100000 + 2 * 10000)
                self.assertGreater(dropped, 0)
                self.assertIn("full", out.stderr)

    def test_what_finds_no_buffer_while_the_collector_stands_still_is_counted(self):
        for api in ("26", "130001"):
            with self.subTest(api=api):
                process = self.start("/bin/sh", "-c", f"kill -STOP $PPID; FAKE_CUPTI_API={api} {APP} 400000; kill -CONT $PPID",
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                output, errors = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 0, errors)
                self.assertIn("done\n", output)
                kept = int(re.search(r"(\d+) records in", errors).group(1))
                dropped = self.report()["run"]["losses"]["dropped"]
                self.assertGreater(dropped, 0)
                self.assertEqual(kept + dropped, 1 + 2 * 400000 + 2 * 40000)

    # ---- what targets do -------------------------------------------------------------------------------------

    def test_a_thousand_threads_are_recorded(self):
        self.check_records(self.record(APP, "20", "threads"), 1 + 1000 * (2 * 20 + 2 * 2))

    def test_leaving_while_other_threads_launch_is_harmless(self):
        for _ in range(5):
            out = self.record(APP, "1000", "leave-threads")
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertNotIn("took CUPTI over", out.stderr)

    def test_a_target_killed_before_its_first_buffer_was_full_keeps_its_records(self):
        for api in ("18", "26", "130001"):
            with self.subTest(api=api):
                self.check_records(self.record(APP, "100", "kill", FAKE_CUPTI_API=api), RECORDS_OF_100, code=137)

    def test_a_process_that_uses_cuda_and_cannot_say_why_it_is_silent_is_found(self):
        if sanitized():
            self.skipTest("Python cannot load what a sanitizer was built into")
        driver = os.path.join(self.folder.name, "libcuda.so.1")
        shutil.copy(CUPTI, driver)
        device = os.path.join(self.folder.name, "dev", "nvidia-uvm")
        os.mkdir(os.path.dirname(device))
        with open(device, "w"):
            pass
        program = "import ctypes, sys, time; file = open(sys.argv[1]); [ctypes.CDLL(path) for path in sys.argv[2:]]; time.sleep(3)"
        for files, said in (([device, driver], "did not load the library"), ([os.devnull, driver, INJECT], "cannot write to the folder"),
                            ([os.devnull, driver], "no process used CUDA")):
            with self.subTest(said=said):
                out = self.record(sys.executable, "-c", program, *files)
                self.assertEqual(out.returncode, 0, out.stderr)
                self.assertIn(said, out.stderr)

    def test_a_forked_worker_that_leaves_cuda_alone_is_not_taken_for_silent(self):
        driver = os.path.join(self.folder.name, "libcuda.so.1")
        shutil.copy(CUPTI, driver)
        out = self.record(APP, "100", "worker", WARPLIGHT_CUPTI=driver)
        self.check_records(out, 2 * RECORDS_OF_100 - 1)
        self.assertNotIn("process", out.stderr)

    def test_a_process_of_another_user_or_in_a_chroot_is_found_and_goes_on(self):
        if os.geteuid() != 0 or sanitized():
            self.skipTest("needs root, and libraries that Python can load")
        inside = os.path.join(self.folder.name, "inside")
        os.mkdir(inside)
        os.chmod(self.folder.name, 0o755)
        shutil.copy(CUPTI, os.path.join(inside, "libcuda.so.1"))
        shutil.copy(INJECT, os.path.join(inside, "libwarplight-inject.so"))
        for leave in (f"os.chdir({inside!r}); os.setgroups([]); os.setgid(65534); os.setuid(65534)",
                      f"os.chroot({inside!r}); os.chdir('/')"):
            with self.subTest(leave=leave):
                program = f"import ctypes, os, time; {leave}; ctypes.CDLL('./libcuda.so.1'); " \
                          "print('got', ctypes.CDLL('./libwarplight-inject.so').InitializeInjection(), flush=True); time.sleep(5)"
                out = self.record(sys.executable, "-c", program)
                self.assertEqual(out.returncode, 0, out.stderr)
                self.assertIn("got 1\n", out.stdout)
                self.assertIn("cannot write to the folder", out.stderr)

    @unittest.skipIf(sanitized(), "sanitizers need /proc")
    def test_without_proc_all_is_recorded_but_what_needs_it(self):
        if subprocess.run(["unshare", "-m", "umount", "-l", "/proc"], capture_output=True).returncode:
            self.skipTest("needs the right to unmount")
        command = " ".join(self.command(APP, "100"))
        out = subprocess.run(["unshare", "-m", "/bin/sh", "-c", f"umount -l /proc && {command}"],
                             env=self.environment(), capture_output=True, text=True, timeout=120, cwd=self.folder.name)
        self.assertIn("done\n", out.stdout)
        self.check_records(out, RECORDS_OF_100)
        self.assertEqual(self.report()["run"]["losses"]["unlinked"], 0)

    def test_a_process_that_execs_is_recorded_twice(self):
        self.check_records(self.record(APP, "100", "exec"), 2 * RECORDS_OF_100)
        self.assertEqual(self.report()["run"]["losses"]["unlinked"], 0)

    def test_a_process_that_closes_all_descriptors_keeps_its_files_clean(self):
        self.check_records(self.record(APP, "100", "close"), RECORDS_OF_100)

    def test_a_process_that_outlives_the_recording_hands_over_what_it_had(self):
        started = time.monotonic()
        self.check_records(self.record(APP, "100", "daemon"), RECORDS_OF_100)
        self.assertLess(time.monotonic() - started, 60)  # it is not waited for

    def test_two_hundred_short_processes_leave_little_behind_while_it_runs(self):
        most = f"n=0; for i in $(seq 200); do {APP} 100 >/dev/null; " \
               "c=$(ls \"$WARPLIGHT_RECORD_DIR\" | wc -l); [ $c -gt $n ] && n=$c; done; echo most $n"
        out = self.record("/bin/sh", "-c", most, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        self.check_records(out, 200 * RECORDS_OF_100)
        self.assertLess(int(out.stdout.split()[1]), 100)

    def test_processes_of_other_pid_namespaces_are_kept_apart(self):
        if subprocess.run(["unshare", "-pf", "true"], capture_output=True).returncode:
            self.skipTest("needs the right to make namespaces")
        one = f"unshare -pf {APP} 100"
        self.check_records(self.record("/bin/sh", "-c", f"{one} & {one} & {one} & wait"), 3 * RECORDS_OF_100)
        self.assertEqual(self.report()["run"]["losses"]["unlinked"], 0)

    def test_a_ring_full_of_nonsense_harms_nobody(self):
        out = self.record(APP, "2000", "vandal")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertNotIn("\033", out.stderr)
        self.report()

    def test_a_ring_that_is_cut_harms_nobody(self):
        out = self.record(APP, "100", "cut")  # a SIGBUS of its own making is the target's, not ours
        self.assertIn(out.returncode, (128 + signal.SIGKILL, 128 + signal.SIGBUS), out.stderr)

    def test_pipes_break_in_the_target_as_they_do_without_us(self):
        out = self.record("/bin/sh", "-c", "yes 2>/dev/null | head -1; grep SigIgn /proc/self/status")
        self.assertEqual(out.returncode, 0)
        ignored = int(re.search(r"SigIgn:\s*(\w+)", out.stdout).group(1), 16)
        self.assertEqual(ignored >> (signal.SIGPIPE - 1) & 1, 0)
        blocked = self.record("grep", "SigBlk", "/proc/self/status").stdout
        self.assertEqual(int(blocked.split()[1], 16), 0)

    def test_signals_that_the_shell_ignores_stay_ignored(self):
        out = self.record("grep", "SigIgn", "/proc/self/status",
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.assertEqual(int(out.stdout.split()[1], 16) >> (signal.SIGINT - 1) & 1, 1)

    def test_closed_standard_descriptors_do_not_become_the_recording(self):
        command = " ".join(self.command(APP, "100")) + " <&- >&- 2>&-"
        subprocess.run(["/bin/sh", "-c", command], env=self.environment(), timeout=60, cwd=self.folder.name)
        self.assertEqual(sum(kernel["count"] for kernel in self.report()["kernels"]), 100)

    def test_recordings_of_one_second_get_names_of_their_own(self):
        command = [WARPLIGHT, "record", "--no-report", "--", APP, "100"]
        started = [subprocess.Popen(command, env=self.environment(), cwd=self.folder.name, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for _ in range(4)]
        self.assertEqual([process.wait(60) for process in started], [0] * 4)
        self.assertEqual(len(glob.glob(os.path.join(self.folder.name, "*.wlt"))), 4)

    # ---- signals and terminals -------------------------------------------------------------------------------

    def test_interrupts_sent_to_us_alone_are_passed_on(self):
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                process = self.start(APP, "100", "sleep", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(process.stdout.readline(), b"working\n")
                process.send_signal(number)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, 128 + number)
                self.assertEqual(sum(kernel["count"] for kernel in self.report()["kernels"]), 100)

    def test_the_target_reads_the_terminal_and_gets_its_interrupts_once(self):
        script = "trap 'echo caught' INT; read line; echo got $line; read line; sleep 0.2; exit 5"
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(WARPLIGHT, self.command("/bin/sh", "-c", script), self.environment())
        output = b""
        os.write(terminal, b"hello\n")
        while b"got hello" not in output:
            output += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        while b"caught" not in output:
            output += os.read(terminal, 4096)
        os.write(terminal, b"more\n")
        try:
            while more := os.read(terminal, 4096):
                output += more
        except OSError:
            pass
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5)
        self.assertEqual(output.count(b"caught"), 1)

    @unittest.skipUnless(shutil.which("bash"), "needs a shell with job control")
    def test_the_whole_job_stops_at_the_terminal_and_goes_on_in_the_foreground(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe("bash", ["bash", "--norc", "--noediting", "-i"], self.environment(PS1="", LANG="C"))
        output = b""

        def wait_output(words):
            nonlocal output
            while words not in output:
                output += os.read(terminal, 4096)
            output = output.split(words, 1)[1]
        os.write(terminal, b"stty -echo\n")
        os.write(terminal, " ".join(self.command(APP, "100", "sleep")).encode() + b"\n")
        wait_output(b"working")
        os.write(terminal, b"\x1a")
        wait_output(b"Stopped")
        os.write(terminal, b"echo job $(jobs -p).\n")
        wait_output(b"job ")
        while b"." not in output:
            output += os.read(terminal, 4096)
        job = int(output.split(b".")[0])
        os.write(terminal, b"fg\n")

        def in_foreground():
            with open(f"/proc/{job}/stat") as file:
                state, _, _, _, _, foreground = file.read().rsplit(")", 1)[1].split()[:6]
            return state != "T" and int(foreground) == job
        wait_for(in_foreground)
        os.write(terminal, b"\x03")
        os.write(terminal, b"echo code $?\n")
        wait_output(b"code 130")
        os.write(terminal, b"exit\n")
        os.waitpid(pid, 0)
        os.close(terminal)
        self.assertEqual(sum(kernel["count"] for kernel in self.report()["kernels"]), 100)

    # ---- the end of the collector ----------------------------------------------------------------------------

    def test_a_killed_collector_leaves_the_target_alone_and_the_next_one_cleans_up(self):
        done = os.path.join(self.folder.name, "done")
        script = f"kill -9 $PPID; {APP} 300000; echo $? > {done}.part; mv {done}.part {done}"
        process = self.start("/bin/sh", "-c", script, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(process.wait(60), -signal.SIGKILL)
        wait_for(lambda: os.path.exists(done), 60)
        with open(done) as file:
            self.assertEqual(file.read(), "0\n")
        self.assertNotEqual(self.buffers() - self.before, set())
        self.file = os.path.join(self.folder.name, "next.wlt")
        self.check_records(self.record(APP, "100"), RECORDS_OF_100)

    def test_a_recording_can_be_read_while_it_grows_and_after_the_collector_was_killed(self):
        process = self.start(APP, "1000", "sleep", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual(process.stdout.readline(), b"working\n")
        size = os.path.getsize(self.file)
        wait_for(lambda: os.path.getsize(self.file) > size)
        wait_for(lambda: sum(kernel["count"] for kernel in self.report()["kernels"]) == 1000)
        target = int(subprocess.run(["pgrep", "-P", str(process.pid), "fake-app"], capture_output=True, text=True).stdout)
        process.kill()
        process.wait(60)
        self.assertTrue(alive(target))
        os.kill(target, signal.SIGKILL)
        process.stdout.close()
        self.assertEqual(sum(kernel["count"] for kernel in self.report()["kernels"]), 1000)
        self.record("/bin/true")  # cleans up

    def test_two_recordings_at_once_do_not_clean_up_each_other(self):
        process = self.start(APP, "100", "sleep", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "working\n")
        file, self.file = self.file, os.path.join(self.folder.name, "other.wlt")
        self.check_records(self.record(APP, "100"), RECORDS_OF_100)
        process.send_signal(signal.SIGTERM)
        errors = process.communicate(timeout=60)[1]
        self.assertIn(f"{RECORDS_OF_100} records", errors)
        self.file = file
        self.assertEqual(sum(kernel["count"] for kernel in self.report()["kernels"]), 100)

    # ---- what is in the recording ----------------------------------------------------------------------------

    def test_times_are_shifted_where_cupti_does_not_count_from_the_epoch(self):
        for clock in ({}, {"FAKE_CUPTI_CLOCK": "boot"}):
            with self.subTest(clock=clock):
                before = time.time_ns()
                self.record(APP, "100", **clock)
                after = time.time_ns()
                trace = self.read("export", "--format", "chrome")
                base = trace["baseTimeNanoseconds"]
                for event in trace["traceEvents"]:
                    if event["ph"] == "X" and event["cat"] in ("kernel", "cuda_runtime"):
                        at = base + event["ts"] * 1000
                        self.assertTrue(before - 10**6 < at < after + 10**6, (before, at, after))

    def test_equal_correlations_of_processes_and_their_threads_are_kept_apart(self):
        self.check_records(self.record("/bin/sh", "-c", f"{APP} 100 & {APP} 100 & wait"), 2 * RECORDS_OF_100)
        calls, kernels = collections.Counter(), collections.Counter()
        for event in self.events():
            if event["cat"] == "cuda_runtime":
                self.assertIn(event["name"], ("cudaLaunchKernel", "cudaMemcpyAsync"))
                self.assertEqual(event["pid"], event["tid"])  # by the main thread
                calls[event["pid"]] += 1
            kernels[event["name"]] += event["cat"] == "kernel"
        self.assertEqual(sorted(calls.values()), [110, 110])
        self.assertEqual(sum(kernels.values()), 200)
        self.assertEqual(self.report()["run"]["losses"]["unlinked"], 0)

    def test_nvtx_ranges_are_exact(self):
        out = self.record(APP, "1000", "nvtx", ASAN_OPTIONS="detect_leaks=0")  # handles live as long as the process
        self.check_records(out, 4 + 64 + 8000)
        ranges = collections.Counter()
        threads = collections.Counter()
        for event in self.events():
            if event["cat"] != "user_annotation":
                continue  # the main thread may be seen to wait for the others
            ranges[event["name"], event.get("args", {}).get("Call stack", "")] += 1
            if event["name"] == "thread":
                threads[event["tid"]] += 1
        self.assertEqual(ranges, {("outer", ""): 1, ("wide ü世", ""): 2, ("registered", "library"): 1,
                                  ("deep", ""): 64, ("thread", ""): 8000})
        self.assertEqual(list(threads.values()), [1000] * 8)
        self.assertEqual(self.report()["run"]["losses"]["dropped"], 80 - 64)

    def test_children_that_fork_in_the_middle_of_ranges_record_their_own(self):
        out = self.record(APP, "10", "nvtx-fork", ASAN_OPTIONS="detect_leaks=0")
        self.assertEqual(out.returncode, 0, out.stderr)
        counts = collections.Counter()
        for event in self.events():
            counts[event["name"], event.get("args", {}).get("Call stack", "")] += event["cat"] == "user_annotation"
            counts["kernel"] += event["cat"] == "kernel"
        self.assertEqual(counts["in the child", "library"], 20)
        self.assertEqual(counts["open in the parent", ""], 20)
        self.assertEqual(counts["kernel"], 200)
        self.assertEqual(counts["(name lost)", ""], 0)
        self.assertNotIn("names", out.stderr)  # each is logged once


if __name__ == "__main__":
    signals.heed()
    unittest.main(argv=[sys.argv[0]], verbosity=1)

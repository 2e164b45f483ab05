#!/usr/bin/env python3
"""`warplight doctor` of the machine that it runs on: recorded ones, and a driver that is a fake.

    python3 tests/fake/test_doctor.py WARPLIGHT MACHINES FAKE_NVML
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from machines import machines

WARPLIGHT, MACHINES, NVML = (os.path.abspath(path) for path in sys.argv[1:4])
RANK = {"none": -1, "ok": 0, "unknown": 1, "warn": 2, "fail": 3}
HEALTHY_END = 60  # seconds
# The GPU of the fake library is at 3b:00.0.
GPU = "/sys/bus/pci/devices/0000:3b:00.0/"


class Doctor(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = self.folder.name + "/root"
        os.mkdir(self.root)

    def write(self, path, text):
        os.makedirs(os.path.dirname(self.root + path), exist_ok=True)
        with open(self.root + path, "w", encoding="utf-8") as file:
            file.write(text)

    def fake_gpu(self, status="active"):
        for name, text in (("vendor", "0x10de"), ("class", "0x030200"), ("power/runtime_status", status)):
            self.write(GPU + name, text + "\n")
        os.makedirs(self.root + "/sys/bus/pci/drivers/nvidia", exist_ok=True)
        os.symlink("../../drivers/nvidia", self.root + GPU + "driver")
        self.write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  x\n")
        self.write("/sys/module/nvidia/version", "580.159.04\n")
        for node in ("nvidia0", "nvidiactl", "nvidia-uvm"):
            self.write("/dev/" + node, "")

    def run_it(self, *arguments, lang="en", **extra):
        keep = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        return subprocess.run((WARPLIGHT, "doctor", *arguments), capture_output=True, text=True, check=False,
                              timeout=HEALTHY_END,
                              env={**keep, "WARPLIGHT_ROOT": self.root, "WARPLIGHT_LANG": lang, **extra})

    def checks(self, *arguments, **extra):
        out = self.run_it("--format", "json", *arguments, **extra)
        self.assertIn(out.returncode, (0, 1), out.stderr)
        self.assertEqual(out.stderr, "")
        found = json.loads(out.stdout)
        self.assertEqual(found["schema"], "warplight.doctor/1")
        statuses = {}
        for check in found["checks"]:
            before = statuses.get(check["id"], "none")
            statuses[check["id"]] = max(before, check["status"], key=RANK.get)
        self.assertEqual(out.returncode, "fail" in statuses.values())
        self.events = found["events"]
        return statuses

    def test_recorded_machines_get_their_answer(self):
        for machine in machines(MACHINES):
            if machine.name not in ("desktop", "mismatch", "no-gpu", "wsl", "amd"):
                continue
            with self.subTest(machine.name), tempfile.TemporaryDirectory() as self.root:
                machine.unpack(self.root)
                found = self.checks()
                self.assertEqual({check: found.get(check, "none") for check in machine.expected}, machine.expected)

    def test_both_languages_say_the_same_ids(self):
        self.fake_gpu()
        english, chinese = self.run_it(), self.run_it(lang="zh_CN")
        ids = [line.split("[")[-1] for line in english.stdout.splitlines() if line.endswith("]")]
        self.assertGreater(len(ids), 4)
        self.assertEqual(ids, [line.split("[")[-1] for line in chinese.stdout.splitlines() if line.endswith("]")])
        self.assertNotEqual(english.stdout, chinese.stdout)

    def test_a_driver_that_answers_is_judged(self):
        self.fake_gpu()
        found = self.checks(WARPLIGHT_NVML=NVML)
        self.assertNotIn("driver-answer", found)
        self.assertEqual(found["gpu-memory-errors"], "fail")  # a remapping is pending
        self.assertEqual(found["gpu-clocks"], "warn")  # heat
        self.assertEqual(found["gpu-link"], "ok")
        self.assertEqual(found["compute-mode"], "ok")

    def test_a_driver_that_hangs_is_said_to_and_waited_for_no_longer(self):
        self.fake_gpu()
        found = self.checks(WARPLIGHT_NVML=NVML, FAKE_NVML_HANG="nvmlDeviceGetPowerUsage")
        self.assertIn(found["driver-answer"], ("fail", "unknown"))
        self.assertEqual(found["driver-loaded"], "ok")

    def test_a_driver_that_hangs_before_it_says_anything_is_told_from_one_that_starts_its_gpus(self):
        self.fake_gpu()
        self.assertEqual(self.checks(WARPLIGHT_NVML=NVML, FAKE_NVML_HANG="nvmlInit_v2")["driver-answer"], "fail")
        # While somebody has a GPU open, the driver has nothing to start.
        self.write("/proc/77/comm", "python3\n")
        os.makedirs(self.root + "/proc/77/fd")
        os.symlink("/dev/nvidia0", self.root + "/proc/77/fd/3")
        found = self.checks(WARPLIGHT_NVML=NVML, FAKE_NVML_HANG="nvmlDeviceGetHandleByPciBusId_v2")
        self.assertEqual((found["driver-answer"], found["gpu-users"]), ("fail", "ok"))

    def test_a_driver_that_crashes_or_refuses_takes_nothing_along(self):
        self.fake_gpu()
        for extra in ({"FAKE_NVML_CRASH": "nvmlDeviceGetPowerUsage"}, {"FAKE_NVML_CODES": "nvmlInit_v2=18"},
                      {"FAKE_NVML_CODES": "nvmlInit_v2=4"}):
            found = self.checks(WARPLIGHT_NVML=NVML, **extra)
            self.assertIn(found["driver-answer"], ("fail", "unknown"), extra)
            self.assertEqual(found["device-files"], "ok", extra)

    def test_what_the_driver_says_of_fitness_is_judged(self):
        self.fake_gpu()
        found = self.checks(WARPLIGHT_NVML=NVML)
        for check in ("gpu-recovery", "fabric-state", "mig-pending", "vgpu"):
            self.assertNotIn(check, found)
        for extra, check, status in (
                ({"FAKE_NVML_FIELDS": "230=0"}, "gpu-recovery", "none"),
                ({"FAKE_NVML_FIELDS": "230=1"}, "gpu-recovery", "fail"),
                ({"FAKE_NVML_FIELDS": "230=7"}, "gpu-recovery", "fail"),
                ({"FAKE_NVML_FIELDS": "230=99"}, "gpu-recovery", "none"),  # no member of the enumeration
                ({"FAKE_NVML_FABRIC": "1"}, "fabric-state", "fail"),
                ({"FAKE_NVML_FABRIC": "2"}, "fabric-state", "fail"),
                ({"FAKE_NVML_FABRIC": "3"}, "fabric-state", "ok"),
                ({"FAKE_NVML_FABRIC": "3", "FAKE_NVML_FABRIC_STATUS": "999"}, "fabric-state", "fail"),
                ({"FAKE_NVML_MIG_PENDING": "1"}, "mig-pending", "warn"),
                ({"FAKE_NVML_VIRTUAL": "1"}, "vgpu", "none"),
                ({"FAKE_NVML_VIRTUAL": "2"}, "vgpu", "warn")):
            found = self.checks(WARPLIGHT_NVML=NVML, **extra)
            self.assertEqual(found.get(check, "none"), status, extra)

    def test_a_sleeping_gpu_is_left_asleep(self):
        self.fake_gpu("suspended")
        log = os.path.join(self.folder.name, "log")
        found = self.checks(WARPLIGHT_NVML=NVML, FAKE_NVML_LOG=log)
        self.assertEqual((found["gpu-asleep"], found["driver-answer"]), ("ok", "unknown"))
        self.assertFalse(os.path.exists(log) and os.path.getsize(log), "the driver was asked")

    def test_the_kernel_log_is_read_or_said_not_to_be(self):
        self.fake_gpu()
        self.assertEqual(self.checks()["kernel-log"], "unknown")
        self.write("/dev/kmsg", "3,1021,1126600412,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python3, "
                                "GPU has fallen off the bus.\n")
        found = self.checks()
        self.assertEqual((found["kernel-log"], found["xid-79"]), ("ok", "fail"))
        self.assertEqual([event["xid"] for event in self.events], [79])
        self.assertEqual((self.events[0]["first"], self.events[0]["first_unix_ns"]), ("1126.600412", None))
        for lang, time in (("en", "1126.6 s after boot"), ("zh_CN", "启动后 1126.6 秒")):
            text = " ".join(self.run_it(lang=lang).stdout.split())
            self.assertIn("[ 1126.600412] NVRM: Xid", text)
            self.assertIn(time, text)

    def test_a_fault_of_a_program_is_over_when_the_gpu_is_fit(self):
        self.fake_gpu()
        self.write("/dev/kmsg", "4,361,78556614,c;NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, name=faults, MMU Fault\n"
                                "4,362,978556614,c;NVRM: Xid (PCI:0000:3b:00): 48, pid=4711, name=faults, DBE\n")
        self.write("/proc/4711/environ", "PATH=/usr/bin\0")
        for arguments, extra, status in (
                ((), {"WARPLIGHT_NVML": NVML}, "warn"),
                ((), {"WARPLIGHT_NVML": NVML, "FAKE_NVML_FIELDS": "230=1"}, "fail"),
                ((), {"WARPLIGHT_NVML": NVML, "FAKE_NVML_CODES": "nvmlInit_v2=18"}, "fail"),
                ((), {}, "fail"),  # nobody knows how the GPU is
                (("--pid", "4711"), {"WARPLIGHT_NVML": NVML}, "fail")):
            found = self.checks(*arguments, **extra)
            self.assertEqual((found["xid-31"], found["xid-48"]), (status, "fail"), (arguments, extra))
        self.assertIn("has come through it", " ".join(self.run_it(WARPLIGHT_NVML=NVML).stdout.split()))
        # A log that somebody gives says nothing of how its GPUs are.
        self.assertEqual(self.checks(self.root + "/dev/kmsg")["xid-31"], "fail")

    def journal(self, *lines):
        path = self.folder.name + "/journalctl"
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + "".join(line + "\n" for line in lines))
        os.chmod(path, 0o700)
        return {"WARPLIGHT_JOURNALCTL": path}

    def test_the_journal_is_read_where_the_kernel_log_is_closed(self):
        self.fake_gpu()
        line = ("2025-05-06T00:38:27.114209+02:00 node7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, "
                "name=python3, GPU has fallen off the bus.")
        journal = self.journal("case \"$*\" in *--dmesg*--no-pager*) ;; *) exit 9 ;; esac", f"echo '{line}'")
        found = self.checks(**journal)
        self.assertEqual((found["kernel-log"], found["xid-79"]), ("ok", "fail"))
        self.assertEqual(self.events[0]["first"], "2025-05-06T00:38:27.114209+02:00")
        self.assertIn("(journalctl --dmesg)", self.run_it(**journal).stdout)
        # What is open needs no journal.
        self.write("/dev/kmsg", "6,1,1000,-;Linux version 6.1.0\n")
        found = self.checks(**journal)
        self.assertEqual((found["kernel-log"], found.get("xid-79", "none")), ("ok", "none"))

    def test_a_journal_that_says_nothing_or_never_ends_is_no_clean_kernel_log(self):
        self.fake_gpu()
        xid = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
        for lines in (("exit 1",), ("exit 0",), ("sleep 1000",), (f"echo '{xid}'", "sleep 1000 & sleep 1000")):
            found = self.checks(**self.journal(*lines))
            self.assertEqual(found["kernel-log"], "unknown", lines)
            self.assertEqual(found.get("xid-79", "none"), "fail" if xid in lines[0] else "none")
        self.assertEqual(self.checks(WARPLIGHT_JOURNALCTL="/no/such/journalctl")["kernel-log"], "unknown")

    def test_a_running_program_is_looked_at(self):
        self.fake_gpu()
        self.write("/proc/4711/environ", "CUDA_VISIBLE_DEVICES=-1\0SECRET_TOKEN=hush\0")
        self.write("/proc/4711/status", "Name:\tpython3\nCapEff:\t0000000000000000\n")
        self.write("/proc/4711/maps",
                   "7f0000000000-7f0000001000 r-xp 00000000 08:01 1 /usr/local/cuda/compat/libcuda.so.590.44.01\n"
                   "7f0000002000-7f0000003000 r-xp 00000000 08:01 2 /opt/cuda/lib64/libcudart.so.14.0.11\n")
        found = self.checks("--pid", "4711")
        self.assertEqual((found["gpu-visible"], found["driver-match"], found["runtime-cuda"]),
                         ("fail", "warn", "fail"))
        self.assertNotIn("hush", self.run_it("--pid", "4711").stdout)

    def test_a_program_that_is_not_there_is_said_not_to_be(self):
        self.fake_gpu()
        self.assertEqual(self.checks("--pid", "4712")["process"], "unknown")
        self.assertEqual(self.checks("--", "/opt/nothing")["process"], "fail")
        self.assertEqual(self.checks("--", "nothing")["process"], "fail")

    def test_a_program_that_would_start_is_looked_at(self):
        self.fake_gpu()
        packages = "/opt/venv/lib/python3.12/site-packages"
        self.write(packages + "/torch/version.py", "__version__ = '2.9.1+cpu'\ncuda: Optional[str] = None\n")
        self.write("/opt/venv/bin/python", "")
        self.assertEqual(self.checks("--", "/opt/venv/bin/python", "train.py")["torch-cuda"], "fail")

    def test_code_for_other_gpus_is_found_in_a_program_and_in_what_it_maps(self):
        self.fake_gpu()  # of compute capability 9.0
        os.makedirs(self.root + "/opt")
        for name in ("app", "extension.so"):  # sm_75 and PTX of compute_120
            shutil.copy(os.path.join(MACHINES, "../code/plain.o"), self.root + "/opt/" + name)
        self.write("/proc/4711/environ", "PATH=/usr/bin\0")
        self.write("/proc/4711/maps", "7f0000000000-7f0000001000 r-xp 00000000 08:01 1 /opt/app\n"
                                      "7f0000000000-7f0000001000 r-xp 00000000 08:01 1 /opt/extension.so\n"
                                      "7f0000002000-7f0000003000 r--p 00001000 08:01 1 /opt/extension.so\n")

        def code(*arguments):
            out = json.loads(self.run_it("--format", "json", *arguments, WARPLIGHT_NVML=NVML).stdout)
            return [(check["status"], [row["where"] + ": " + row["text"] for row in check["evidence"]])
                    for check in out["checks"] if check["id"] == "program-architecture"]

        app, extension = (f"/opt/{name}: sm_75 compute_120" for name in ("app", "extension.so"))
        self.assertEqual(code("--", "/opt/app"), [("fail", [app])])
        self.assertEqual(code("--pid", "4711"), [("fail", [extension])])
        os.symlink("/opt/app", self.root + "/proc/4711/exe")
        self.assertEqual(code("--pid", "4711"), [("fail", [app]), ("fail", [extension])])

    def test_code_is_read_until_the_answer_is_sure(self):
        self.fake_gpu()
        os.makedirs(self.root + "/opt")
        with open(os.path.join(MACHINES, "../code/plain.o"), "rb") as file:
            code = file.read()
        with open(self.root + "/opt/torn.so", "wb") as file:  # the second entry is of a kind that nobody knows
            at = code.index(b"\x50\xed\x55\xba")
            second = at + 16 + 64
            while code[second:second + 4] != b"\x01\x00\x01\x01":
                second += 8
            file.write(code[:second] + b"\x63" + code[second + 1:])
        self.write("/proc/4711/environ", "PATH=/usr/bin\0")
        self.write("/proc/4711/maps", "7f0000000000-7f0000001000 r-xp 00000000 08:01 1 /opt/torn.so\n")
        for asleep in (False, True):
            if asleep:
                shutil.rmtree(self.root + GPU)
                self.fake_gpu("suspended")
            found = self.checks("--pid", "4711", WARPLIGHT_NVML=NVML)
            # Of a GPU that sleeps nobody knows what it runs.
            self.assertEqual(found.get("program-architecture", "none"), "none" if asleep else "unknown")

    def test_what_does_not_go_together_is_refused(self):
        self.assertEqual(self.run_it("--pid", "1", "dmesg.txt").returncode, 2)
        self.assertEqual(self.run_it("--pid", "1", "--", "python3").returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

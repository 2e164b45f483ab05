#!/usr/bin/env python3
"""What `warplight record` keeps of the GPUs, against a fake NVML: plumbing and faults, no numbers of a GPU.

    python3 tests/fake/test_gpus.py WARPLIGHT INJECT_LIBRARY FAKE_CUPTI APP FAKE_NVML FAKE_NVML_OLD
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

WARPLIGHT, INJECT, CUPTI, APP, NVML, NVML_OLD = (os.path.abspath(path) for path in sys.argv[1:7])
GPU = "gpu.GPU-00000000-0000-0000-0000-000000000000."
HEALTHY_END = 60  # seconds; only a recording that waits for the driver takes as long


class Gpus(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = os.path.join(self.folder.name, "run.wlt")
        self.log = os.path.join(self.folder.name, "nvml.log")

    def sysfs(self, **status):
        """A machine with these GPUs: name of its PCI slot → runtime_status."""
        root = os.path.join(self.folder.name, "sys")
        for slot, state in status.items():
            device = os.path.join(root, "bus/pci/devices", f"0000:{slot}:00.0")
            os.makedirs(os.path.join(device, "power"), exist_ok=True)
            for name, text in (("vendor", "0x10de"), ("class", "0x030200"), ("power/runtime_status", state)):
                with open(os.path.join(device, name), "w", encoding="ascii") as file:
                    file.write(text + "\n")
        return root

    def environment(self, **extra):
        keep = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        return {**keep, "WARPLIGHT_CUPTI": CUPTI, "WARPLIGHT_INJECT": INJECT, "WARPLIGHT_NVML": NVML,
                "WARPLIGHT_SYSFS": os.path.join(self.folder.name, "sys"), "WARPLIGHT_LANG": "en",
                "WARPLIGHT_KMSG": os.path.join(self.folder.name, "kmsg"), "FAKE_NVML_LOG": self.log, **extra}

    def run_it(self, *command, code=0, **extra):
        out = subprocess.run(command, env=self.environment(**extra), capture_output=True, text=True,
                             cwd=self.folder.name, timeout=HEALTHY_END, check=False)
        self.assertEqual(out.returncode, code, out.stderr)
        return out

    def record(self, *target, **extra):
        """Records, and returns the facts about GPUs."""
        self.run_it(WARPLIGHT, "record", "-o", self.file, "--force", "--no-report", "--", *(target or (APP, "1000")),
                    **extra)
        info = json.loads(self.run_it(WARPLIGHT, "info", "--format", "json", self.file).stdout)["files"][0]
        self.counts = info["counts"]
        self.xids = [(xid["xid"], xid["device"], xid["text"]) for xid in info["xids"]]
        facts = {fact["key"]: fact["value"] for fact in info["facts"]}
        self.assertEqual(len(facts), len(info["facts"]), "a fact is there twice")
        return {key: value for key, value in facts.items() if key.startswith(("gpu.", "nvml"))}

    def calls(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="ascii") as file:
            return file.read().split()

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def events(self):
        path = os.path.join(self.folder.name, "trace.json")
        self.run_it(WARPLIGHT, "export", "--format", "chrome", "-o", path, self.file)
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        return trace["traceEvents"] if isinstance(trace, dict) else trace

    def counters(self):
        return {event["name"]: list(event["args"].values()) for event in self.events() if event.get("ph") == "C"}

    def test_what_a_gpu_is_and_how_it_was_is_in_the_recording(self):
        facts = self.record()
        self.assertEqual(facts["nvml.driver_version"], "580.159.04")
        self.assertEqual(facts["nvml.cuda_version"], "13.1")
        for key, value in {"name": "Fake GPU", "pci_bus_id": "0000:3b:00.0", "compute_capability": "9.0",
                           "sm_clock_max_hz": "1980000000", "power_limit_max_watts": "700.000",
                           "slowdown_celsius": "87", "pcie_generation_max": "5", "mig_mode": "off",
                           "ecc_mode": "on", "compute_mode": "exclusive-process",
                           "start.sm_clock_hz": "1500000000", "end.power_watts": "699.125",
                           "end.clock_event_reasons": "power-cap,software-thermal",
                           "end.memory_used_bytes": str(3 << 30), "end.gpu_utilization_ratio": "0.99",
                           "end.memory_temperature_celsius": "50", "end.pcie_generation": "4",
                           "end.performance_state": "0", "end.ecc_uncorrected_count": "2",
                           "end.row_remap_pending": "on", "end.power_limit_watts": "700.000",
                           "recorded.power_brake_ns_why": "unsupported"}.items():
            with self.subTest(key=key):
                self.assertEqual(facts[GPU + key], value)
        gained = int(facts[GPU + "recorded.power_cap_ns"])
        self.assertGreater(gained, 0)
        self.assertEqual(gained % 50000000, 0)
        self.assertEqual(int(facts[GPU + "recorded.software_thermal_ns"]) * 5, gained)
        self.assertEqual(facts[GPU + "recorded.energy_joules"], f"{gained // 50000000 * 123456 / 1000:.3f}")
        self.assertGreater(int(facts[GPU + "recorded.observed_ns"]), 0)
        self.assertNotIn("\033", facts[GPU + "vbios"])

    def test_counters_are_drawn_over_time(self):
        self.record()
        counters = self.counters()
        self.assertEqual(counters["GPU 0 SM clock"], [1500000000])
        self.assertEqual(counters["GPU 0 power"], [699.125])
        self.assertEqual(counters["GPU 0 GPU temperature"], [63])
        self.assertEqual(counters["GPU 0 memory used"], [3 << 30])
        self.assertTrue(0 < counters["GPU 0 clocks held by power limit"][0] <= 1)

    def record_until_asked(self, *symbols, **extra):
        """A target that lives until the driver was asked all of that three times."""
        waits = [f"until [ $(grep -c {symbol} {self.log}) -ge 3 ]; do sleep 0.05; done" for symbol in symbols]
        return self.record("/bin/sh", "-c", f"{APP} 1000; {'; '.join(waits)}", **extra)

    def test_what_the_sms_do_is_drawn_under_the_names_of_sample(self):
        self.record_until_asked("nvmlGpmMetricsGet", FAKE_NVML_FIELDS="197=+1000000,198=7")
        counters = self.counters()
        self.assertEqual(counters["GPU 0 SMs with a warp"], [0.025])
        self.assertEqual(counters["GPU 0 warps of the SMs' limit"], [0.035])
        self.assertEqual(counters["GPU 0 tensor cores active"], [0.055])
        self.assertEqual(counters["GPU 0 memory bandwidth used"], [0.105])
        self.assertEqual(counters["GPU 0 FP32 pipes active"], [0.125])
        self.assertGreater(counters["GPU 0 PCIe from the GPU"][0], 0)
        self.assertEqual(counters["GPU 0 PCIe to the GPU"], [0])
        for unknown in ("FP64 pipes active", "FP16 pipes active", "fan", "video encoder", "PCIe replays"):
            self.assertNotIn("GPU 0 " + unknown, counters)

    def test_a_gpu_without_such_counters_has_no_such_series(self):
        self.record(FAKE_NVML_CODES="nvmlGpmQueryDeviceSupport=3")
        self.assertNotIn("GPU 0 SMs with a warp", self.counters())
        self.assertIn("GPU 0 SM clock", self.counters())

    def test_a_gpu_that_the_target_does_not_use_is_asked_nothing_of_the_kind(self):
        self.sysfs(**{"3b": "active"})
        self.record("/bin/true")
        self.assertNotIn("nvmlGpmSampleAlloc", self.calls())

    def test_an_xid_of_which_the_target_dies_is_in_the_recording_and_on_the_first_screen(self):
        self.sysfs(**{"3b": "active"})
        xids = self.write("xids", "")
        dying = f"{APP} 1000; echo 31 >> {xids}; exit 7"
        out = self.run_it(WARPLIGHT, "record", "-o", self.file, "--", "/bin/sh", "-c", dying, code=7, FAKE_NVML_XIDS=xids)
        first = out.stdout.split("health-xid")[0]
        self.assertIn("The GPU raised Xid 31 (GPU memory page fault: ", " ".join(first.split()))
        self.assertIn("warplight explain xid 31", out.stdout)
        report = json.loads(self.run_it(WARPLIGHT, "report", "-f", "json", self.file).stdout)
        self.assertEqual((report["findings"][0]["id"], report["findings"][0]["severity"]), ("health-xid", "critical"))
        self.run_it(WARPLIGHT, "report", "--fail-on", "health-xid", "-q", self.file, code=1)
        zh = self.run_it(WARPLIGHT, "report", self.file, WARPLIGHT_LANG="zh").stdout
        self.assertIn("报告了 Xid 31（GPU 内存缺页", "".join(zh.split("\n")[:12]))
        (mark,) = [event for event in self.events() if event["name"].startswith("Xid 31: ")]
        self.assertEqual((mark["ph"], mark["args"]["kind"]), ("i", "xid"))
        self.assertIn("Xid 31 (GPU memory page fault", " ".join(self.run_it(WARPLIGHT, "info", self.file).stdout.split()))

    def test_an_xid_that_log_and_driver_tell_is_one_and_names_the_process(self):
        self.sysfs(**{"3b": "active"})
        xids, log = self.write("xids", ""), self.write("kmsg", "3,1,1,-;NVRM: Xid (PCI:0000:3b:00): 79, of before\n")
        line = "3,9,20,-;NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, name=python3, MMU Fault"
        other = "3,9,20,-;NVRM: Xid (PCI:0000:5e:00): 13, pid=1, name=other, on a GPU that is not used"
        self.record("/bin/sh", "-c", f"{APP} 1000; echo '{line}' >> {log}; echo '{other}' >> {log}; echo 31 >> {xids}",
                    FAKE_NVML_XIDS=xids, WARPLIGHT_KMSG=log)
        ((code, device, text),) = self.xids
        self.assertEqual((code, device), (31, 0))
        self.assertTrue(text.startswith("Xid 31: GPU memory page fault"))

    def test_an_xid_of_the_log_alone_names_the_process(self):
        log = self.write("kmsg", "")
        line = "3,9,20,-;NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, name=python3, MMU Fault"
        self.record("/bin/sh", "-c", f"{APP} 1000; echo '{line}' >> {log}", WARPLIGHT_KMSG=log,
                    FAKE_NVML_CODES="nvmlDeviceGetSupportedEventTypes=3")
        self.assertEqual([text[-16:] for _, _, text in self.xids], [", python3 (4711)"])
        self.assertEqual(self.run_it(WARPLIGHT, "report", self.file).stdout.count("python3 (4711)"), 1)

    def test_a_driver_that_hangs_when_asked_for_events_or_counters_loses_only_itself(self):
        for symbol in ("nvmlEventSetWait_v2", "nvmlGpmSampleGet", "nvmlDeviceRegisterEvents"):
            with self.subTest(symbol=symbol):
                self.record(FAKE_NVML_HANG=symbol)
                self.assertEqual(self.counts["kernels"], 1000)

    def test_info_shows_them_to_people_with_units_and_reasons(self):
        self.record(FAKE_NVML_CODES="nvmlDeviceGetEccMode=4")
        text = self.run_it(WARPLIGHT, "info", self.file, LC_ALL="C.UTF-8").stdout
        rows = {line[2:30].strip(): line[32:] for line in text.splitlines() if line.startswith("  ")}
        for title, value in {"name": "Fake GPU", "power": "699 W", "SM clock": "1,500 MHz", "memory used": "3.00 GiB",
                             "what holds the clocks": "power limit, heat (driver)", "GPU temperature": "63 °C",
                             "no permission": "ECC", "not supported": "clocks held by power brake",
                             "time with a kernel running": "99.0 %", "MIG mode": "off"}.items():
            with self.subTest(title=title):
                self.assertEqual(rows[title], value)
        self.assertNotIn("gpu.GPU-", text)

    def test_an_old_driver_gives_what_it_has(self):
        facts = self.record(WARPLIGHT_NVML=NVML_OLD, FAKE_NVML_DRIVER="390.157")
        self.assertEqual(facts[GPU + "end.sm_clock_hz"], "1500000000")
        self.assertEqual(facts[GPU + "end.temperature_celsius"], "63")
        self.assertEqual(facts[GPU + "end.memory_used_bytes"], str(1 << 33))
        self.assertEqual(facts[GPU + "mig_mode_why"], "unsupported")
        self.assertEqual(int(facts[GPU + "recorded.power_cap_ns"]) % 20000000, 0)
        self.assertEqual(facts[GPU + "recorded.energy_joules_why"], "unsupported")

    def test_counters_that_another_driver_numbers_differently_are_not_read(self):
        facts = self.record(FAKE_NVML_DRIVER="580.65.06")
        self.assertEqual(facts[GPU + "recorded.software_thermal_ns_why"], "unsupported")
        self.assertIn(GPU + "recorded.power_cap_ns", facts)

    def test_each_refusal_has_its_reason(self):
        facts = self.record(FAKE_NVML_CODES="nvmlDeviceGetPowerUsage=3,nvmlDeviceGetEccMode=4,"
                                            "nvmlDeviceGetUtilizationRates=999,nvmlDeviceGetClockInfo=15")
        self.assertEqual(facts[GPU + "end.power_watts_why"], "unsupported")
        self.assertEqual(facts[GPU + "ecc_mode_why"], "no-permission")
        self.assertEqual(facts[GPU + "end.gpu_utilization_ratio_why"], "failed")
        self.assertEqual(facts[GPU + "end.sm_clock_hz_why"], "lost")
        self.assertNotIn(GPU + "end.power_watts", facts)

    def test_an_impossible_value_is_none(self):
        facts = self.record(FAKE_NVML_SM_CLOCK="4000000000")
        self.assertEqual(facts[GPU + "end.sm_clock_hz_why"], "implausible")

    def test_a_gpu_that_falls_off_the_bus_is_said_to_be_lost(self):
        facts = self.record(FAKE_NVML_LOST_AFTER="1")
        self.assertEqual(facts[GPU + "start.sm_clock_hz"], "1500000000")
        self.assertEqual(facts[GPU + "end_why"], "lost")
        self.assertEqual(facts[GPU + "recorded.energy_joules_why"], "lost")

    def test_a_driver_that_hangs_delays_nothing_and_loses_only_itself(self):
        for symbol, key in (("nvmlInit_v2", "why"), ("nvmlDeviceGetHandleByUUID", "why"),
                            ("nvmlDeviceGetRemappedRows", "why"), ("nvmlDeviceGetName", "why")):
            with self.subTest(symbol=symbol):
                facts = self.record(FAKE_NVML_HANG=symbol)
                self.assertEqual(facts[GPU + key], "no-answer")
                self.assertEqual(self.counts["kernels"], 1000)

    def test_a_driver_library_that_crashes_takes_nothing_along(self):
        facts = self.record(FAKE_NVML_CRASH="nvmlDeviceGetPowerUsage")
        self.assertEqual(facts[GPU + "why"], "failed")
        self.assertEqual(self.counts["kernels"], 1000)

    def test_without_a_driver_library_the_reason_is_there(self):
        facts = self.record(WARPLIGHT_NVML="/nonexistent/libnvidia-ml.so.1")
        self.assertEqual(facts["nvml_why"], "no-driver")
        self.assertEqual(facts[GPU + "why"], "no-driver")
        self.assertEqual(self.counts["kernels"], 1000)

    def test_a_library_that_does_not_fit_its_module_is_no_driver(self):
        facts = self.record(FAKE_NVML_CODES="nvmlInit_v2=18")
        self.assertEqual(facts["nvml_why"], "no-driver")

    def test_no_gpu_is_asked_before_the_target_uses_one(self):
        self.sysfs(**{"3b": "suspended"})
        self.assertEqual(self.record("/bin/true"), {})
        self.assertEqual(self.calls(), [])

    def test_one_sleeping_gpu_keeps_the_driver_from_being_asked(self):
        self.sysfs(**{"3b": "active", "5e": "suspended"})
        self.assertEqual(self.record("/bin/true"), {})
        self.assertEqual(self.calls(), [])

    def test_only_the_gpu_that_the_target_uses_is_asked(self):
        self.sysfs(**{"3b": "suspended", "5e": "suspended"})
        self.record()
        self.assertIn("nvmlDeviceGetHandleByUUID", self.calls())
        self.assertNotIn("nvmlDeviceGetHandleByPciBusId_v2", self.calls())

    def test_gpus_that_are_awake_are_known_from_the_start(self):
        self.sysfs(**{"3b": "active", "5e": "unsupported"})
        facts = self.record()
        self.assertIn("nvmlDeviceGetHandleByPciBusId_v2", self.calls())
        self.assertNotIn("nvmlDeviceGetHandleByUUID", self.calls())
        self.assertEqual(facts[GPU + "start.sm_clock_hz"], "1500000000")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)

#!/usr/bin/env python3
"""What `warplight sample` says of NVIDIA GPUs, against a fake NVML: plumbing and faults, no numbers of a GPU.

    python3 tests/fake/test_sample.py WARPLIGHT FAKE_NVML FAKE_NVML_OLD FAKE_NVML_QUOTA
"""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

import signals

WARPLIGHT, NVML, NVML_OLD, NVML_QUOTA = (os.path.abspath(path) for path in sys.argv[1:5])
ENOUGH = 60  # seconds; only a program that hangs takes as long


class Sample(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.log = os.path.join(self.folder.name, "nvml.log")
        self.sysfs("active")

    def sysfs(self, *states):
        """A machine with that many GPUs, in these states of power."""
        for index, state in enumerate(states):
            device = os.path.join(self.folder.name, "sys/bus/pci/devices", f"0000:{0x3b + index:02x}:00.0")
            os.makedirs(os.path.join(device, "power"), exist_ok=True)
            for name, text in (("vendor", "0x10de"), ("class", "0x030200"), ("device", "0x2330"),
                               ("uevent", "DRIVER=nvidia"), ("power/runtime_status", state)):
                with open(os.path.join(device, name), "w", encoding="ascii") as file:
                    file.write(text + "\n")

    def environment(self, **extra):
        keep = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        return {**keep, "WARPLIGHT_NVML": NVML, "WARPLIGHT_SYSFS": os.path.join(self.folder.name, "sys"),
                "WARPLIGHT_LANG": "en", "LC_ALL": "C.UTF-8", "FAKE_NVML_LOG": self.log, **extra}

    def run_it(self, *arguments, rc=0, **extra):
        out = subprocess.run((WARPLIGHT, "sample", *arguments), env=self.environment(**extra), capture_output=True,
                             text=True, timeout=ENOUGH, check=False)
        self.assertEqual(out.returncode, rc, out.stderr)
        self.assertNotIn("Sanitizer", out.stderr)
        return out.stdout

    def sample(self, *arguments, **extra):
        lines = [json.loads(line) for line in self.run_it("-f", "json", *arguments, **extra).splitlines()]
        return lines if len(lines) > 1 else lines[0]

    def test_a_sample_holds_what_the_driver_says(self):
        device = self.sample()["devices"][0]
        for key, value in {"id": 0, "uuid": "GPU-00000000-0000-0000-0000-000000000000", "name": "Fake GPU",
                           "pci_bus_id": "0000:3b:00.0", "state": "known", "gpu_utilization_ratio": 0.99,
                           "power_watts": 699.125, "sm_clock_hz": 1500000000, "encoder_ratio": 0.11,
                           "decoder_ratio": 0.22, "fan_ratio": 0.3, "compute_capability": "9.0",
                           "sm_active_ratio": 0.025, "tensor_active_ratio": 0.055}.items():
            self.assertEqual(device[key], value, key)

    def test_unknown_is_null_with_its_reason(self):
        device = self.sample(FAKE_NVML_CODES="nvmlDeviceGetPowerUsage=4")["devices"][0]
        for key, why in {"power_watts": "no-permission", "jpeg_ratio": "unsupported",
                         "fp64_active_ratio": "unsupported", "fp16_active_ratio": "implausible"}.items():
            self.assertIsNone(device[key])
            self.assertEqual(device[key + "_why"], why, key)

    def questions_after_the_first_sample(self, *arguments, **extra):
        """The energy counter, in mJ, grows by one with each question."""
        samples = self.sample("-n", "4", *arguments, FAKE_NVML_FIELDS="83=+1", **extra)
        return round((samples[-1]["devices"][0]["energy_joules"] - samples[0]["devices"][0]["energy_joules"]) * 1000)

    def test_what_is_dear_to_ask_for_is_asked_now_and_then(self):
        dear = {"FAKE_NVML_DEAR": "83:100000"}
        self.assertGreaterEqual(self.questions_after_the_first_sample("-i", "1s"), 2)
        self.assertLessEqual(self.questions_after_the_first_sample("-i", "1s", **dear), 1)
        self.assertGreaterEqual(self.questions_after_the_first_sample("-i", "200ms", "--fresh", **dear), 2)

    def test_an_old_driver_is_enough(self):
        device = self.sample(WARPLIGHT_NVML=NVML_OLD)["devices"][0]
        self.assertEqual(device["sm_clock_hz"], 1500000000)
        self.assertEqual(device["sm_active_ratio_why"], "unsupported")
        self.assertEqual(device["memory_unattributed_bytes_why"], "unsupported")

    def test_sixteen_gpus_are_there_in_order_and_can_be_chosen(self):
        self.sysfs(*["active"] * 16)
        devices = self.sample(FAKE_NVML_GPUS="16")["devices"]
        self.assertEqual([device["id"] for device in devices], list(range(16)))
        self.assertEqual(len({device["uuid"] for device in devices}), 16)
        chosen = self.sample("--device", "0000:3d:00.0,15,GPU-00000000-0000-0000-0000-000000000004",
                             FAKE_NVML_GPUS="16")["devices"]
        self.assertEqual([device["id"] for device in chosen], [2, 4, 15])
        self.run_it("--device", "16", FAKE_NVML_GPUS="16", rc=4)

    def test_a_gpu_that_the_library_may_not_use_is_named(self):
        self.sysfs("active", "active")
        devices = self.sample()["devices"]
        self.assertEqual([device["state"] for device in devices], ["known", "no-permission"])

    def test_processes_are_joined_with_proc(self):
        out = self.sample(FAKE_NVML_PROCESSES=f"{os.getpid()}:1024:40,4000000:512:-")
        mine, foreign = out["processes"]
        self.assertEqual((mine["pid"], mine["gpu_memory_bytes"], mine["sm_ratio"]), (os.getpid(), 1 << 30, 0.4))
        self.assertEqual(mine["types"], ["compute"])
        self.assertTrue(mine["command"] and mine["user"] and mine["start_unix_ns"] > 0)
        self.assertEqual((foreign["pid"], foreign["process_why"], foreign["start_unix_ns"]),
                         (4000000, "no-permission", None))
        self.assertEqual(foreign["sm_ratio"], 0)  # not in the driver's samples: idle
        self.assertEqual(out["devices"][0]["memory_unattributed_bytes"], (3 << 30) - (1 << 30))
        self.assertIn("2.00 GiB of memory in use belong to no process that can be seen here",
                      " ".join(self.run_it(FAKE_NVML_PROCESSES=f"{os.getpid()}:1024:40").split()))

    def test_a_process_that_ended_since_it_was_listed_is_left_out(self):
        sleeper = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(sleeper.kill)
        sampler = subprocess.Popen((WARPLIGHT, "sample", "-i", "50ms", "-f", "json"), stdout=subprocess.PIPE, text=True,
                                   env=self.environment(FAKE_NVML_PROCESSES=f"{sleeper.pid}:1024:40"))
        self.addCleanup(sampler.stdout.close)
        self.addCleanup(sampler.wait)
        self.addCleanup(sampler.kill)

        def names():
            processes = json.loads(sampler.stdout.readline())["processes"]
            self.assertNotIn("process_why", str(processes))
            return [process["name"] for process in processes]

        self.assertEqual(names(), ["sleep"])
        sleeper.kill()
        sleeper.wait()
        while names():  # what was on its way
            pass
        for _ in range(30):  # more than a second: the driver still lists it, each time it is asked
            self.assertEqual(names(), [])

    def test_a_process_of_a_namespace_is_known_by_the_device_it_holds_or_by_its_end(self):
        inside = ["unshare", "-pfm", "--mount-proc"]
        if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
            self.skipTest("namespaces cannot be made here")
        # Its own /dev: a file of that name does for the device.
        script = """
import json, os, subprocess, sys
if subprocess.run(["mount", "-t", "tmpfs", "none", "/dev"], stdin=0).returncode:
    sys.exit(77)
open("/dev/null", "w").close()
with open("/dev/nvidia0", "w") as device:
    holder = subprocess.Popen(["sleep", "1000"], stdin=device)
other = subprocess.Popen(["sleep", "1000"], stdin=0)
ended = subprocess.Popen(["true"], stdin=0)
os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # and stays, as one that the driver still cleans up after
os.environ["FAKE_NVML_PROCESSES"] = ",".join(f"{p.pid}:{mib}:1" for p, mib in ((holder, 3), (other, 2), (ended, 1)))
out = subprocess.run([sys.argv[1], "sample", "-f", "json"], stdin=0, stdout=subprocess.PIPE, text=True, check=True).stdout
print(json.dumps([(p["name"], p.get("process_why"), p["user"] is None) for p in json.loads(out)["processes"]]))
holder.kill()
other.kill()
"""
        out = subprocess.run([*inside, sys.executable, "-c", script, WARPLIGHT], env=self.environment(), text=True,
                             capture_output=True, timeout=ENOUGH, check=False)
        if out.returncode == 77:
            self.skipTest("nothing can be mounted here")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(json.loads(out.stdout), [["sleep", None, False], [None, "no-permission", True], ["true", None, False]])

    def test_use_over_100_percent_is_no_value(self):
        process = self.sample(FAKE_NVML_PROCESSES=f"{os.getpid()}:1:4000")["processes"][0]
        self.assertEqual((process["sm_ratio"], process["sm_ratio_why"]), (None, "implausible"))

    def test_mig_instances_follow_their_gpu_and_own_their_processes(self):
        out = self.sample(FAKE_NVML_MIG="2", FAKE_NVML_PROCESSES=f"{os.getpid()}:1024:40")
        self.assertEqual([device["parent_uuid"] for device in out["devices"]],
                         [None, out["devices"][0]["uuid"], out["devices"][0]["uuid"]])
        self.assertEqual(out["processes"][0]["device_uuid"], out["devices"][1]["uuid"])
        self.assertEqual(out["devices"][0]["memory_unattributed_bytes"], 2 << 30)

    def test_a_sleeping_gpu_is_not_woken(self):
        self.sysfs("active", "suspended")
        devices = self.sample(FAKE_NVML_GPUS="2")["devices"]
        self.assertEqual([device["state"] for device in devices], ["not-looked-at", "asleep"])
        self.assertFalse(os.path.exists(self.log), "the library was opened")

    def test_a_driver_that_hangs_at_once_is_said_to(self):
        out = self.sample(FAKE_NVML_HANG="nvmlInit_v2")
        self.assertEqual(out["sources"][0]["state"], "no-answer")
        self.assertEqual(out["devices"][0]["state"], "no-answer")
        self.assertTrue(out["host"]["memory_bytes"])

    def test_values_of_a_driver_that_hangs_later_are_stale(self):
        lines = self.sample("-i", "200ms", "-n", "3", FAKE_NVML_HANG="nvmlGpmMetricsGet")
        device = lines[-1]["devices"][0]
        self.assertEqual(device["state"], "stale")
        self.assertEqual((device["power_watts"], device["power_watts_why"]), (699.125, "stale"))
        self.assertTrue(lines[-1]["sources"][0]["since_unix_ns"])

    def test_a_driver_that_crashes_takes_nothing_along(self):
        out = self.sample(FAKE_NVML_CRASH="nvmlDeviceGetPowerUsage")
        self.assertEqual(out["sources"][0]["state"], "failed")
        self.assertEqual(out["devices"][0]["state"], "failed")

    def test_a_lost_gpu_says_so_and_comes_back(self):
        self.assertEqual(self.sample(FAKE_NVML_LOST_AFTER="1")["devices"][0]["state"], "lost")
        lines = self.sample("-i", "500ms", "-n", "14", FAKE_NVML_LOST_AFTER="1", FAKE_NVML_BACK="1")
        states = [line["devices"][0]["state"] if line["devices"] else "none" for line in lines]
        self.assertIn("lost", states)
        self.assertEqual(states[-1], "known")

    def test_a_lost_gpu_has_no_value_of_before(self):
        lines = self.sample("-i", "50ms", "-n", "4", FAKE_NVML_LOST_AFTER="1")
        lost = [line["devices"][0] for line in lines if line["devices"] and line["devices"][0]["state"] == "lost"]
        self.assertTrue(lost)
        for device in lost:
            for key in ("power_watts", "power_limit_watts", "energy_joules", "pcie_width"):
                self.assertIsNone(device[key], key)
                self.assertEqual(device[key + "_why"], "lost", key)

    def test_csv_has_a_row_for_each_gpu_and_sample(self):
        self.sysfs("active", "active")
        text = self.run_it("-f", "csv", "--fields", "power_watts,clock_event_reasons", "-i", "10ms", "-n", "3",
                           FAKE_NVML_GPUS="2")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["id"] for row in rows], ["0", "1"] * 3)
        self.assertEqual(rows[0]["power_watts"], "699.125")
        self.assertEqual(rows[0]["clock_event_reasons"], "power-cap,software-thermal")

    def test_a_recording_holds_the_values_over_time(self):
        self.sysfs("active", "active")
        path = os.path.join(self.folder.name, "samples.wlt")
        self.run_it("-i", "110ms", "-n", "4", "-o", path, FAKE_NVML_GPUS="2")
        info = subprocess.run((WARPLIGHT, "info", "-f", "json", path), env=self.environment(), capture_output=True,
                              text=True, check=True).stdout
        facts = {fact["key"]: fact["value"] for fact in json.loads(info)["files"][0]["facts"]}
        self.assertEqual(facts["gpu.GPU-00000000-0000-0000-0000-000000000001.compute_capability"], "9.0")
        trace = os.path.join(self.folder.name, "trace.json")
        subprocess.run((WARPLIGHT, "export", "--format", "chrome", "-o", trace, path), env=self.environment(), check=True,
                       capture_output=True)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)
        events = events["traceEvents"] if isinstance(events, dict) else events
        values = {}
        for event in events:
            if event.get("ph") == "C":
                values.setdefault(event["name"], []).append(list(event["args"].values())[0])
        self.assertEqual(values["GPU 0 power"], [699.125] * 4)
        self.assertEqual(values["GPU 1 power"], [699.125] * 4)
        self.assertEqual(values["GPU 1 SMs with a warp"], [0.025] * 4)
        self.run_it("-o", path, "-f", "json", rc=2)

    # 100 MB/s and more in every period, whatever it takes; no more than PCIe can carry.
    PCIE = "197=+5000000000,198=+1000000000"
    NVLINK = "138=+50000000,139=+1000000,91=4,165=1"

    def last_device(self, **extra):
        """The third sample that is printed: every period has traffic before it, also where asking was slow (--fresh)."""
        return self.sample("-i", "110ms", "-n", "3", "--fresh", "--no-processes", **extra)[-1]["devices"][0]

    def test_a_link_without_traffic_is_not_judged(self):
        device = self.last_device()
        self.assertEqual((device["pcie_generation"], device["pcie_generation_max"], device["pcie_link"]), (4, 5, "unused"))
        self.assertEqual((device["nvlink_link"], device["nvlink_link_why"]), (None, "unsupported"))

    def test_a_link_under_traffic_is_compared_with_what_it_can_do(self):
        device = self.last_device(FAKE_NVML_FIELDS=self.PCIE)
        self.assertEqual((device["pcie_link"], device["pcie_replays_last_minute_count"]), ("slow", 0))
        page = " ".join(self.run_it("-i", "110ms", "-n", "3", "--fresh", "--why", "--fields", "pcie_link",
                                    FAKE_NVML_FIELDS=self.PCIE).split())
        self.assertIn("a lower generation than it can do", page)

    def test_replays_are_counted_by_the_minute(self):
        device = self.last_device(FAKE_NVML_FIELDS="94=+2")
        self.assertEqual(device["pcie_link"], "unused")  # not more than the vendor allows
        self.assertEqual(device["pcie_replays_last_minute_count"], device["pcie_replay_count"] - 2)
        self.assertEqual(self.last_device(FAKE_NVML_FIELDS="94=+90")["pcie_link"], "unused,replays")

    def test_nvlinks_that_are_down_count_while_others_work(self):
        good = self.last_device(FAKE_NVML_FIELDS=self.NVLINK)
        self.assertEqual((good["nvlink_link"], good["nvlink_count"], good["nvlink_active_count"]), ("good", 4, 4))
        bad = self.last_device(FAKE_NVML_FIELDS=self.NVLINK + ",165.2=0,59=+1")
        self.assertEqual((bad["nvlink_link"], bad["nvlink_active_count"]), ("errors,inactive", 3))
        self.assertGreater(bad["nvlink_error_count"], 0)
        idle = self.last_device(FAKE_NVML_FIELDS="91=4,165=1,165.2=0")
        self.assertEqual((idle["nvlink_link"], idle["nvlink_active_count"]), ("unused", 3))

    def test_what_the_driver_asks_for_is_said(self):
        fields = "230=2,29=3,30=1,31=1"
        device = self.sample(FAKE_NVML_FIELDS=fields)["devices"][0]
        self.assertEqual((device["recovery_action"], device["page_retirement_pending"]), ("reboot", "on"))
        self.assertEqual((device["retired_pages_correctable_count"], device["retired_pages_uncorrectable_count"]), (3, 1))
        self.assertIn("GPU 0: the driver asks for a reboot", self.run_it(FAKE_NVML_FIELDS=fields))
        self.assertEqual(self.sample(FAKE_NVML_FIELDS="230=77")["devices"][0]["recovery_action"], "other")

    def test_ways_to_share_a_gpu_are_told_apart(self):
        processes = f"{os.getpid()}:1024:40"
        for extra, virtualization, sharing in (
                ({}, "none", "none"), ({"FAKE_NVML_VIRTUAL": "1"}, "pass-through", "none"),
                ({"FAKE_NVML_VIRTUAL": "2"}, "vgpu", "vgpu"), ({"FAKE_NVML_VIRTUAL": "3"}, "vgpu-host", "vgpu-host"),
                ({"FAKE_NVML_MIG": "2"}, "none", "mig"),
                ({"FAKE_NVML_MPS": "1", "FAKE_NVML_PROCESSES": processes}, "none", "mps"),
                ({"WARPLIGHT_NVML": NVML_QUOTA}, "none", "quota")):
            device = self.sample(**extra)["devices"][0]
            self.assertEqual((device["virtualization"], device["sharing"]), (virtualization, sharing), extra)

    def test_a_quota_is_not_taken_for_the_gpus_memory(self):
        device = self.sample(WARPLIGHT_NVML=NVML_QUOTA)["devices"][0]
        self.assertEqual(device["interposed_by"], "libvgpu.so")
        for key, value in {"memory_bytes": 1 << 31, "memory_used_bytes": 1 << 30}.items():
            self.assertEqual((device[key], device[key + "_why"]), (value, "altered"), key)
        self.assertEqual((device["power_watts"], "power_watts_why" in device), (699.125, False))
        page = " ".join(self.run_it(WARPLIGHT_NVML=NVML_QUOTA).split())
        self.assertIn("1.00 GiB! / 2.00 GiB!", page)
        self.assertIn("the library libvgpu.so stands between", page)
        self.assertIsNone(self.sample()["devices"][0]["interposed_by"])

    def test_what_cannot_be_true_beside_the_limits_is_implausible(self):
        device = self.last_device(FAKE_NVML_SM_CLOCK="4000", FAKE_NVML_FIELDS="197=+900000000000000")
        for key in ("sm_clock_hz", "pcie_send_bytes_per_s"):
            self.assertEqual((device[key], device[key + "_why"]), (None, "implausible"), key)

    def watch(self, add, until, *arguments):
        """Runs over a machine below a folder until a line fits, after add() was called with the first one there."""
        os.makedirs(os.path.join(self.folder.name, "dev"), exist_ok=True)
        log, xids = (os.path.join(self.folder.name, name) for name in ("dev/kmsg", "xids"))
        for path, text in ((log, "6,1,10,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=old, of before\n"), (xids, "")):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        process = subprocess.Popen((WARPLIGHT, "sample", "-i", "20ms", "--root", self.folder.name, *arguments),
                                   env=self.environment(FAKE_NVML_XIDS=xids), stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        lines = [process.stdout.readline()]
        for path, text in add.items():
            with open(os.path.join(self.folder.name, path), "a", encoding="ascii") as file:
                file.write(text)
        while not until(lines):
            lines.append(process.stdout.readline())
            self.assertTrue(lines[-1], "it has ended")
        process.send_signal(signal.SIGINT)
        lines += process.communicate(timeout=ENOUGH)[0].splitlines()
        return lines

    def events(self, add, count=1):
        def seen(lines):
            return sum(len(json.loads(line)["events"]) for line in lines) >= count

        return [event for line in self.watch(add, seen, "-f", "json") for event in json.loads(line)["events"]]

    def test_an_xid_of_nvml_is_an_event(self):
        (event,) = self.events({"xids": "31\n"})
        self.assertEqual((event["xid"], event["count"], event["device_id"], event["pci_bus_id"], event["told_by"]),
                         (31, 1, 0, "0000:3b:00.0", ["nvml"]))
        self.assertIn("memory", event["meaning"])
        self.assertGreater(event["time_unix_ns"], 1 << 60)

    def test_an_xid_of_the_kernel_log_is_an_event_unless_it_is_old(self):
        line = "3,9,20,-;NVRM: Xid (PCI:0000:3b:00): 13, pid=4711, name=python3, Graphics SM Warp Exception\033[1m"
        other = "3,11,21,-;NVRM: Xid (PCI:0000:ff:00): 99999, of no GPU that is here"
        events = self.events({"dev/kmsg": f"{line}\n SUBSYSTEM=pci\n{line}\n3,10,20,-;usb: Xid\n{other}\n"}, 2)
        first, second = events
        self.assertEqual((first["xid"], first["count"], first["process"], first["device_id"], first["told_by"]),
                         (13, 2, "python3 (4711)", 0, ["kernel-log"]))
        self.assertTrue(first["text"].startswith("NVRM: Xid (PCI:0000:3b:00): 13") and first["text"].isprintable())
        self.assertEqual((second["xid"], second["device_id"], second["meaning"]), (99999, None, None))

    def test_an_xid_that_both_tell_is_one(self):
        line = "NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=a, MMU Fault"
        events = self.events({"xids": "31\n43\n", "dev/kmsg": f"3,9,20,-;{line}\n3,10,21,-;{line.replace('31', '43')}\n"}, 2)
        self.assertEqual(sorted(event["xid"] for event in events), [31, 43])

    def test_events_have_csv_and_text(self):
        lines = self.watch({"xids": "31\n"}, lambda lines: len(lines) > 1, "-f", "csv", "--rows", "events")
        (row,) = csv.DictReader(lines)
        self.assertEqual((row["xid"], row["device_id"], row["told_by_nvml"], row["told_by_kernel_log"]), ("31", "0", "1", "0"))
        lines = self.watch({"xids": "31\n"}, lambda lines: "Xid" in lines[-1])
        self.assertIn("GPU 0: Xid 31: ", " ".join("".join(lines).split()))

    def test_info_names_the_gpu_of_an_xid_and_shows_the_first_20(self):
        path, xids = (os.path.join(self.folder.name, name) for name in ("x.wlt", "xids"))
        with open(xids, "w", encoding="ascii") as file:
            file.write("".join(f"{code}\n" for code in range(9001, 9024)))
        self.run_it("-i", "10ms", "-n", "3", "-o", path, FAKE_NVML_XIDS=xids)
        info = subprocess.run((WARPLIGHT, "info", path), env=self.environment(), check=True, capture_output=True, text=True)
        lines = info.stdout.split("Errors of GPUs\n")[1].splitlines()
        self.assertEqual((lines[0].split()[-4:], lines[19].split()[-1]), (["GPU", "0:", "Xid", "9001"], "9020"))
        self.assertEqual(lines[20].split(), ["3", "more", "(--format", "json)"])

    def test_events_are_marks_of_a_recording(self):
        path, xids = (os.path.join(self.folder.name, name) for name in ("x.wlt", "xids"))
        with open(xids, "w", encoding="ascii") as file:
            file.write("31\n")
        # An event of before the first sample is of the first.
        self.run_it("-i", "10ms", "-n", "3", "-o", path, FAKE_NVML_XIDS=xids)
        trace = path + ".json"
        subprocess.run((WARPLIGHT, "export", "--format", "chrome", "-o", trace, path), env=self.environment(), check=True,
                       capture_output=True)
        with open(trace, encoding="utf-8") as file:
            self.assertEqual(file.read().count("Xid 31: "), 1)

    def test_a_kernel_log_that_is_not_there_is_said_so(self):
        sources = {source["name"]: source["state"] for source in self.sample("--root", self.folder.name)["sources"]}
        self.assertEqual(sources, {"NVML": "known", "DRM": "no-driver", "kernel log": "unsupported"})
        self.assertIn("the kernel log, ", self.run_it("--why", "--root", self.folder.name))

    def test_beats_lie_on_a_grid(self):
        lines = self.sample("-i", "50ms", "-n", "9", "--no-processes")
        self.assertEqual(len(lines), 9)
        times = [line["time_unix_ns"] for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertTrue(all(line["interval_ns"] > 0 for line in lines))

    def test_an_end_by_signal_is_a_good_end(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen((WARPLIGHT, "sample", "-i", "20ms", "-f", "json"), env=self.environment(),
                                       stdout=subprocess.PIPE, text=True)
            first = json.loads(process.stdout.readline())
            process.send_signal(number)
            rest = process.communicate(timeout=ENOUGH)[0]
            self.assertEqual(process.returncode, 0)
            self.assertTrue(first["devices"])
            self.assertTrue(all(json.loads(line) for line in rest.splitlines()), "the last line is whole")

    def test_no_worker_is_left(self):
        self.sample(FAKE_NVML_HANG="nvmlInit_v2")
        left = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as environment:
                    left += [pid] if self.log.encode() in environment.read() else []
            except OSError:  # ended, or somebody else's
                pass
        self.assertEqual(left, [])


if __name__ == "__main__":
    signals.heed()
    unittest.main(argv=sys.argv[:1])

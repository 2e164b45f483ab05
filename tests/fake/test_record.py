#!/usr/bin/env python3
"""`warplight record` against a fake CUPTI: plumbing and faults, no numbers of a GPU.

    python3 tests/fake/test_record.py WARPLIGHT INJECT_LIBRARY FAKE_CUPTI APP
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

WARPLIGHT, INJECT, CUPTI, APP = (os.path.abspath(path) for path in sys.argv[1:5])


class Record(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "run.wlt")
        self.recorders = []

    def tearDown(self):
        self.folder.cleanup()
        buffers = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
        left = [name for name in buffers for pid in self.recorders if name.startswith(f"warplight-{pid}-")]
        self.assertEqual(left, [], "buffers were left behind")

    def environment(self, **extra):
        keep = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        return {**keep, "WARPLIGHT_CUPTI": CUPTI, "WARPLIGHT_INJECT": INJECT, "WARPLIGHT_LANG": "en", **extra}

    def record(self, *target, options=(), **extra):
        command = [WARPLIGHT, "record", "-o", self.file, *options, "--", *target]
        process = subprocess.Popen(command, env=self.environment(**extra), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, cwd=self.folder.name)
        self.recorders.append(process.pid)
        stdout, stderr = process.communicate(timeout=120)
        return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)

    def report(self):
        out = subprocess.run([WARPLIGHT, "report", "--format", "json", self.file], env=self.environment(),
                             capture_output=True, text=True, timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)

    def export(self, form):
        out = subprocess.run([WARPLIGHT, "export", "--format", form, self.file], env=self.environment(),
                             capture_output=True, text=True, timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)

    def check_counts(self, report, launches):
        kernels = {kernel["name"]: kernel for kernel in report["kernels"]}
        self.assertEqual(kernels["void scale<float>(float*, int)"]["count"], launches // 2)
        self.assertEqual(kernels["reduce_sum(float const*, float*)"]["count"], launches // 2)
        self.assertEqual(kernels["void scale<float>(float*, int)"]["min_ns"], 1000)
        self.assertEqual(kernels["reduce_sum(float const*, float*)"]["max_ns"], 1500)
        self.assertEqual(sum(copy["bytes"] for copy in report["copies"]), launches // 10 * 4096)
        self.assertEqual(report["run"]["losses"]["unlinked"], 0)
        for device in report["devices"]:
            self.assertEqual(sum(line["ns"] for line in device["ledger"]), device["wall_ns"])

    def test_every_launch_of_every_cupti_generation_is_there(self):
        for api in ("18", "26", "130001"):
            with self.subTest(api=api):
                out = self.record(APP, "20000", options=["--force"], FAKE_CUPTI_API=api)
                self.assertEqual(out.returncode, 0, out.stderr)
                self.assertIn("done\n", out.stdout)
                report = self.report()
                self.check_counts(report, 20000)
                self.assertEqual(report["devices"][0]["name"], "Fake GPU")
                self.assertEqual(report["devices"][0]["sm_count"], 84)
                names = {call["name"] for call in report["calls"]}
                self.assertEqual(names, {"cudaLaunchKernel", "cudaMemcpyAsync"})

    def test_a_killed_target_keeps_what_it_recorded_and_its_status(self):
        for how, code in (("kill", 137), ("abort", 134), ("segfault", 139), ("_exit", 3), ("code7", 7)):
            with self.subTest(how=how):
                out = self.record(APP, "20000", how, options=["--force", "--no-report"])
                self.assertEqual(out.returncode, code, out.stderr)
                self.check_counts(self.report(), 20000)

    def test_a_fork_without_exec_disturbs_nothing(self):
        out = self.record(APP, "10000", "fork")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.check_counts(self.report(), 20000)

    def test_many_short_processes_become_one_run(self):
        out = self.record("/bin/sh", "-c", f"for i in $(seq 40); do {APP} 100 & done; wait")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.check_counts(self.report(), 4000)

    def graph_launches(self, out):
        nodes, whole = re.search(r"launches (\d+) with nodes, (\d+) whole", out.stdout).groups()
        kernels = {kernel["name"]: kernel for kernel in self.report()["kernels"]}
        repairs = " ".join(repair["text"] for source in self.report()["run"]["sources"] for repair in source["repairs"])
        return int(nodes), int(whole), kernels, repairs

    def test_graphs_are_recorded_whole_or_by_their_nodes_on_demand(self):
        for api in ("18", "26", "130001"):
            with self.subTest(api=api):
                out = self.record(APP, "20", "graphs", options=["--force"], FAKE_CUPTI_API=api)
                nodes, whole, kernels, repairs = self.graph_launches(out)
                self.assertEqual((nodes, whole), (0, 20))
                self.assertEqual({name: kernel["count"] for name, kernel in kernels.items()}, {"CUDA graph 12": whole})
                self.assertTrue(kernels["CUDA graph 12"]["is_graph"])
                self.assertIn("--graph-trace node", repairs)
                self.assertEqual(self.report()["run"]["losses"]["unlinked"], 0)
                out = self.record(APP, "20", "graphs", options=["--force", "--graph-trace", "node"], FAKE_CUPTI_API=api)
                nodes, whole, kernels, repairs = self.graph_launches(out)
                self.assertEqual((nodes, whole), (20, 0))
                self.assertEqual(kernels["node_of_graph"]["count"], 24 * nodes)
                self.assertEqual(repairs, "")

    def test_memory_in_use_is_summed_up_in_order_of_time(self):
        for api in ("18", "26", "130001"):
            with self.subTest(api=api):
                out = self.record(APP, "10", "memory", options=["--force"], FAKE_CUPTI_API=api)
                self.assertEqual(out.returncode, 0, out.stderr)
                report = self.report()
                curve, = [row for row in report["memory"] if row["peak_allocated_bytes"]]
                self.assertEqual(curve["peak_allocated_bytes"], 6 << 20)
                self.assertEqual(curve["last_allocated_bytes"], 6 << 20)
                moved, = [copy for copy in report["copies"] if "managed" in copy["kind"]]
                self.assertEqual((moved["count"], moved["bytes"]), (1, 4096))
                self.assertEqual(report["run"]["losses"]["unlinked"], 0)
                samples = [event for event in self.export("chrome")["traceEvents"] if event["ph"] == "C"]
                faults = [event["args"] for event in samples if "page faults" in event["name"]]
                self.assertEqual([list(values.values()) for values in faults], [[3], [7]])

    def test_ranges_marks_categories_payloads_and_names_of_nvtx_are_recorded(self):
        for launches, code in (("100", 0), ("101", 137)):  # leaves, or is killed
            with self.subTest(launches=launches):
                out = self.record(APP, launches, "nvtx-all", options=["--force"], ASAN_OPTIONS="detect_leaks=0")
                self.assertEqual(out.returncode, code, out.stderr)
                events = self.export("chrome")["traceEvents"]
                ranges = {event["name"]: event for event in events if event["ph"] == "X"}
                details = {name: ranges[name]["cat"] for name in ranges}
                texts = json.dumps(events)
                self.assertLess(ranges["first"]["ts"], ranges["second"]["ts"])
                self.assertLess(ranges["first"]["ts"] + ranges["first"]["dur"], ranges["second"]["ts"] + ranges["second"]["dur"])
                self.assertIn("ends on thread", texts)
                self.assertIn("copying, payload -17", texts)
                self.assertIn("library, offset -3, ratio 0.25, after 7", texts)
                self.assertIn("unfinished", texts)
                self.assertIn("conductor", texts)
                self.assertEqual(len([event for event in events if event["ph"] in "iI" and event["name"] == "counted"]), 1, details)
                repairs = [repair for source in self.report()["run"]["sources"] for repair in source["repairs"]]
                self.assertEqual([repair["count"] for repair in repairs if "never ended" in repair["text"]], [1])

    def test_collectives_of_nccl_carry_what_nccl_said(self):
        out = self.record(APP, "10", "nccl", ASAN_OPTIONS="detect_leaks=0")  # handles live as long as the process
        self.assertEqual(out.returncode, 0, out.stderr)
        row, = self.report()["comms"]
        self.assertEqual(row["name"], "allreduce")
        self.assertEqual((row["count"], row["bytes"], row["group_size"]), (2, 2 * 4096, 8))

    def test_no_memory_is_recorded_where_none_is_wanted(self):
        self.record("/bin/sh", "-c", f"timeout 1 {APP} 10 memory", options=["--no-memory"])
        self.assertEqual(self.report()["memory"], [])

    def test_dropped_records_are_counted(self):
        self.record(APP, "100", FAKE_CUPTI_DROPPED="5")
        report = self.report()
        self.assertGreaterEqual(report["run"]["losses"]["dropped"], 5)
        self.assertIn("trust-lost-records", [finding["id"] for finding in report["findings"]])

    def test_a_refusing_cupti_is_named_with_the_remedy_and_the_program_goes_on(self):
        for code, language, said in (("35", "en", "NVreg_RestrictProfilingToAdminUsers=0"), ("39", "en", "another profiler holds"),
                                     ("40", "en", "enable_profiling"), ("43", "en", "MIG instance"), ("45", "en", "WSL"),
                                     ("15", "en", "install the libcupti"), ("999", "en", "refuses to record kernels: "),
                                     ("999", "en", "(999)"), ("35", "zh", "只允许管理员"), ("999", "zh", "(999)")):
            with self.subTest(code=code, language=language):
                out = self.record(APP, "100", options=["--force"], FAKE_CUPTI_REFUSE=code, WARPLIGHT_LANG=language)
                self.assertEqual(out.returncode, 0)
                self.assertIn("done\n", out.stdout)
                self.assertIn(said, out.stderr)

    def test_a_profiler_that_takes_cupti_over_is_told(self):
        out = self.record(APP, "10000", "take-over")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("took CUPTI over", out.stderr)
        report = self.report()
        repairs = [repair["text"] for source in report["run"]["sources"] for repair in source["repairs"]]
        self.assertTrue(any("took CUPTI over" in text for text in repairs), repairs)

    def test_a_missing_cupti_is_said_and_the_program_goes_on(self):
        out = self.record(APP, "100", WARPLIGHT_CUPTI="/nonexistent/libcupti.so")
        self.assertIn("WARPLIGHT_CUPTI", out.stderr)

    def test_a_program_without_cuda_says_so(self):
        out = self.record("/bin/true")
        self.assertEqual(out.returncode, 0)
        self.assertIn("no process used CUDA", out.stderr)

    def test_a_program_that_cannot_start_leaves_nothing_behind(self):
        out = self.record("/nonexistent/program")
        self.assertEqual(out.returncode, 4)
        self.assertEqual(len(out.stderr.strip().splitlines()), 1)
        self.assertFalse(os.path.exists(self.file))

    def test_an_existing_file_is_not_overwritten_unasked(self):
        with open(self.file, "w") as file:
            file.write("precious")
        out = self.record(APP, "100")
        self.assertEqual(out.returncode, 4)
        self.assertIn("--force", out.stderr)
        with open(self.file) as file:
            self.assertEqual(file.read(), "precious")

    def test_a_disk_that_is_full_at_the_start_is_an_error(self):
        command = [WARPLIGHT, "record", "-o", "/dev/full", "--force", "--", APP, "20000"]
        out = subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual(out.returncode, 4, out.stderr)
        self.assertEqual(len(out.stderr.strip().splitlines()), 1)
        self.assertTrue(os.path.exists("/dev/full"))

    def test_a_disk_that_fills_up_ends_the_recording_but_not_the_program(self):
        disk = os.path.join(self.folder.name, "disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", disk], capture_output=True).returncode:
            self.skipTest("a small disk cannot be mounted here")
        try:
            self.file = os.path.join(disk, "run.wlt")
            out = self.record(APP, "400000")
            self.assertEqual(out.returncode, 4, out.stderr)
            self.assertIn("done\n", out.stdout)
            self.assertGreater(self.report()["kernels"][0]["count"], 0)
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_who_ignores_the_end_of_children_does_not_hold_a_recording_up(self):
        out = subprocess.run([WARPLIGHT, "record", "-o", self.file, "--no-report", "--", APP, "100"], env=self.environment(),
                             capture_output=True, text=True, timeout=60, cwd=self.folder.name,
                             preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual((out.returncode, out.stdout), (0, "done\n"), out.stderr)
        self.check_counts(self.report(), 100)

    def test_a_request_to_end_is_passed_on(self):
        command = [WARPLIGHT, "record", "-o", self.file, "--no-report", "--", APP, "1000", "sleep"]
        process = subprocess.Popen(command, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"working\n")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.check_counts(self.report(), 1000)

    def test_what_was_run_is_in_the_recording(self):
        self.record(APP, "100", CUDA_DEVICE_ORDER="PCI_BUS_ID", NCCL_SECRET_KEY="hidden", TF_VAR_database="hidden",
                    nccl_x="hidden", JAX_db_password="hidden", TF_GPU_ALLOCATOR="cuda_malloc_async")
        facts = {fact["key"]: fact["value"] for fact in self.report()["facts"]}
        self.assertEqual(facts["command_line"], f"{APP} 100")
        self.assertEqual(facts["env.CUDA_DEVICE_ORDER"], "PCI_BUS_ID")
        self.assertEqual(facts["env.TF_GPU_ALLOCATOR"], "cuda_malloc_async")
        self.assertEqual(facts["cupti_path"], CUPTI)
        self.assertNotIn("hidden", json.dumps(facts))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)

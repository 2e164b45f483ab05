#!/usr/bin/env python3
"""Measuring kernels against fakes of CUPTI and the driver: plumbing, order and faults, no numbers of a GPU.

    python3 tests/fake/test_counters.py MEASURE INJECT_LIBRARY FAKE_CUPTI APP FAKE_CUDA WARPLIGHT CUBIN
"""
import collections
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

MEASURE, INJECT, CUPTI, APP, CUDA, WARPLIGHT, CUBIN = (os.path.abspath(path) for path in sys.argv[1:8])
DURATION = "gpu__time_duration.sum"
QUICK = f"{DURATION},sm__cycles_active.avg,l1tex__t_sector_hit_rate.pct"


def symbol_of(function):
    """The index of a function in the symbol table of the module."""
    with open(CUBIN, "rb") as file:
        data = file.read()
    table, entry, count = (struct.unpack_from(kind, data, at)[0] for kind, at in (("<Q", 0x28), ("<H", 0x3a), ("<H", 0x3c)))
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry) for i in range(count)]
    symbols = next(section for section in sections if section[1] == 2)
    names = sections[symbols[6]][4]
    for i in range(symbols[5] // 24):
        name, info = struct.unpack_from("<IB", data, symbols[4] + i * 24)
        if info & 15 == 2 and data[names + name:].split(b"\0")[0] == function:
            return i
    raise KeyError(function)


class Counters(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.output = os.path.join(self.folder.name, "out.jsonl")
        self.log = os.path.join(self.folder.name, "log")

    def tearDown(self):
        self.folder.cleanup()

    def measure(self, *words, options=(), code=0, lost=0, **extra):
        keep = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        env = {**keep, "WARPLIGHT_CUPTI": CUPTI, "WARPLIGHT_INJECT": INJECT, "WARPLIGHT_LANG": "en", "FAKE_CUDA": CUDA,
               "MEASURE_OUTPUT": self.output, "FAKE_PROFILER_LOG": self.log, **extra}
        for path in (self.output, self.log):
            if os.path.exists(path):
                os.remove(path)
        command = [MEASURE, *options, APP, *words]
        out = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, cwd=self.folder.name)
        self.assertEqual(out.returncode, code, out.stderr)
        if code == 0:
            self.assertEqual(out.stdout, "done\n")
        with open(self.output) as file:
            lines = [json.loads(line) for line in file]
        # The collector reads slots in any order.
        lines.sort(key=lambda line: line.get("launch", -1) if "launch" in line else 1 << 40 if "exit" in line else -1)
        self.end = lines[-1]
        self.assertEqual((self.end["exit"], self.end["malformed"]), (code, 0))
        if lost is not None:
            self.assertEqual(self.end["dropped"], lost)
        self.samples = [line for line in lines if "function" in line]
        return [line for line in lines if "launch" in line]

    def felt(self):
        with open(self.log) as file:
            return file.read()

    def counts(self, launches):
        return dict(collections.Counter((launch["name"], launch["grid"][0]) for launch in launches))

    # ---- one pass --------------------------------------------------------------------------------------------

    def test_the_first_launches_of_each_distinct_kernel_are_measured_in_one_session(self):
        launches = self.measure("20xscale/1", "20xscale/2", "20xreduce/1", options=("-n", "5"))
        self.assertEqual(self.counts(launches), {("scale", 1): 5, ("scale", 2): 5, ("reduce", 1): 5})
        self.assertEqual([launch["launch"] for launch in launches][:5], [0, 1, 2, 3, 4])
        self.assertEqual(self.felt().count("S"), 1)
        self.assertEqual(self.end["failure"], "")

    def test_measured_launches_stand_for_all_that_there_were(self):
        launches = self.measure("20xscale/1", "3xscale/2", "end", "7xscale/1", options=("-n", "3"))
        stands = collections.Counter()
        for launch in launches:
            stands[launch["grid"][0]] += launch["launches"]
        self.assertEqual(stands, {1: 27, 2: 3})
        self.assertEqual(self.counts(launches), {("scale", 1): 6, ("scale", 2): 3})

    def test_every_launch_can_be_measured_beyond_what_a_session_holds(self):
        launches = self.measure("1000xscale/1", options=("-n", "0"))
        self.assertEqual([launch["launch"] for launch in launches], list(range(1000)))
        self.assertEqual(self.felt().count("r"), 1000)

    def test_a_long_run_of_known_kernels_is_left_alone(self):
        self.measure("100000xscale/1", FAKE_PROFILER_LOG=self.log)
        felt = self.felt()
        self.assertLess(felt.count("r"), 100)
        self.assertEqual(felt.count("l"), 100000 - felt.count("r"))

    def test_values_are_those_of_the_launch_and_what_is_no_number_is_not_zero(self):
        launches = self.measure("2xheavy/4", "1xscale/4", options=("-m", QUICK))
        self.assertEqual([launch["metrics"][DURATION] for launch in launches], [1e6, 1e6, 1000])
        self.assertEqual(launches[0]["metrics"]["sm__cycles_active.avg"], 1)
        self.assertIsNone(launches[0]["metrics"]["l1tex__t_sector_hit_rate.pct"])
        self.assertEqual((launches[0]["grid"], launches[0]["block"]), ([4, 1, 1], [128, 1, 1]))
        self.assertEqual((launches[0]["registers"], launches[0]["shared"]), (40, 2048))

    def test_metrics_that_the_chip_lacks_are_left_out(self):
        launches = self.measure("1xscale/1", FAKE_PROFILER_UNKNOWN="dram__bytes_op")
        self.assertIn("dram__bytes_read.sum", launches[0]["metrics"])
        self.assertNotIn("dram__bytes_op_read.sum", launches[0]["metrics"])

    def test_what_does_not_fit_in_a_pass_is_left_out(self):
        launches = self.measure("1xscale/1", FAKE_PROFILER_PASS="7")
        self.assertEqual(len(launches[0]["metrics"]), 7)
        self.assertIn(DURATION, launches[0]["metrics"])

    def test_graphs_captures_and_failed_launches_do_not_shift_what_belongs_to_whom(self):
        launches = self.measure("1xscale/1", "capture", "1xheavy/2", "fault", "1xreduce/3", "graph", "1xheavy/5")
        self.assertEqual([(launch["grid"][0], launch["metrics"][DURATION]) for launch in launches],
                         [(1, 1000), (2, 1e6), (3, 1000), (0, 5000), (5, 1e6)])
        self.assertEqual(self.felt(), "SrrrPSwPSrP")
        self.assertEqual(self.notes("had the counters"), [])

    def test_kernels_that_wait_for_other_gpus_are_never_in_a_session(self):
        launches = self.measure("3xscale/1", "3xncclDevKernel_AllReduce/1", "3xscale/2")
        self.assertEqual(self.counts(launches), {("scale", 1): 3, ("scale", 2): 3})
        self.assertEqual(self.felt(), "SrrrPlllSrrrP")

    def test_kernels_that_wait_for_other_gpus_are_never_in_a_session_also_beyond_the_kernels_that_are_known(self):
        launches = self.measure("grids40000", "1xscale/1", "2xncclDevKernel_AllReduce/1", options=("-m", QUICK))
        self.assertTrue(self.felt().endswith("Pll"), self.felt()[-20:])
        self.assertEqual(self.notes("too many different kernels"), [40003 - len(launches)])

    def test_captures_of_the_default_stream_of_a_thread_are_no_launches(self):
        launches = self.measure("1xscale/1", "threadcapture", "1xheavy/2")
        self.assertEqual([(launch["grid"][0], launch["metrics"][DURATION]) for launch in launches], [(1, 1000), (2, 1e6)])
        self.assertEqual(self.end["failure"], "")

    def test_values_that_cannot_be_computed_are_said(self):
        launches = self.measure("3xscale/1", FAKE_PROFILER_REFUSE="cuptiProfilerHostEvaluateToGpuValues=1")
        self.assertEqual(launches, [])
        self.assertIn("cuptiProfilerHostEvaluateToGpuValues: 1", self.end["failure"])

    def test_a_cooperative_launch_is_measured_like_others(self):
        launches = self.measure("cooperative", "1xscale/1")
        self.assertEqual(self.counts(launches), {("reduce", 7): 2, ("scale", 1): 1})

    # ---- graphs ----------------------------------------------------------------------------------------------

    def notes(self, part):
        return [count for text, count in self.end["notes"].items() if part in text]

    def test_a_graph_is_measured_as_a_whole_and_stands_for_all_its_launches(self):
        # 20 kernels, 2 copies, and a graph of 3 kernels in it
        launches = self.measure("make30214", *["graph"] * 10, "1xscale/1")
        graphs = [launch for launch in launches if launch["name"] == "CUDA graph 1"]
        self.assertEqual([graph["metrics"][DURATION] for graph in graphs], [5000] * 3)
        self.assertEqual({graph["kernels"] for graph in graphs}, {23})
        self.assertEqual(sum(graph["launches"] for graph in graphs), 10)
        self.assertEqual(self.notes("as their graph"), [230])
        self.assertEqual(self.felt(), "SwP" * 3 + "g" * 7 + "SrP")

    def test_graphs_are_told_apart_also_where_a_handle_is_used_again(self):
        launches = self.measure("make2", "graph", "make3", "graph", options=("-n", "0"))
        self.assertEqual([(launch["name"], launch["kernels"]) for launch in launches],
                         [("CUDA graph 1", 2), ("CUDA graph 2", 3)])

    def test_a_graph_whose_launch_fails_loses_nothing(self):
        launches = self.measure("make3", "badgraph", "graph", "1xscale/1")
        self.assertEqual([launch["name"] for launch in launches], ["CUDA graph 1", "scale"])
        self.assertEqual(self.end["failure"], "")

    def test_graphs_that_may_wait_for_other_gpus_are_counted_and_not_measured(self):
        launches = self.measure("collective", "make5", "graph", "graph", "1xscale/1")
        self.assertEqual(self.counts(launches), {("scale", 1): 1})
        self.assertEqual(self.notes("graphs wait for other GPUs"), [10])
        self.assertNotIn("w", self.felt())

    def test_graphs_whose_kernels_nobody_knows_are_said(self):
        self.measure("graph", "graph")
        self.assertEqual(self.notes("could not be counted"), [2])

    def test_launches_that_are_never_measured_are_counted(self):
        self.measure("7xncclDevKernel_AllReduce/1", "1xscale/1")
        self.assertEqual(self.notes("runs alone never ends"), [7])

    # ---- contexts and devices --------------------------------------------------------------------------------

    def test_gpus_are_measured_beside_each_other(self):
        launches = self.measure("gpus", options=("-n", "0"))
        self.assertEqual(self.counts(launches), {("scale", gpu): 300 for gpu in (1, 2, 3, 4)})
        self.assertEqual(len({launch["device"] for launch in launches}), 4)
        self.assertEqual(self.end["failure"], "")

    def test_contexts_of_a_gpu_take_turns(self):
        launches = self.measure("3xscale/1", "on80", "3xscale/2", "on40", "3xscale/1", options=("-n", "0"))
        self.assertEqual(self.counts(launches), {("scale", 1): 6, ("scale", 2): 3})
        self.assertEqual(self.felt(), "SrrrP" * 3)

    def test_a_context_that_is_done_does_not_keep_the_gpu_from_others(self):
        launches = self.measure("300xscale/1", "on80", "3xscale/2", "on40", "3xscale/3")
        self.assertEqual(self.counts(launches), {("scale", 1): 8, ("scale", 2): 3, ("scale", 3): 3})
        self.assertEqual(self.end["failure"], "")

    def test_contexts_that_come_and_go_are_all_measured(self):
        launches = self.measure("contexts")
        self.assertEqual((len(launches), self.end["failure"]), (100, ""))

    def test_more_contexts_than_can_be_measured_are_said(self):
        launches = self.measure("crowd")
        self.assertEqual(len(launches), 64)
        self.assertIn("more than 64 contexts", self.end["failure"])

    def test_launches_of_many_threads_are_told_apart(self):
        launches = self.measure("threads", options=("-n", "0"))
        self.assertEqual(self.counts(launches), {("scale", 3): 1000, ("reduce", 3): 1000})
        self.assertEqual(len({launch["launch"] for launch in launches}), 2000)

    # ---- ends ------------------------------------------------------------------------------------------------

    def test_a_killed_program_keeps_what_was_decoded(self):
        launches = self.measure("3xscale/1", "pause", "2xscale/2", "kill", code=137)
        self.assertEqual(self.counts(launches), {("scale", 1): 3})

    def test_a_killed_program_keeps_how_many_launches_there_were(self):
        launches = self.measure("1000xscale/1", "1xscale/2", "pause", "pause", "kill", options=("-n", "4"), code=137)
        self.assertEqual(sum(launch["launches"] for launch in launches if launch["grid"][0] == 1), 1000)

    def test_totals_that_were_told_are_not_told_again(self):
        launches = self.measure("1000xscale/1", "pause", "pause", "500xscale/1", "pause", "pause", options=("-n", "4"))
        self.assertEqual(sum(launch["launches"] for launch in launches), 1500)
        self.assertEqual(len(launches), 4)

    def test_what_is_known_is_handed_over_where_a_program_ends_beside_a_launch(self):
        launches = self.measure("9xscale/1", "exitbeside", options=("-d", "-n", "2"), FAKE_PROFILER_REPLAY_MS="300")
        self.assertEqual(sum(launch["launches"] for launch in launches if launch["name"] == "scale"), 9)

    def test_the_end_of_a_context_hands_over_what_it_has_and_a_new_one_is_measured(self):
        launches = self.measure("2xscale/1", "end", "2xscale/1")
        self.assertEqual(self.counts(launches), {("scale", 1): 4})

    def test_a_context_may_end_while_another_one_is_current(self):
        launches = self.measure("on80", "2xscale/1", "on40", "end80", "2xscale/2")
        self.assertEqual((self.counts(launches), self.end["failure"]), ({("scale", 1): 2, ("scale", 2): 2}, ""))

    def test_after_a_module_kernels_are_looked_at_anew_and_all_launches_count(self):
        launches = self.measure("5xscale/1", "unload", "unload", "7xscale/1", "unload", options=("-n", "3"))
        self.assertEqual(self.counts(launches), {("scale", 1): 6})
        self.assertEqual(sum(launch["launches"] for launch in launches), 12)

    def test_modules_may_go_while_other_threads_launch(self):
        launches = self.measure("unloads", options=("-n", "0"))
        self.assertEqual(self.counts(launches), {("scale", 3): 501})

    def test_exit_codes_are_passed_on_and_forks_disturb_nothing(self):
        self.assertEqual(self.counts(self.measure("2xscale/1", "fork", "1xscale/1", "code7", code=7)), {("scale", 1): 3})

    # ---- deep ------------------------------------------------------------------------------------------------

    def test_deep_measures_each_kernel_once_in_all_passes_then_as_usual(self):
        launches = self.measure("1xscale/1", "1xheavy/2", "300xscale/1", "2xheavy/2", options=("-d", "-n", "3"))
        deep = [launch for launch in launches if len(launch["metrics"]) > 60]
        self.assertEqual([(launch["name"], launch["launch"]) for launch in deep], [("scale", 0), ("heavy", 1)])
        self.assertEqual(self.counts(launches), {("scale", 1): 3, ("heavy", 2): 3})
        self.assertTrue(self.felt().startswith("SmPSmPlll"), self.felt()[:20])
        self.assertEqual(self.felt().count("m"), 2)

    def test_replays_that_come_after_sessions_of_one_pass_find_their_counters(self):
        launches = self.measure("1xscale/1", "300xscale/1", "1xheavy/2", "100xheavy/2", "1xreduce/3", options=("-d",),
                                FAKE_PROFILER_REPLAY_MS="1")
        self.assertRegex(self.felt(), "^SmP.*Sr.*SmP.*SmP")
        self.assertEqual({launch["name"] for launch in launches}, {"scale", "heavy", "reduce"})

    def test_what_one_pass_measured_replaces_what_replays_disturbed(self):
        launches = self.measure("1xscale/1", "300xscale/1", options=("-d", "-n", "2"))
        self.assertGreater(len(launches[0]["metrics"]), 60)
        plain = launches[1]["metrics"]
        self.assertEqual({name: launches[0]["metrics"][name] for name in plain}, plain)

    def test_what_comes_after_the_time_for_replays_is_measured_in_one_pass(self):
        launches = self.measure("1xscale/1", "1xheavy/2", "1xscale/1", "1xheavy/2", options=("-d",),
                                FAKE_PROFILER_REPLAY_MS="2600")
        self.assertEqual([launch["launch"] for launch in launches][:2], [0, 1])
        self.assertGreater(len(launches[0]["metrics"]), 60)
        self.assertEqual((len(launches[1]["metrics"]), launches[1]["metrics"][DURATION]), (34, 1e6))

    def test_a_kernel_whose_replay_counts_nothing_is_not_replayed_for_ever(self):
        self.measure("300xscale/1", "300xheavy/1", "300xscale/1", options=("-d",), lost=None, FAKE_PROFILER_LOSE="scale",
                     FAKE_PROFILER_REPLAY_MS="100")
        self.assertEqual(self.felt().count("m"), 2)
        self.assertIn("which launch they belong to", self.end["failure"])

    def test_people_see_which_kernels_were_counted_less_than_others(self):
        path = os.path.join(self.folder.name, "text")
        self.kernels("1xscale/1", "1xheavy/2", "1xreduce/3", "1xsmall/4",
                     options=("--deep", "--format", "text", "-o", path), FAKE_PROFILER_REPLAY_MS="2600")
        with open(path) as file:
            text = " ".join(file.read().split())
        self.assertRegex(text, r"Counted less than the others: 3 of 4 kernels \((heavy|reduce|small), .*"
                               r"Not measured of them: coalescing, .*use of the pipes\.")
        self.assertRegex(text, r"Not measured: [^.]*why warps wait\.")

    # ---- the sampler -----------------------------------------------------------------------------------------

    def test_samples_are_given_to_their_instructions_and_kernels(self):
        kernels = self.measure("2xheavy/2", "1xheavy/3", options=("-s",))
        self.assertEqual(self.felt(), "sss")
        self.assertEqual({(sample["function"], sample["pc"]) for sample in self.samples}, {("heavy", 16), ("heavy", 32)})
        self.assertEqual({sample["profile"] for sample in self.samples}, {0})
        self.assertEqual(kernels[0]["metrics"], {"smsp__pcsamp_warps_issue_stalled_long_scoreboard": 18,
                                                 "smsp__pcsamp_warps_issue_stalled_wait": 6})

    def test_a_sampler_that_refuses_says_so(self):
        for call in ("cuptiPCSamplingEnable", "cuptiPCSamplingStart"):
            with self.subTest(call=call):
                self.measure("3xscale/1", options=("-s",), FAKE_PROFILER_REFUSE=f"{call}=27")
                self.assertEqual(self.samples, [])
                self.assertIn(f"{call}: 27", self.end["failure"])

    def test_a_second_context_of_a_gpu_is_not_sampled_and_that_is_said(self):
        self.measure("3xscale/1", "on80", "3xheavy/2", "on40", "1xscale/1", options=("-s",))
        self.assertEqual({sample["function"] for sample in self.samples}, {"scale"})
        self.assertIn("one context of a GPU is sampled at a time", self.end["failure"])

    def test_samples_that_found_no_room_are_said(self):
        for extra in ({"FAKE_PROFILER_FULL": "1"}, {"FAKE_PROFILER_REFUSE": "cuptiPCSamplingStop=8"}):
            with self.subTest(extra=extra):
                self.measure("3xscale/1", options=("-s",), **extra)
                self.assertEqual(self.samples, [])
                self.assertIn("more samples than", self.end["failure"])

    # ---- refusals --------------------------------------------------------------------------------------------

    def refused(self, *parts, **extra):
        launches = self.measure("5xscale/1", **extra)
        self.assertEqual(launches, [])
        for part in parts:
            self.assertIn(part, self.end["failure"])
        self.assertNotIn("r", self.felt())

    def test_every_refusal_names_cause_and_remedy_and_the_program_goes_on(self):
        for code, part in ((8, "memory"), (15, "libnvperf_host.so"), (26, "dcgmi profile --pause"), (27, "7.5"),
                           (35, "permission"), (40, "virtual GPU"), (41, "confidential"), (42, "mining"), (43, "MIG"),
                           (44, "SLI"), (45, "WSL"), (46, "newer"), (999, "cuptiRangeProfilerStart: 999")):
            with self.subTest(code=code):
                self.refused(part, str(code), FAKE_PROFILER_REFUSE=f"cuptiRangeProfilerStart={code}")

    def test_a_refusal_of_each_call_is_said(self):
        for call in ("cuptiProfilerInitialize", "cuptiProfilerHostInitialize", "cuptiRangeProfilerEnable",
                     "cuptiRangeProfilerGetCounterDataSize"):
            with self.subTest(call=call):
                self.refused("DCGM", FAKE_PROFILER_REFUSE=f"{call}=26")

    def test_a_mig_instance_measures_what_it_does_not_share(self):
        launches = self.measure("3xscale/1", FAKE_PROFILER_MIG="1")
        self.assertEqual(self.counts(launches), {("scale", 1): 3})
        self.assertIn("sm__cycles_active.avg", launches[0]["metrics"])
        self.assertFalse([name for name in launches[0]["metrics"] if name.startswith(("dram__", "lts__"))])
        self.assertIn("MIG", self.end["failure"])

    def test_counters_that_another_process_has_for_a_moment_are_waited_for(self):
        launches = self.measure("3xscale/1", "pause", "5xscale/1", FAKE_PROFILER_BUSY="1")
        self.assertEqual(len(launches), 5)
        self.assertEqual(self.end["failure"], "")
        self.assertEqual(self.felt(), "lllSrrrrrP")

    def test_kernels_that_came_only_while_another_process_had_the_counters_are_said(self):
        launches = self.measure("3xscale/1", "pause", "5xheavy/1", FAKE_PROFILER_BUSY="1")
        self.assertEqual(self.counts(launches), {("heavy", 1): 5})
        self.assertEqual(self.notes("had the counters"), [3])

    def test_another_profiler_is_named(self):
        self.refused("another profiler", "39", FAKE_PROFILER_REFUSE="cuptiSubscribe=39")

    def test_what_a_device_cannot_do_is_named(self):
        for flag, part in (("architecture", "7.5"), ("sli", "SLI"), ("vgpu", "virtual GPU"), ("confidential", "devtools"),
                           ("cmp", "mining"), ("wsl", "WSL")):
            with self.subTest(flag=flag):
                self.refused(part, FAKE_PROFILER_FLAG=flag)

    def test_metrics_that_nobody_knows_are_an_answer(self):
        launches = self.measure("1xscale/1", options=("-m", "nonsense,more_nonsense"))
        self.assertEqual(launches, [])
        self.assertIn("none of those asked for", self.end["failure"])

    def test_data_that_is_lost_at_the_stop_is_said(self):
        launches = self.measure("3xscale/1", FAKE_PROFILER_REFUSE="cuptiRangeProfilerStop=999")
        self.assertEqual(launches, [])
        self.assertIn("cuptiRangeProfilerStop: 999", self.end["failure"])

    # ---- the command -----------------------------------------------------------------------------------------

    def kernels(self, *words, options=(), code=0, program=APP, **extra):
        keep = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        path = os.path.join(self.folder.name, "kernels.json")
        out = subprocess.run([WARPLIGHT, "kernels", "--format", "json", "-o", path, *options, "--", program, *words],
                             capture_output=True, text=True, timeout=120,
                             env={**keep, "WARPLIGHT_CUPTI": CUPTI, "WARPLIGHT_INJECT": INJECT, "WARPLIGHT_LANG": "en",
                                  "FAKE_CUDA": CUDA, "FAKE_PROFILER_LOG": self.log, **extra})
        self.assertEqual(out.returncode, code, out.stderr)
        self.said = out.stderr
        if not os.path.exists(path):
            return {}
        with open(path) as file:
            return {kernel["name"]: kernel for kernel in json.load(file)["kernels"]}

    def test_the_command_shows_every_kernel_with_all_its_launches_and_passes_the_exit_code_on(self):
        kernels = self.kernels("20x_Z5saxpyifPKfPf/1", "3xheavy/2", "code7", options=("--launches", "4"), code=7)
        saxpy = kernels["saxpy(int, float, float const*, float*)"]
        self.assertEqual((saxpy["launches"], saxpy["profiled_launches"]), (20, 4))
        self.assertEqual((saxpy["metrics"]["duration_ns"], saxpy["total_ns"]), (1000, 20000))
        self.assertEqual((saxpy["registers_per_thread"], saxpy["static_shared_bytes"]), (40, 2048))
        self.assertEqual(kernels["heavy"]["total_ns"], 3e6)

    def test_what_was_measured_is_told_from_what_it_stands_for_also_once_it_is_a_file(self):
        path, saved = (os.path.join(self.folder.name, name) for name in ("text", "saved.json"))
        words, options = ("20xscale/1", "3xheavy/2"), ("--launches", "4")
        self.kernels(*words, options=(*options, "-o", saved))
        self.kernels(*words, options=(*options, "--format", "text", "-o", path))
        with open(path) as file:
            live = file.read()
        self.assertRegex(live, "kernels: 2 . launches: 23, of them measured: 7 . GPU time: 3.02 ms")
        read = subprocess.run([WARPLIGHT, "kernels", saved], env={**os.environ, "WARPLIGHT_LANG": "en"}, capture_output=True,
                              text=True, timeout=60, check=True)
        self.assertRegex(read.stdout, "launches: 23, of them measured: 7 . GPU time: 3.02 ms")

    def test_counters_that_were_asked_for_are_shown_by_their_names(self):
        asked = ["--metrics", f"{DURATION},x__y.sum,l1tex__t_sector_hit_rate.pct"]
        kernels = self.kernels("2xscale/1", "1xheavy/3", options=asked)
        self.assertEqual(kernels["heavy"]["counters"],
                         {DURATION: 1e6, "x__y.sum": 1, "l1tex__t_sector_hit_rate.pct": None,
                          "l1tex__t_sector_hit_rate.pct_why": "no launch has a value"})
        self.assertEqual(kernels["scale"]["counters"][DURATION], 1000)
        self.assertNotIn("counters", self.kernels("1xscale/1")["scale"])
        path = os.path.join(self.folder.name, "text")
        for one in ((), ("--kernel", "heavy")):
            self.kernels("2xscale/1", "1xheavy/3", options=(*asked, *one, "--format", "text", "-o", path))
            with open(path) as file:
                self.assertRegex(file.read(), r"\n  gpu__time_duration\.sum +1,000,000\n  x__y\.sum +1\n  l1tex__t_sector_hit_rate")

    def test_counters_that_were_asked_for_and_not_measured_are_named(self):
        self.kernels("2xscale/1", options=("--metrics", f"{DURATION},x__y.sum,nonsense,x__z.sum"), FAKE_PROFILER_PASS="2")
        self.assertRegex(self.said, r"not measured, .*: nonsense, x__z\.sum\n")
        self.kernels("2xscale/1", options=("--metrics", f"{DURATION},x__y.sum"))
        self.assertNotIn("not measured", self.said)

    def test_with_deep_what_was_asked_for_takes_as_many_passes_as_it_needs(self):
        for asked in ("x__a.sum,x__b.sum,x__c.sum", f"x__a.sum,x__b.sum,{DURATION},x__c.sum"):
            with self.subTest(asked=asked):
                launches = self.measure("3xscale/1", options=("-d", "-m", asked), FAKE_PROFILER_PASS="2")
                self.assertEqual(list(launches[0]["metrics"]), [DURATION, "x__a.sum", "x__b.sum", "x__c.sum"])
                self.assertEqual(self.felt().count("m"), 1)
        self.assertEqual(len(self.measure("3xscale/1", options=("-d", "-m", "x__a.sum"))), 3)
        self.assertEqual(self.felt(), "SrrrP")

    def test_what_deep_costs_is_said_before_it_runs(self):
        self.kernels("1xscale/1", options=("--deep",))
        self.assertIn("--deep on GH100: 80 counters in 2 passes", self.said)
        self.kernels("1xscale/1", options=("--deep", "--quiet"))
        self.assertNotIn("passes", self.said)

    def test_stalls_come_from_a_second_run(self):
        kernels = self.kernels("2xheavy/2", options=("--stalls",))
        self.assertEqual(kernels["heavy"]["top_stall"], "long_scoreboard")
        self.assertEqual(kernels["heavy"]["metrics"]["duration_ns"], 1e6)
        self.assertEqual(self.felt(), "SrrPss")

    # ---- source lines of samples ------------------------------------------------------------------------------

    def sampled(self, *words, **extra):
        """The lines of the kernel `small`, of which the module that is loaded has the code."""
        extra = {"FAKE_PROFILER_CUBIN": CUBIN, "FAKE_PROFILER_PC": "0x3f0", **extra}
        return self.kernels(*words, "3xsmall/50000", options=("--stalls",), **extra)["small"]

    def test_samples_have_the_lines_of_the_code_that_was_loaded_and_the_calls_around_them(self):
        small = self.sampled("load")
        plain, inlined = small["lines"]
        self.assertEqual((os.path.basename(plain["file"]), plain["line"], plain["function"]), ("small.cu", 12, "small"))
        self.assertNotIn("inlined_at", plain)
        self.assertEqual((inlined["line"], inlined["function"]), (4, "add(int, int)"))
        self.assertEqual([(call["line"], call["function"]) for call in inlined["inlined_at"]], [(17, "small")])
        self.assertEqual(inlined["stalls"], {"long_scoreboard": 9, "wait": 3})
        self.assertEqual(small["spill_store_bytes"], 8)  # of the same code

    def disassembler(self, body):
        path = os.path.join(self.folder.name, "nvdisasm")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + body)
        os.chmod(path, 0o755)
        return path

    def test_samples_have_the_text_of_their_instruction(self):
        # Of the function's symbol alone: modules of frameworks are large.
        program = self.disassembler("""[ "$1 $2 $3" = "-c -fun %d" ] && cmp -s "$4" %s || exit 1
printf '\\t.section\\t.debug_line,""\\n        /*0010*/  NEVER ;\\n\\t.section\\t.text.small,"ax",@progbits\\n.text.small:\\n'
printf '        /*0010*/                   LDG.E R4, desc[UR12][R2.64] ;\\n        /*03f0*/   @!P0 BRA `(.L_x_1) ; /* 0x1 */\\n'
printf '\\t.section\\t.text.other,"ax",@progbits\\n        /*03f0*/   NEVER ;\\n'
""" % (symbol_of(b"small"), CUBIN))
        plain, inlined = self.sampled("load", WARPLIGHT_NVDISASM=program)["lines"]
        self.assertEqual((plain["line"], plain["instruction"], plain["offset_bytes"]), (12, "LDG.E R4, desc[UR12][R2.64]", 16))
        self.assertEqual((inlined["instruction"], inlined["offset_bytes"]), ("@!P0 BRA `(.L_x_1)", 0x3f0))
        for lang, said in (("en", "mostly at +0x3f0"), ("zh", "多在 +0x3f0")):
            path = os.path.join(self.folder.name, "text")
            self.kernels("load", "3xsmall/50000", options=("--stalls", "--kernel", "small", "--format", "text", "-o", path),
                         WARPLIGHT_LANG=lang, FAKE_PROFILER_CUBIN=CUBIN, FAKE_PROFILER_PC="0x3f0", WARPLIGHT_NVDISASM=program)
            with open(path) as file:
                self.assertIn(said, file.read())

    def test_a_report_that_was_kept_says_the_same(self):
        saved = os.path.join(self.folder.name, "saved.json")
        program = self.disassembler("""printf '\\t.section\\t.text.small,"ax",@progbits\\n        /*0010*/  NOP ;\\n'""")
        self.kernels("load", "20xheavy/2", "3xsmall/50000", options=("--deep", "--stalls", "--launches", "2", "-o", saved),
                     FAKE_PROFILER_CUBIN=CUBIN, FAKE_PROFILER_PC="0x3f0", WARPLIGHT_NVDISASM=program)
        out = subprocess.run([WARPLIGHT, "kernels", saved, "--format", "json"], env={**os.environ, "WARPLIGHT_LANG": "en"},
                             capture_output=True, text=True, timeout=60, check=True)
        with open(saved) as file:
            kept = json.load(file)
        read = json.loads(out.stdout)
        self.assertEqual(read["kernels"], kept["kernels"])
        small = next(kernel for kernel in kept["kernels"] if kernel["name"] == "small")
        self.assertEqual((small["stall_source"], small["spill_store_bytes"], len(small["lines"])), ("sampled", 8, 2))
        self.assertIn("inlined_at", small["lines"][1])
        self.assertEqual([small["lines"][0].get("instruction"), small["lines"][0]["offset_bytes"]], ["NOP", 16])
        device, before = read["device"], kept["device"]
        self.assertEqual({key: device[key] for key in device if key != "source"}, {key: before[key] for key in before if key != "source"})

    def test_without_a_disassembler_that_works_there_are_lines_all_the_same(self):
        for body, said in ((None, "nvdisasm of the CUDA toolkit was not found"), ("exit 1", "nvdisasm failed"),
                           ("head -c 300000 /dev/urandom", ""), ("printf 'no code here'", "")):
            with self.subTest(body=body):
                program = self.disassembler(body) if body else os.path.join(self.folder.name, "none")
                lines = self.sampled("load", WARPLIGHT_NVDISASM=program)["lines"]
                self.assertEqual([(line["line"], line.get("instruction")) for line in lines], [(12, None), (4, None)])
                self.assertIn(said, self.said)

    def test_findings_of_a_live_run_name_the_source_line(self):
        finding = self.sampled("load", FAKE_PROFILER_UNKNOWN="fp64")["findings"][0]
        self.assertEqual((finding["id"], os.path.basename(finding["file"]), finding["line"]),
                         ("kernel-latency-bound", "small.cu", 12))
        self.assertTrue(any("small.cu:12" in evidence["text"] for evidence in finding["evidence"]), finding)

    def test_samples_without_their_code_have_offsets(self):
        damaged = os.path.join(self.folder.name, "damaged.cubin")
        with open(CUBIN, "rb") as code, open(damaged, "wb") as out:
            out.write(code.read()[:3000])
        for words, extra in (((), {}), (("load",), {"FAKE_PROFILER_REFUSE": "cuptiGetCubinCrc=999"}),
                             (("load",), {"FAKE_PROFILER_CUBIN": damaged})):
            with self.subTest(words=words, extra=extra):
                lines = self.sampled(*words, **extra)["lines"]
                self.assertEqual([(line["line"], line["offset_bytes"]) for line in lines], [(None, 16), (None, 0x3f0)])

    def test_people_see_the_line_its_reasons_and_the_call_in_both_languages(self):
        for lang, call in (("en", "inlined at small.cu:17"), ("zh", "内联于 small.cu:17")):
            path = os.path.join(self.folder.name, "text")
            self.kernels("load", "3xsmall/50000", options=("--stalls", "--kernel", "small", "--format", "text", "-o", path),
                         WARPLIGHT_LANG=lang, FAKE_PROFILER_CUBIN=CUBIN, FAKE_PROFILER_PC="0x3f0")
            with open(path) as file:
                text = file.read()
            self.assertRegex(text, r"50\.0 %  long_scoreboard 75\.0 %, wait 25\.0 % +small\.cu:4\n")
            self.assertIn(call, text)

    def test_a_module_that_is_loaded_again_and_in_a_forked_child_is_kept_once(self):
        self.assertEqual([line["line"] for line in self.sampled("load", "load", "fork", "load")["lines"]], [12, 4])

    @unittest.skipUnless(shutil.which("objcopy"), "needs objcopy")
    def test_where_counters_are_locked_the_code_is_shown_and_how_to_get_times(self):
        program = os.path.join(self.folder.name, "app")
        fatbin = os.path.join(os.path.dirname(CUBIN), "plain-none.fatbin")
        subprocess.run(["objcopy", "--add-section", f".nv_fatbin={fatbin}", APP, program], check=True)
        for lang, cause, remedy in (("en", "no permission for hardware counters", "'warplight record -- PROGRAM' times the kernels"),
                                    ("zh", "没有读取硬件计数器的权限", "warplight record -- 程序")):
            kernels = self.kernels("2xheavy/2", program=program, WARPLIGHT_LANG=lang, FAKE_PROFILER_REFUSE="cuptiRangeProfilerStart=35")
            self.assertEqual(kernels["plain"]["metrics"], {})
            self.assertIn(cause, self.said)
            self.assertIn(remedy, self.said)

    def test_every_refusal_has_its_cause_and_remedy_in_both_languages(self):
        said = {}
        for lang in ("en", "zh"):
            for code in (8, 15, 26, 27, 35, 40, 41, 42, 43, 44, 45, 46):
                self.kernels("1xscale/1", WARPLIGHT_LANG=lang, FAKE_PROFILER_REFUSE=f"cuptiRangeProfilerStart={code}")
                said[lang, code] = self.said
                self.assertIn(f"cuptiRangeProfilerStart: {code}", self.said)
        self.assertEqual(len(set(said.values())), len(said))

    def test_the_command_says_why_there_is_nothing_to_show(self):
        self.assertEqual(self.kernels("2xheavy/2", FAKE_PROFILER_REFUSE="cuptiProfilerInitialize=26"), {})
        self.assertIn("dcgmi profile --pause", self.said)

    # ---- the plan --------------------------------------------------------------------------------------------

    def plan(self, *options, code=0, **extra):
        keep = {key: value for key, value in os.environ.items() if key not in ("LANG", "LC_ALL", "LANGUAGE")}
        out = subprocess.run([WARPLIGHT, "kernels", "--plan", *options], capture_output=True, text=True, timeout=60,
                             env={**keep, "WARPLIGHT_CUPTI": CUPTI, "WARPLIGHT_LANG": "en", **extra})
        self.assertEqual(out.returncode, code, out.stderr)
        return out.stdout if code == 0 else out.stderr

    def test_a_plan_says_passes_for_every_chip_without_a_gpu(self):
        plan = json.loads(self.plan("--format", "json"))
        self.assertEqual(plan["schema"], "warplight.kernels-plan/1")
        self.assertEqual([chip["name"] for chip in plan["chips"]], ["GA100", "GH100"])
        for chip in plan["chips"]:
            self.assertEqual(chip["metrics_in_one_pass"], 34)
            self.assertEqual(chip["deep_metrics"], 80)
            self.assertEqual(chip["deep_passes"], 2)  # of 40 metrics each
            self.assertEqual(chip["missing"], [])
        self.assertIn("80 metrics in 2 passes", self.plan("--chip", "gh100"))

    def test_a_plan_names_what_a_chip_lacks_and_what_does_not_fit(self):
        chip, = json.loads(self.plan("--chip", "GH100", "--format", "json", "--metrics", "a__x.sum,b__y.sum,c__z.sum",
                                     FAKE_PROFILER_UNKNOWN="b__", FAKE_PROFILER_PASS="1"))["chips"]
        self.assertEqual((chip["missing"], chip["passes_of_all"], chip["metrics_in_one_pass"]), (["b__y.sum"], 2, 1))
        self.assertNotIn("deep_passes", chip)

    def test_what_fits_is_taken_in_its_order(self):
        for fit in range(1, 9):
            launches = self.measure("1xscale/1", options=("-m", ",".join(f"a__{n}.sum" for n in range(9))),
                                    FAKE_PROFILER_PASS=str(fit))
            self.assertEqual(list(launches[0]["metrics"]), [f"a__{n}.sum" for n in range(fit)])

    def test_a_plan_that_cannot_be_made_says_why(self):
        self.assertIn("no chip 'GX9'", self.plan("--chip", "GX9", code=2))
        self.assertIn("no chip has these metrics", self.plan("--metrics", "nonsense", code=2))
        self.assertIn("WARPLIGHT_CUPTI", self.plan(code=4, WARPLIGHT_CUPTI="/nonexistent/libcupti.so"))

    def test_a_cupti_that_plans_only_beside_the_driver_is_not_asked_without(self):
        new = CUPTI.replace("libfake-cupti", "libfake-cupti-new")
        driver = os.path.dirname(CUDA)
        self.assertIn("GH100", self.plan(WARPLIGHT_CUPTI=new, LD_LIBRARY_PATH=driver))
        real = subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1')"], capture_output=True,
                              env={**os.environ, "LD_LIBRARY_PATH": ""}, timeout=60, check=False)
        if real.returncode == 0:
            self.skipTest("this machine has the driver")
        said = self.plan(code=4, WARPLIGHT_CUPTI=new, LD_LIBRARY_PATH="")
        self.assertIn("only beside NVIDIA's driver", said)
        self.assertIn("13.1", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)

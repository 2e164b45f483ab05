#!/usr/bin/env python3
"""What `warplight top` does on a terminal, against a fake NVML: the loop, keys, signals, replay. What its screens
look like is in tests/unit/test_top.c.

    python3 tests/fake/test_top.py WARPLIGHT FAKE_NVML
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import signals
from terminal import DEADLINE, Terminal

WARPLIGHT, NVML = (os.path.abspath(path) for path in sys.argv[1:3])
ESCAPE = "\x1b"


class Top(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.gpus(1)

    def gpus(self, count):
        for index in range(count):
            device = os.path.join(self.folder.name, "sys/bus/pci/devices", f"0000:{0x3b + index:02x}:00.0")
            os.makedirs(os.path.join(device, "power"), exist_ok=True)
            for name, text in (("vendor", "0x10de"), ("class", "0x030200"), ("device", "0x2330"),
                               ("uevent", "DRIVER=nvidia"), ("power/runtime_status", "active")):
                with open(os.path.join(device, name), "w", encoding="ascii") as file:
                    file.write(text + "\n")

    def environment(self, **extra):
        keep = {key: value for key, value in os.environ.items()
                if key not in ("LANG", "LC_ALL", "LANGUAGE", "NO_COLOR", "LINES", "COLUMNS")}
        made = {**keep, "WARPLIGHT_NVML": NVML, "WARPLIGHT_SYSFS": os.path.join(self.folder.name, "sys"),
                "WARPLIGHT_LANG": "en", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
                "XDG_CONFIG_HOME": os.path.join(self.folder.name, "config"), **extra}
        return {key: value for key, value in made.items() if value is not None}

    def top(self, *arguments, rows=30, columns=120, **extra):
        screen = Terminal([WARPLIGHT, "top", *arguments], rows, columns, self.environment(**extra))
        self.addCleanup(screen.close)
        return screen

    def leave(self, screen, keys="q"):
        screen.type(keys)
        self.assertEqual(screen.wait_for_end(), 0, screen.text())
        self.assertTrue(screen.is_restored(), "the terminal is not as it was")

    def sleeper(self):
        child = subprocess.Popen(["sleep", "10000"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    # ---- the screen ---------------------------------------------------------------------------------------

    def test_it_shows_gpus_and_their_processes(self):
        child = self.sleeper()
        screen = self.top(columns=160, FAKE_NVML_PROCESSES=f"{child.pid}:1024:40")
        screen.wait_for("99.0 %")
        screen.wait_for(str(child.pid))
        for text in ("GPU 0  Fake GPU", "3.00 / 16.0 GiB", "699 / 700 W", "63 / 87 °C", "sleep 10000",
                     "2.00 GiB", "h ? help"):
            screen.wait_for(text)
        screen.wait_for("slowed by power limit")
        screen.wait_for("own cost")
        self.leave(screen)

    def test_chinese_is_aligned(self):
        child = self.sleeper()
        screen = self.top(WARPLIGHT_LANG="zh", FAKE_NVML_PROCESSES=f"{child.pid}:1024:40")
        screen.wait_for(str(child.pid))
        screen.wait_for("进程号")
        line = next(line for line in screen.cells if "进" in line)
        head = "".join(line[:line.index("进") + 6])
        row = next(line for line in screen.cells if str(child.pid) in "".join(line))
        self.assertTrue("".join(row[:11]).rstrip().endswith(str(child.pid)), "".join(row))
        self.assertTrue(head.endswith("进程号"), head)
        self.leave(screen)

    def test_a_machine_without_a_gpu_is_no_error(self):
        screen = self.top(WARPLIGHT_NVML="/nonexistent/libnvidia-ml.so.1", WARPLIGHT_SYSFS="/nonexistent")
        screen.wait_for("no GPU")
        screen.wait_for("warplight doctor")
        self.leave(screen)

    def test_it_follows_the_size_of_the_terminal(self):
        self.gpus(16)
        screen = self.top(rows=18, columns=80, FAKE_NVML_GPUS="16")
        screen.wait_for("of 16; Tab")
        screen.resize(50, 200)
        screen.wait_for(" 15 Fake GPU")
        screen.wait_for("NVLink")
        screen.resize(3, 12)
        screen.wait_for(lambda s: "GPU" in s.text() and "Fake GPU" not in s.text(), "a small screen")
        screen.resize(18, 80)
        screen.wait_for("of 16; Tab")
        self.leave(screen)

    def test_a_driver_that_hangs_stops_neither_screen_nor_keys(self):
        screen = self.top("-i", "100ms", FAKE_NVML_HANG="nvmlInit_v2")
        screen.wait_for("the drivers are being asked")
        screen.type("h")
        screen.wait_for("this help")
        screen.type(ESCAPE)
        screen.wait_for("NVML has not answered")
        self.leave(screen)

    def test_without_utf8_it_draws_with_ascii(self):
        for arguments, extra in (((), {"LC_ALL": "C"}), (("--ascii",), {})):
            screen = self.top(*arguments, **extra)
            screen.wait_for("####")
            self.assertTrue(screen.text().isascii())
            self.leave(screen)

    def test_no_color_means_none(self):
        screen = self.top(NO_COLOR="1")
        screen.wait_for("99.0 %")
        self.leave(screen)
        self.assertNotRegex(screen.written, rb"\x1b\[[0-9;]*\b[34][0-8][0-9;]*m")
        screen = self.top()
        screen.wait_for("99.0 %")
        self.leave(screen)
        self.assertRegex(screen.written, rb"\x1b\[[0-9;]*\b[34][0-8][0-9;]*m")

    # ---- where it cannot be -------------------------------------------------------------------------------

    def test_without_a_terminal_it_names_sample(self):
        out = subprocess.run([WARPLIGHT, "top"], env=self.environment(), capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, check=False, timeout=DEADLINE)
        self.assertEqual(out.returncode, 4)
        self.assertIn("warplight sample", out.stderr)
        self.assertEqual(len(out.stderr.splitlines()), 1)

    def test_terminals_that_cannot_show_it_are_named(self):
        for term, text in ((None, "the kind of the terminal is not known"), ("dumb", "cannot show a whole screen"),
                           ("no-such-terminal", "no description of the terminal 'no-such-terminal'")):
            screen = self.top(columns=200, TERM=term)
            self.assertEqual(screen.wait_for_end(), 4)
            self.assertIn(text, screen.text())
            self.assertTrue(screen.is_restored())

    def test_wrong_intervals_are_refused(self):
        screen = self.top("-i", "1ms")
        self.assertEqual(screen.wait_for_end(), 2)
        self.assertIn("from 100ms to 60s", screen.text())

    # ---- keys ---------------------------------------------------------------------------------------------

    def test_help_lists_what_keys_do(self):
        screen = self.top()
        screen.wait_for("99.0 %")
        screen.type("h")
        screen.wait_for("search processes while you type")
        screen.type("\x1b[F")  # End
        screen.wait_for("what held the clocks down")
        screen.type("q")  # closes the window alone
        screen.wait_for(lambda s: "what held the clocks down" not in s.text(), "a closed window")
        self.leave(screen)

    def test_the_reason_of_an_unknown_value_is_a_key_away(self):
        screen = self.top(FAKE_NVML_CODES="nvmlDeviceGetPowerUsage=4")
        screen.wait_for("no permission")
        screen.type("\tw")
        screen.wait_for("It exists, for others")
        self.leave(screen, "qq")

    def test_an_xid_shows_when_it_comes(self):
        xids = os.path.join(self.folder.name, "xids")
        with open(xids, "w", encoding="ascii"):
            pass
        screen = self.top("-i", "100ms", FAKE_NVML_XIDS=xids)
        screen.wait_for("2.50 %")
        self.assertNotIn("Xid", screen.text())
        with open(xids, "a", encoding="ascii") as file:
            file.write("79\n")
        screen.wait_for("GPU 0: Xid 79")
        screen.type("e")
        screen.wait_for("Xid errors")
        self.leave(screen, "qq")

    def test_processes_are_found_filtered_and_sorted(self):
        first, second = self.sleeper(), self.sleeper()
        screen = self.top(FAKE_NVML_PROCESSES=f"{first.pid}:1024:40,{second.pid}:512:70")

        def order(screen):
            text = screen.text()
            return text.find(str(first.pid)) < text.find(str(second.pid))
        screen.wait_for(str(second.pid))
        screen.wait_for(order, "most memory first")
        screen.type("S")
        screen.wait_for(lambda s: not order(s), "most use first")
        screen.type(f"fpid:{first.pid}")
        screen.wait_for(lambda s: str(second.pid) not in s.text(), "one process")
        screen.type("\r")
        screen.wait_for("1 of 2 processes fit")
        screen.type(ESCAPE)
        screen.wait_for(str(second.pid))
        screen.type("/nothing has this name")
        screen.wait_for("search: nothing has this name")
        screen.type(ESCAPE)
        screen.wait_for("h ? help")
        self.leave(screen)

    def test_the_mouse_chooses_and_sorts(self):
        first, second = self.sleeper(), self.sleeper()
        screen = self.top(FAKE_NVML_PROCESSES=f"{first.pid}:1024:40,{second.pid}:512:70")
        screen.wait_for(str(second.pid))
        row, column = next((y, "".join(line).index("SMs")) for y, line in enumerate(screen.cells)
                           if "".join(line).startswith("GPU     pid"))
        screen.type(f"\x1b[<0;{column + 2};{row + 1}M\x1b[<0;{column + 2};{row + 1}m")
        screen.wait_for("↓SMs")
        screen.wait_for(lambda s: s.text().find(str(second.pid)) < s.text().find(str(first.pid)), "most use first")
        self.leave(screen)

    def test_settings_are_kept(self):
        config = os.path.join(self.folder.name, "config/warplight/top.conf")
        screen = self.top()
        screen.wait_for("99.0 %")
        self.leave(screen)
        self.assertFalse(os.path.exists(config), "nothing was changed")
        screen = self.top()
        screen.wait_for("99.0 %")
        screen.type("U")
        screen.wait_for("↓user")
        self.leave(screen)
        with open(config, encoding="ascii") as file:
            kept = file.read()
        self.assertIn("sort = user\n", kept)
        with open(config, "w", encoding="ascii") as file:
            file.write("# mine\n" + kept.replace("chart = load", "chart = nonsense"))
        screen = self.top(columns=200)
        screen.wait_for("'chart' cannot be 'nonsense'")
        screen.type("r")
        screen.wait_for("↑user")
        self.leave(screen)
        with open(config, encoding="ascii") as file:
            kept = file.read()
        self.assertTrue(kept.startswith("# mine\n"))
        self.assertIn("reverse = on\n", kept)
        self.assertEqual(os.listdir(os.path.dirname(config)), ["top.conf"])

    # ---- signals to processes -----------------------------------------------------------------------------

    def test_a_signal_is_sent_after_it_was_confirmed(self):
        child = self.sleeper()
        screen = self.top(FAKE_NVML_PROCESSES=f"{child.pid}:1024:40")
        screen.wait_for(str(child.pid))
        screen.type("k")
        screen.wait_for("which signal?")
        screen.type("\r")
        screen.wait_for(f"Send SIGTERM to process {child.pid}?")
        screen.type("n")
        screen.wait_for(lambda s: "are you sure?" not in s.text(), "a closed window")
        self.assertIsNone(child.poll())
        screen.type("k")
        screen.wait_for("which signal?")
        screen.type("\x1b[B\r")
        screen.wait_for(f"Send SIGINT to process {child.pid}?")
        screen.type("y")
        self.assertEqual(child.wait(DEADLINE), -signal.SIGINT)
        screen.wait_for(f"SIGINT was sent to process {child.pid}")
        self.leave(screen)

    def test_a_process_that_ended_meanwhile_gets_none(self):
        child = self.sleeper()
        screen = self.top(FAKE_NVML_PROCESSES=f"{child.pid}:1024:40")
        screen.wait_for(str(child.pid))
        screen.type("k\r")
        screen.wait_for("are you sure?")
        child.kill()
        child.wait()
        screen.type("y")
        screen.wait_for("has ended already")
        self.leave(screen)

    def test_read_only_sends_none(self):
        child = self.sleeper()
        screen = self.top("--read-only", FAKE_NVML_PROCESSES=f"{child.pid}:1024:40")
        screen.wait_for(str(child.pid))
        self.assertIn("read-only", screen.text())
        screen.type("k")
        screen.wait_for("signals are off")
        self.leave(screen)
        self.assertIsNone(child.poll())

    # ---- signals to this program --------------------------------------------------------------------------

    def test_every_end_restores_the_terminal(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            screen = self.top()
            screen.wait_for("99.0 %")
            os.kill(screen.pid, number)
            self.assertEqual(screen.wait_for_end(), 0)
            self.assertTrue(screen.is_restored())

    def test_a_crash_restores_the_terminal(self):
        screen = self.top()
        screen.wait_for("99.0 %")
        os.kill(screen.pid, signal.SIGSEGV)
        self.assertNotEqual(screen.wait_for_end(), 0)
        self.assertTrue(screen.is_restored())

    def test_it_can_be_stopped_and_goes_on(self):
        for how in ("key", "signal"):
            screen = self.top()
            screen.wait_for("99.0 %")
            if how == "key":
                screen.type("\x1a")
            else:
                os.kill(screen.pid, signal.SIGTSTP)
            self.wait_stopped(screen)
            self.assertTrue(screen.is_restored())
            drawn = len(screen.written)
            os.kill(screen.pid, signal.SIGCONT)
            screen.wait_for(lambda s, drawn=drawn: b"Fake GPU" in s.written[drawn:], "the screen again")
            self.leave(screen)

    def wait_stopped(self, screen):
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            screen._read(0.05)  # what it writes must not fill the terminal
            with open(f"/proc/{screen.pid}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[0] == "T":
                    while screen._read(0):
                        pass
                    return
        self.fail("it was not stopped")

    # ---- recordings ---------------------------------------------------------------------------------------

    def record(self, *arguments, **extra):
        path = os.path.join(self.folder.name, "samples.wlt")
        subprocess.run([WARPLIGHT, "sample", "-i", "100ms", "-n", "6", "-o", path, *arguments], env=self.environment(**extra),
                       check=True, timeout=DEADLINE)
        return path

    def test_a_recording_plays_back(self):
        child = self.sleeper()
        path = self.record(FAKE_NVML_PROCESSES=f"{child.pid}:1024:40")
        screen = self.top("--replay", path, columns=160)
        screen.wait_for("replay of samples.wlt")
        screen.wait_for("sleep 10000")
        screen.wait_for("sample 6 of 6")
        screen.type("(")
        screen.wait_for("sample 1 of 6")
        screen.wait_for("paused")
        screen.type(".")
        screen.wait_for("sample 2 of 6")
        screen.type("++")
        screen.wait_for("speed ×5.00")
        screen.type(")")
        screen.wait_for("sample 6 of 6")
        screen.type("\x1b[D")  # 10 s back: to the start
        screen.wait_for("sample 1 of 6")
        screen.type(" ")
        screen.wait_for("sample 6 of 6")
        screen.type("k")
        self.leave(screen)
        self.assertIsNone(child.poll())

    def test_what_holds_no_samples_is_refused(self):
        path = os.path.join(self.folder.name, "trace.json")
        with open(path, "w", encoding="ascii") as file:
            file.write('{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}')
        screen = self.top("--replay", path, columns=200)
        self.assertEqual(screen.wait_for_end(), 3)
        self.assertIn("it holds no samples of GPUs", screen.text())
        screen = self.top("--replay", "/nonexistent.wlt", columns=200)
        self.assertEqual(screen.wait_for_end(), 3)
        self.assertTrue(screen.is_restored())


if __name__ == "__main__":
    signals.heed()
    unittest.main(argv=sys.argv[:1])

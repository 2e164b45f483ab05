#!/usr/bin/env python3
"""What `doctor` says of recorded machines, by their files alone.

    python3 tests/fake/test_setup.py SETUP MACHINES
"""
import os
import subprocess
import sys
import tempfile
import unittest

from machines import machines

SETUP, MACHINES = (os.path.abspath(path) for path in sys.argv[1:3])
RANK = {"none": -1, "ok": 0, "unknown": 1, "warn": 2, "fail": 3}


def checks(root, *more):
    out = subprocess.run((SETUP, root, *more), capture_output=True, text=True, timeout=60, check=False)
    if out.returncode != 0 or out.stderr:
        raise AssertionError(f"exit code {out.returncode}: {out.stderr}")
    return [line.split(" ", 2) for line in out.stdout.splitlines()]


def worst(found, check):
    return max((status for status, name, _ in found if name == check), key=RANK.get, default="none")


class Machines(unittest.TestCase):
    def test_each_machine_gets_the_answer_that_it_is_to_get(self):
        every = machines(MACHINES)
        self.assertGreaterEqual(len(every), 30)
        for machine in every:
            with self.subTest(machine.name), tempfile.TemporaryDirectory() as root:
                machine.unpack(root)
                found = checks(root)
                got = {check: worst(found, check) for check in machine.expected}
                self.assertEqual(got, machine.expected, found)
                # What nobody expects to be wrong is not called wrong.
                wrong = {name for status, name, _ in found if status == "fail"} - machine.expected.keys()
                self.assertEqual(wrong, set(), found)

    def test_hostile_files_are_no_danger(self):
        for content in (b"", b"\xff" * 5000, b"\0" * 5000, b"A" * (3 << 20), b"=:=:=\n" * 1000, b"%s%n\x1b[2J" * 100):
            with self.subTest(content[:8]), tempfile.TemporaryDirectory() as root:
                for machine in machines(MACHINES)[:4]:
                    machine.files = dict.fromkeys(machine.files, content)
                    machine.links = {}
                    machine.unpack(root)
                for _, _, title in checks(root):
                    self.assertTrue(title.isprintable(), title)

    def test_an_empty_folder_is_a_machine_of_which_nothing_is_known(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual([(status, name) for status, name, _ in checks(root)], [("fail", "gpu-present")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

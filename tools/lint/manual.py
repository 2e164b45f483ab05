#!/usr/bin/env python3
"""Help and manual agree: every command of `warplight help` has a page in both languages, and every long option
of `warplight COMMAND --help` is in its pages and the other way round. Options of every command belong to
warplight(1).

    manual.py PROGRAM
"""
import os
import re
import subprocess
import sys

from source import ROOT, files, finish

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
WITHOUT_PAGE = {"help"}


def output(*argv):
    environment = dict(os.environ, LC_ALL="C.UTF-8", WARPLIGHT_LANG="en", COLUMNS="200")
    done = subprocess.run(argv, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def page_options(path):
    status, rendered = output("mandoc", "-T", "utf8", path)
    if status > 2:  # 1 and 2 are hints about style
        return None
    return set(OPTION.findall(re.sub(".\b", "", rendered)))  # without overstrikes


def compare(path, command, expected, allowed):
    """What the page at path lacks of the expected options, and what it has beyond the allowed ones."""
    if not (ROOT / path).exists():
        return [f"{path} is missing"]
    written = page_options(path)
    if written is None:
        return [f"{path}: mandoc cannot read it"]
    return [f"{path}: {option} is in the help of {command} but not here" for option in sorted(expected - written)] + \
        [f"{path}: {option} is here but not in the help of {command}" for option in sorted(written - allowed)]


def main(program):
    problems = []
    status, overview = output(program, "help")
    if status != 0:
        return finish([f"'{program} help' ends with {status}: {overview.strip()}"], "")
    section = overview.split("\nCommands:\n", 1)[-1].split("\n\n", 1)[0]
    commands = set(re.findall(r"^  ([a-z]+) +\S", section, re.M)) - WITHOUT_PAGE
    common = set(OPTION.findall(overview))
    for folder in ("doc/man", "doc/man/zh_CN"):
        problems += compare(f"{folder}/warplight.1", "every command", common, common | {"--fail-on"})
        for command in sorted(commands):
            status, text = output(program, command, "--help")
            if status != 0:
                problems.append(f"'{command} --help' ends with {status}")
                continue
            helped = set(OPTION.findall(text))
            problems += compare(f"{folder}/warplight-{command}.1", command, helped - common, helped)
        for path in files(f"{folder}/warplight-*.1"):
            if path.split("-", 1)[1][:-2] not in commands:
                problems.append(f"{path}: there is no such command")
    return finish(problems, f"{len(commands)} commands: help and manual agree in both languages")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

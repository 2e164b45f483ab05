#!/usr/bin/env python3
"""Help and manual agree: every command of `warplight help` has a page in both languages, and every long option
of `warplight COMMAND --help` is in its pages and the other way round.

    manual.py PROGRAM
"""
import os
import re
import subprocess
import sys

from source import ROOT, files, finish

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")


def output(*argv, stdin=None):
    environment = dict(os.environ, LC_ALL="C.UTF-8", WARPLIGHT_LANG="en")
    done = subprocess.run(argv, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def page_options(path):
    status, rendered = output("mandoc", "-T", "utf8", path)
    if status not in (0, 1):
        return None
    rendered = re.sub(".\b", "", rendered)  # overstrikes of bold and underline
    return set(OPTION.findall(rendered.replace("\u2010", "-").replace("\u2212", "-")))


def main(program):
    problems = []
    pages = [p for p in files("doc/man/*.1") if p.startswith("doc/man/warplight-")]
    commands = [re.fullmatch(r"doc/man/warplight-(\w+)\.1", p)[1] for p in pages]
    status, listing = output(program, "help")
    if status != 0:
        problems.append(f"'{program} help' ends with {status}: {listing.strip()}")
    # Indented lines whose first word is a command and whose second column says what it does.
    known = set(re.findall(r"^ {2,}([a-z]+) {2,}\S", listing, re.M)) - {"help"}
    for command in sorted(known - set(commands)):
        problems.append(f"'{command}' is listed by help but has no doc/man/warplight-{command}.1")
    for command in commands:
        status, text = output(program, command, "--help")
        if status != 0:
            problems.append(f"doc/man/warplight-{command}.1 exists but '{command} --help' ends with {status}")
            continue
        helped = set(OPTION.findall(text)) | {"--help"}
        for path in (f"doc/man/warplight-{command}.1", f"doc/man/zh_CN/warplight-{command}.1"):
            if not (ROOT / path).exists():
                problems.append(f"{path} is missing")
                continue
            written = page_options(path)
            if written is None:
                problems.append(f"{path}: mandoc cannot read it")
                continue
            for option in sorted(helped - written - {"--help"}):
                problems.append(f"{path}: {option} is in '{command} --help' but not here")
            for option in sorted(written - helped):
                problems.append(f"{path}: {option} is here but not in '{command} --help'")
    return finish(problems, f"{len(commands)} commands: help and manual agree in both languages")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

#!/usr/bin/env python3
"""Transcripts in Markdown are real: a code block whose first line is "$ warplight …" goes on with the first lines
of what that command prints, in the language of the page.

A block below "<!-- shows FILE -->" is that file, as for screens, which no command prints.

    transcripts.py PROGRAM [--update]

--update writes what the program prints now, as many lines as the block had.
"""
import os
import re
import shlex
import subprocess
import sys

from source import ROOT, files, finish, text

SHOWN = re.compile(r"^<!-- shows (\S+) -->\n```\n(.*?)^```$", re.M | re.S)
BLOCK = re.compile(r"^```\n\$ warplight ([^\n]*)\n(.*?)^```$", re.M | re.S)


def printed(program, arguments, chinese):
    environment = dict(os.environ, COLUMNS="100", LC_ALL="C.UTF-8", WARPLIGHT_LANG="zh" if chinese else "en")
    done = subprocess.run([os.path.abspath(program), *shlex.split(arguments)], cwd=ROOT, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode(errors="replace").splitlines()


def main(program, update):
    problems = []
    count = 0
    for path in files("*.md", "**/*.md"):
        content = text(path)

        def check(block):
            nonlocal count
            count += 1
            shown = block[2].splitlines()
            real = printed(program, block[1], "zh" in path.split("/")[-1])[:len(shown)]
            if shown == real:
                return block[0]
            wrong = next((i for i, line in enumerate(shown) if i >= len(real) or line != real[i]), 0)
            problems.append(f"{path}: 'warplight {block[1]}' does not print: {shown[wrong]}\n"
                            f"  refresh it with: python3 tools/lint/transcripts.py {program} --update")
            return f"```\n$ warplight {block[1]}\n" + "".join(line + "\n" for line in real) + "```"

        def check_shown(block):
            nonlocal count
            count += 1
            real = text(block[1])
            if block[2] != real:
                problems.append(f"{path}: the block is not {block[1]}\n"
                                f"  refresh it with: python3 tools/lint/transcripts.py {program} --update")
            return f"<!-- shows {block[1]} -->\n```\n{real}```"

        fresh = SHOWN.sub(check_shown, BLOCK.sub(check, content))
        if update and fresh != content:
            (ROOT / path).write_text(fresh, encoding="utf-8")
    if update:
        problems = []
    return finish(problems, f"{count} transcripts are what the program prints")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--update" in sys.argv[2:]))

#!/usr/bin/env python3
"""Every finding has its page in both languages, no page lacks a finding, and the two languages have the same
sections and the same code.

    findings.py PROGRAM
"""
import re
import subprocess
import sys

from source import ROOT, files, finish, text

FENCE = re.compile(r"^```(\w*)\n", re.M)


def main(program):
    problems = []
    done = subprocess.run([program, "report", "--list-findings"], cwd=ROOT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    listing = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        return finish([f"'{program} report --list-findings' ends with {done.returncode}: {listing.strip()}"], "")
    ids = set(re.findall(r"^([a-z][a-z0-9-]*)  ", listing, re.M))
    pages = set(files("doc/findings/*.md"))
    for finding in sorted(ids):
        for path in (f"doc/findings/{finding}.md", f"doc/findings/{finding}.zh_CN.md"):
            if path not in pages:
                problems.append(f"{path} is missing")
    for path in sorted(pages):
        finding = path.split("/")[-1].split(".")[0]
        if finding not in ids:
            problems.append(f"{path}: 'report --list-findings' does not know {finding}")
        if not text(path).startswith(f"# {finding} "):
            problems.append(f"{path}: the first line must be '# {finding} — …'")
        other = path.replace(".md", ".zh_CN.md")
        if ".zh_CN." in path or other not in pages:
            continue
        if text(path).count("\n## ") != text(other).count("\n## "):
            problems.append(f"{other}: has other sections than {path}")
        if FENCE.findall(text(path)) != FENCE.findall(text(other)):
            problems.append(f"{other}: has other code blocks than {path}")
    return finish(problems, f"{len(ids)} findings, {len(pages)} pages")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

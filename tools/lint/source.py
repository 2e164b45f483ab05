"""Shared by the checks: which files the project has, and C text without comments and literals."""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_SKIP = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def files(*patterns):
    """Paths, relative to the root, of the files that git tracks or would track, matched by glob."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--",
                             *[f":(glob){p}" for p in patterns]],
                            cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode()
    return sorted(p for p in set(listed.split("\0")) if p and (ROOT / p).is_file())


def c_files(*folders):
    return files(*[f"{folder}/**/*.{ext}" for folder in folders for ext in ("c", "h")])


def text(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def code(path):
    """The C text with comments and literals blanked; line numbers stay."""
    def blank(match):
        kept = "".join("\n" if c == "\n" else " " for c in match[0])
        return f'"{kept[1:-1]}"' if match[0][0] == '"' else kept
    return _SKIP.sub(blank, text(path))


def finish(problems, good, warnings=()):
    """Prints what was found; returns the exit status."""
    for warning in warnings:
        print(f"warning: {warning}")
    for problem in problems:
        print(problem)
    if not problems:
        print(good)
    return 1 if problems else 0

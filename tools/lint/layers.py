#!/usr/bin/env python3
"""Includes follow the direction of the layers.

    base <- capture <- inject
    base <- model <- {source, import, symbol, archive, analyze} <- {view, export} <- cmd
    base <- know <- whoever is above model: constants of the field, which know nothing of a run
    capture <- {source, import}: whoever reads what the injected library wrote
"""
import posixpath
import re
import sys

from source import c_files, finish, text

MIDDLE = {"source", "import", "symbol", "archive", "analyze"}
ALLOWED = {
    "base": set(),
    "capture": {"base"},
    "inject": {"base", "capture"},
    "model": {"base"},
    "know": {"base"},
    **{folder: {"base", "know", "model"} for folder in MIDDLE},
    "source": {"base", "know", "model", "capture"},
    "import": {"base", "know", "model", "capture"},
    "view": {"base", "know", "model"} | MIDDLE,
    "export": {"base", "know", "model"} | MIDDLE,
    "cmd": {"base", "know", "model", "capture", "view", "export"} | MIDDLE,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def main():
    problems = []
    paths = c_files("src")
    for path in paths:
        folder = path.split("/")[1]
        if folder not in ALLOWED:
            problems.append(f"{path}: the folder src/{folder} is in no layer; add it to tools/lint/layers.py and "
                            "to doc/internals/architecture.md")
            continue
        for number, line in enumerate(text(path).split("\n"), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = posixpath.normpath(match[1])
            other = target.split("/")[0]
            if other not in ALLOWED:  # a name relative to the including file
                target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
                other = target.split("/")[1] if target.startswith("src/") else None
            if other is None or other not in ALLOWED:
                continue  # a generated header
            if other != folder and other not in ALLOWED[folder]:
                may = ", ".join(sorted(ALLOWED[folder])) or "nothing else"
                problems.append(f"{path}:{number}: {folder}/ includes {match[1]}; it may include {may}")
    return finish(problems, f"{len(paths)} files follow the layers")


if __name__ == "__main__":
    sys.exit(main())

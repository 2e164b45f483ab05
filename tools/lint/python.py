#!/usr/bin/env python3
"""Every Python file compiles. Nothing is written."""
import sys

from source import ROOT, files, finish


def main():
    problems = []
    paths = files("*.py", "**/*.py")
    for path in paths:
        try:
            compile((ROOT / path).read_bytes(), path, "exec")
        except SyntaxError as error:
            problems.append(f"{path}:{error.lineno}: {error.msg}")
    return finish(problems, f"{len(paths)} Python files compile")


if __name__ == "__main__":
    sys.exit(main())

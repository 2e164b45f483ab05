#!/usr/bin/env python3
"""Long files and functions are two ideas in one room: warn above 1000 and 100 lines, fail above 1500 and 200."""
import re
import sys

from source import c_files, code, finish

FILE_WARN, FILE_FAIL = 1000, 1500
FUNCTION_WARN, FUNCTION_FAIL = 100, 200
NAME = re.compile(r"(\w+)\s*\(")
ENDS_IN_ARGUMENTS = re.compile(r"\)\s*$")  # attributes, too, end in one


def without_preprocessor(lines):
    """Blanks directives, their continuation lines, and all but the first branch of every #if, so that braces
    balance."""
    branches = []  # for each open #if: are we past its first branch?
    continued = False
    for line in lines:
        stripped = line.lstrip()
        if continued or stripped.startswith("#"):
            if not continued:
                directive = re.match(r"#\s*(\w*)", stripped)[1]
                if directive in ("if", "ifdef", "ifndef"):
                    branches.append(False)
                elif directive in ("else", "elif") and branches:
                    branches[-1] = True
                elif directive == "endif" and branches:
                    branches.pop()
            continued = line.rstrip().endswith("\\")
            yield ""
        else:
            yield "" if any(branches) else line


def functions(path):
    """Yields (name, first line, number of lines from the opening brace to the closing one)."""
    depth = 0
    head = ""  # what precedes the brace at depth 0
    for number, line in enumerate(without_preprocessor(code(path).split("\n")), 1):
        for char in line:
            if char == "{":
                if depth == 0:
                    start, start_head = number, head
                depth += 1
            elif char == "}":
                depth = max(0, depth - 1)
                if depth == 0:
                    named = NAME.search(start_head)
                    if named and "=" not in start_head.split("(")[0] and ENDS_IN_ARGUMENTS.search(start_head):
                        yield named[1], start, number - start + 1
                    head = ""
            elif depth == 0:
                head = "" if char == ";" else head + char
        if depth == 0:
            head += " "


def main():
    problems, warnings = [], []
    paths = c_files("src", "tests")
    longest = (0, "")
    for path in paths:
        lines = code(path).count("\n")
        if lines > FILE_FAIL:
            problems.append(f"{path}: {lines} lines; at most {FILE_FAIL}. Split it by idea.")
        elif lines > FILE_WARN:
            warnings.append(f"{path}: {lines} lines; aim for {FILE_WARN}")
        for name, start, length in functions(path):
            longest = max(longest, (length, name))
            if length > FUNCTION_FAIL:
                problems.append(f"{path}:{start}: {name}() has {length} lines; at most {FUNCTION_FAIL}")
            elif length > FUNCTION_WARN:
                warnings.append(f"{path}:{start}: {name}() has {length} lines; aim for {FUNCTION_WARN}")
    return finish(problems, f"{len(paths)} files; the longest function is {longest[1]}() with {longest[0]} lines",
                  warnings)


if __name__ == "__main__":
    sys.exit(main())

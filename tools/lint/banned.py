#!/usr/bin/env python3
"""Functions that overflow, hide errors, read the locale, or print and exit below cmd/."""
import re
import sys

from source import c_files, code, finish

NEVER = {
    "strcpy": "str_puts() or memcpy()",
    "strcat": "str_puts()",
    "sprintf": "str_addf() or snprintf()",
    "vsprintf": "str_vaddf() or vsnprintf()",
    "gets": "fgets()",
    "strtok": "memchr() and lengths",
    "atoi": "a parser that reports errors",
    "atol": "a parser that reports errors",
    "atoll": "a parser that reports errors",
    "atof": "a parser that ignores the locale",
    "alloca": "an arena",
    "mktemp": "mkstemp()",
    "tmpnam": "mkstemp()",
}
BELOW_CMD = {
    **{name: "return a struct err; only cmd/ prints"
       for name in ("printf", "vprintf", "fprintf", "vfprintf", "dprintf", "puts", "putchar", "perror")},
    **{name: "return a struct err; only cmd/ exits" for name in ("exit", "_exit", "abort", "quick_exit")},
    "setlocale": "machine numbers must not follow a locale",
    "system": "no shell below cmd/",
    "popen": "no shell below cmd/",
}
EXEMPT = {"src/base/mem.c"}  # ends the process when memory is exhausted, as its header says


def main():
    problems = []
    paths = c_files("src", "tests")
    for path in paths:
        rules = dict(NEVER)
        if path.startswith("src/") and not path.startswith("src/cmd/") and path not in EXEMPT:
            rules.update(BELOW_CMD)
        call = re.compile(r"(?<![\w.>])(" + "|".join(rules) + r")\s*\(")
        for number, line in enumerate(code(path).split("\n"), 1):
            for match in call.finditer(line):
                if re.match(r"\s*#\s*define", line) or "format(" in line:
                    continue  # __attribute__((format(printf, …)))
                problems.append(f"{path}:{number}: {match[1]}(): use {rules[match[1]]}"
                                if match[1] in NEVER else f"{path}:{number}: {match[1]}(): {rules[match[1]]}")
    return finish(problems, f"{len(paths)} files call none of {len(NEVER) + len(BELOW_CMD)} banned functions")


if __name__ == "__main__":
    sys.exit(main())

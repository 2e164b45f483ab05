"""Recorded machines: tests/samples/machines/NAME.machine, written after the documented layouts of /sys, /proc
and /dev. Lines:

    # what it is
    expect ID STATUS                 a check that is made of it; STATUS none: it is not made
    file PATH                        a file; the indented lines that follow are its content
    link PATH -> TARGET              a symbolic link
    bytes PATH HEX                   a file

    machines.py FILE ROOT            makes the machine below ROOT
"""
import os
import sys


class Machine:
    def __init__(self, path):
        self.name = os.path.basename(path).removesuffix(".machine")
        self.expected, self.files, self.links = {}, {}, {}
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                self._take(line.rstrip("\n"))

    def _take(self, line):
        if line.startswith("    "):
            self.files[self._last] += line[4:].encode() + b"\n"
            return
        word, _, rest = line.partition(" ")
        if word == "expect":
            check, status = rest.split()
            self.expected[check] = status
        elif word == "file":
            self._last = rest
            self.files[rest] = b""
        elif word == "link":
            path, target = rest.split(" -> ")
            self.links[path] = target
        elif word == "bytes":
            path, digits = rest.split()
            self.files[path] = bytes.fromhex(digits)
        elif word not in ("#", ""):
            raise ValueError(f"{self.name}: {line}")

    def unpack(self, root):
        """Makes the machine below root. Variables of an environment end in NUL, as in proc(5)."""
        for path, content in self.files.items():
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            with open(root + path, "wb") as file:
                file.write(content.replace(b"\n", b"\0") if path.endswith("/environ") else content)
        for path, target in self.links.items():
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            os.symlink(target, root + path)


def machines(folder):
    return [Machine(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".machine")]


if __name__ == "__main__":
    Machine(sys.argv[1]).unpack(sys.argv[2])

"""A terminal for tests: runs a program on a pseudo-terminal and keeps the grid of characters that it draws.

It understands what ncurses sends for TERM=xterm-256color, and no more: an unknown sequence is an error.
"""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata

CSI = re.compile(r"\x1b\[([?>=]?)([0-9;]*)([@-~])")
OTHER = re.compile(r"\x1b[()][0-9A-Z]|\x1b[=>78]|\x1b\][^\x07]*\x07")
DEADLINE = 60  # seconds; only a program that hangs takes as long


class Terminal:
    def __init__(self, argv, rows=24, columns=80, env=None):
        self.rows, self.columns = rows, columns
        self.cells = [[" "] * columns for _ in range(rows)]
        self.row = self.column = self.top = 0
        self.bottom = rows - 1
        self.last = " "
        self.written = b""
        self.rest = ""
        self.private = {}  # modes that were set, as "1049": whether it still is
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.status = None
        self.master, slave = pty.openpty()
        self._size(slave)
        self.modes = termios.tcgetattr(slave)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
                for fd in range(3):
                    os.dup2(slave, fd)
                os.closerange(3, 256)
                os.execvpe(argv[0], argv, env or os.environ)
            finally:
                os._exit(127)
        self.slave = slave  # kept open: its modes are read after the program has ended

    def _size(self, fd):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))

    def resize(self, rows, columns):
        """As when a window is dragged: the program gets SIGWINCH and draws anew."""
        self.rows, self.columns = rows, columns
        self.cells = [(line + [" "] * columns)[:columns] for line in (self.cells + [[" "] * columns] * rows)[:rows]]
        self.top, self.bottom = 0, rows - 1
        self.row, self.column = min(self.row, rows - 1), min(self.column, columns - 1)
        self._size(self.master)

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def wait_for(self, condition, what=""):
        """Reads until the screen fulfils the condition (a text on it, or a function of the terminal)."""
        holds = condition if callable(condition) else lambda screen: condition in screen.text()
        end = time.monotonic() + DEADLINE
        while not holds(self):
            if time.monotonic() > end or not self._read(max(0, end - time.monotonic())):
                raise AssertionError(f"it never showed {what or condition!r}; the screen is\n{self.text()}")

    def wait_for_end(self):
        """Reads to the end, and returns the exit status (negative: the signal)."""
        end = time.monotonic() + DEADLINE
        while self.status is None:
            self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                self.kill()
                raise AssertionError(f"it does not end; the screen is\n{self.text()}")
        while self._read(0):
            pass
        return self.status

    def is_restored(self):
        """Whether the terminal is as it was: modes of the line, the screen, the cursor, the mouse."""
        now = termios.tcgetattr(self.slave)
        return now[:4] == self.modes[:4] and not any(self.private.get(mode) for mode in ("1049", "1000", "1006", "1002")) \
            and self.private.get("25", True)

    def kill(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self):
        self.kill()
        os.close(self.master)
        os.close(self.slave)

    def _read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        self.written += data
        self._take(self.decoder.decode(data))
        return bool(data)

    # ---- what a terminal does -----------------------------------------------------------------------------

    def _take(self, text):
        text, self.rest = self.rest + text, ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._put(text[at])
                at += 1
                continue
            found = CSI.match(text, at)
            if found:
                self._control(*found.groups())
            elif text.startswith("\x1bM", at):
                self._up()
                at += 2
                continue
            else:
                found = OTHER.match(text, at)
            if not found:
                if len(text) - at > 64:
                    raise AssertionError(f"an unknown sequence: {text[at:at + 16]!r}")
                self.rest = text[at:]
                return
            at = found.end()

    def _blank(self):
        return [" "] * self.columns

    def _up(self):
        if self.row == self.top:
            del self.cells[self.bottom]
            self.cells.insert(self.top, self._blank())
        else:
            self.row = max(0, self.row - 1)

    def _down(self):
        if self.row == self.bottom:
            del self.cells[self.top]
            self.cells.insert(self.bottom, self._blank())
        else:
            self.row = min(self.rows - 1, self.row + 1)

    def _put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self._down()
        elif char == "\b":
            self.column = max(0, self.column - 1)
        elif char >= " ":
            wide = unicodedata.east_asian_width(char) in "WF"
            if self.column < self.columns:
                self.cells[self.row][self.column] = char
            if wide and self.column + 1 < self.columns:
                self.cells[self.row][self.column + 1] = ""
            self.column += 2 if wide else 1
            self.last = char

    def _control(self, private, arguments, final):
        numbers = [int(number or 0) for number in arguments.split(";")] if arguments else []
        count = numbers[0] if numbers and numbers[0] else 1
        second = numbers[1] if len(numbers) > 1 and numbers[1] else 0
        if private:
            if private == "?" and final in "hl":
                self.private.update({str(number): final == "h" for number in numbers})
            return
        line = self.cells[self.row] if self.row < self.rows else self._blank()
        if final in "Hf":
            self.row, self.column = min(count, self.rows) - 1, max(second, 1) - 1
        elif final == "d":
            self.row = min(count, self.rows) - 1
        elif final in "G`":
            self.column = count - 1
        elif final == "A":
            self.row = max(0, self.row - count)
        elif final == "B":
            self.row = min(self.rows - 1, self.row + count)
        elif final == "C":
            self.column += count
        elif final == "D":
            self.column = max(0, self.column - count)
        elif final == "r":
            self.top, self.bottom = count - 1, (second or self.rows) - 1
            self.row = self.column = 0
        elif final == "J":
            whole = bool(numbers) and numbers[0] == 2
            for row in range(0 if whole else self.row + 1, self.rows):
                self.cells[row] = self._blank()
            if not whole:
                line[self.column:] = [" "] * (self.columns - self.column)
        elif final == "K":
            if numbers and numbers[0] == 1:
                line[:self.column + 1] = [" "] * min(self.column + 1, self.columns)
            else:
                line[self.column:] = [" "] * (self.columns - self.column)
        elif final == "X":
            end = min(self.column + count, self.columns)
            line[self.column:end] = [" "] * (end - self.column)
        elif final == "b":
            for _ in range(count):
                self._put(self.last)
        elif final == "P":
            self.cells[self.row] = (line[:self.column] + line[self.column + count:] + self._blank())[:self.columns]
        elif final == "@":
            self.cells[self.row] = (line[:self.column] + [" "] * count + line[self.column:])[:self.columns]
        elif final in "STLM":
            first = self.row if final in "LM" else self.top
            for _ in range(count):
                if final in "SM":
                    del self.cells[first]
                    self.cells.insert(self.bottom, self._blank())
                else:
                    del self.cells[self.bottom]
                    self.cells.insert(first, self._blank())
        elif final not in "mtlhn":
            raise AssertionError(f"an unknown sequence: {arguments}{final}")

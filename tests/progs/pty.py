#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pty.py: a command on a terminal of its own, and a hand at the keys.

    pty.py --dir DIR [--owner PID] [--size ROWSxCOLUMNS] COMMAND [ARG...]

COMMAND leads a session whose terminal is a new pty.  DIR gets: ctl, a FIFO that
takes one order a line; ack, a FIFO that gives one line for each ("ok", what was
asked for, or what was wrong); raw, all that came from the terminal; and last of
all pid, COMMAND's.  tests/lib/pty.bash has a wrapper for bats.  It ends, and all
of the session with it, when it gets TERM, when DIR is gone, or when the process
--owner PID is.

A REGEX is Python's, with ^ and $ at each line; CR LF counts as LF.

    keys TEXT           type it, with Python's escapes (\\x03 is Ctrl-C)
    line TEXT           type it and Return, wait until it is echoed
    see SECONDS REGEX   wait until it is in what came since the last `see`
    unseen REGEX        it is not in what came since then
    count REGEX         how often it is in all that came
    times REGEX         when each of them came, in ms since the start
    rows                what the screen shows: its rows joined by "|"
    size ROWS COLUMNS   resize
    modes               echo, icanon, isig, tostop; each with "-" if off
    foreground          the process group that is in the foreground
    status SECONDS      wait for COMMAND's end: its status as of a shell
    hangup              close the terminal's other side
"""
import argparse
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time


def fork(argv, size):
    """COMMAND on a pty; every signal as at a login."""
    rows, columns = size
    pid, fd = pty.fork()
    if pid:
        return pid, fd
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    os.closerange(3, 256)
    try:
        os.execvp(argv[0], argv)
    finally:
        os._exit(127)


class Screen:
    """Just enough of a terminal for a line that is redrawn."""

    def __init__(self, columns):
        self.columns, self.rows, self.x = columns, [""], 0
        self.wraps = False

    def put(self, text):
        for piece in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[^\x1b]", text):
            if piece.startswith("\x1b"):
                if piece in ("\x1b[K", "\x1b[0K"):
                    self.rows[-1] = self.rows[-1][:self.x]
            elif piece == "\n":
                self._newline()
            elif piece == "\r":
                self.x, self.wraps = 0, False
            elif piece == "\b":
                self.x = max(0, self.x - 1)
            elif piece >= " ":
                self._char(piece)

    def _newline(self):
        self.rows.append("")
        self.x, self.wraps = 0, False

    def _char(self, char):
        if self.wraps:
            self._newline()
        row = self.rows[-1].ljust(self.x)
        self.rows[-1] = row[:self.x] + char + row[self.x + 1:]
        self.x += 1
        if self.x == self.columns:
            self.x, self.wraps = self.columns - 1, True


class Terminal:
    def __init__(self, folder, argv, size):
        self.started = time.monotonic()
        self.size, self.code = size, None
        self.text, self.mark, self.held = "", 0, b""
        self.arrivals = []      # (length of text, ms)
        self.raw = open(os.path.join(folder, "raw"), "wb", buffering=0)
        self.pid, self.fd = fork(argv, size)

    def read(self, seconds):
        """Take what comes within that time, or return sooner."""
        if self.fd is None:
            time.sleep(min(seconds, 0.01))
            return
        if not select.select([self.fd], [], [], max(0, seconds))[0]:
            return
        try:
            data = os.read(self.fd, 65536)
        except OSError:         # nobody has the other side open
            time.sleep(min(max(0, seconds), 0.01))
            return
        self.raw.write(data)
        data, self.held = self.held + data, b""
        if data.endswith(b"\r"):        # its LF is to come
            data, self.held = data[:-1], b"\r"
        self.text += data.decode("utf-8", "replace").replace("\r\n", "\n")
        self.arrivals.append((len(self.text),
                              int((time.monotonic() - self.started) * 1000)))

    def wait(self, seconds, test):
        end = time.monotonic() + seconds
        while not test():
            left = end - time.monotonic()
            if left <= 0:
                return False
            self.read(min(left, 0.05))
        return True

    def look(self, pattern):
        """Find it behind the mark, and put the mark behind it."""
        found = pattern.search(self.text, self.mark)
        if found:
            self.mark = found.end()
        return found is not None

    def keys(self, data):
        while data:
            data = data[os.write(self.fd, data):]

    def see(self, seconds, pattern):
        if self.wait(seconds, lambda: self.look(pattern)):
            return "ok"
        return "not seen in %g s: %s; but %r" % (
            seconds, pattern.pattern, self.text[self.mark:][-600:])

    def times(self, pattern):
        ends = [m.end() for m in pattern.finditer(self.text)]
        return [next(ms for length, ms in self.arrivals if length >= end)
                for end in ends]

    def rows(self):
        screen = Screen(self.size[1])
        screen.put(self.text)
        return screen.rows

    def modes(self):
        flags = termios.tcgetattr(self.fd)[3]
        return " ".join(
            ("" if flags & getattr(termios, name.upper()) else "-") + name
            for name in ("echo", "icanon", "isig", "tostop"))

    def foreground(self):
        answer = fcntl.ioctl(self.fd, termios.TIOCGPGRP, b"\0" * 4)
        return struct.unpack("i", answer)[0]

    def ended(self):
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                self.code = 128 - code if code < 0 else code
        return self.code is not None

    def hangup(self):
        if self.fd is not None:
            os.close(self.fd)
        self.fd = None

    def resize(self, rows, columns):
        self.size = rows, columns
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("4H", rows, columns, 0, 0))

    def end(self):
        """KILL the session: those of its processes that are left."""
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and os.getsid(int(name)) == self.pid:
                    os.kill(int(name), signal.SIGKILL)
            except OSError:
                pass


def obey(terminal, order):
    name, _, rest = order.partition(" ")
    if name == "keys":
        terminal.keys(codecs.decode(rest, "unicode_escape").encode("latin-1"))
        return "ok"
    if name == "line":
        terminal.keys((rest + "\r").encode())
        return terminal.see(10, re.compile(re.escape(rest) + "\n"))
    if name == "see":
        seconds, _, rest = rest.partition(" ")
        return terminal.see(float(seconds), re.compile(rest, re.M))
    if name == "unseen":
        terminal.read(0)
        found = re.compile(rest, re.M).search(terminal.text, terminal.mark)
        return "ok" if not found else "seen: %r in %r" % (
            found.group(), terminal.text[terminal.mark:])
    if name == "count":
        return str(len(re.findall(rest, terminal.text, re.M)))
    if name == "times":
        return " ".join(map(str, terminal.times(re.compile(rest, re.M))))
    if name == "rows":
        return "|".join(terminal.rows())
    if name == "size":
        terminal.resize(*map(int, rest.split()))
        return "ok"
    if name == "modes":
        return terminal.modes()
    if name == "foreground":
        return str(terminal.foreground())
    if name == "status":
        if terminal.wait(float(rest), terminal.ended):
            return str(terminal.code)
        return "not ended in %s s; its last words: %r" % (
            rest, terminal.text[-600:])
    if name == "hangup":
        terminal.hangup()
        return "ok"
    raise ValueError("no such order")


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def serve(terminal, folder, owner):
    for name in ("ctl", "ack"):
        os.mkfifo(os.path.join(folder, name))
    # Both ends of both, so that no open blocks and nothing ends with a writer.
    ctl = os.open(os.path.join(folder, "ctl"), os.O_RDWR | os.O_NONBLOCK)
    ack = os.open(os.path.join(folder, "ack"), os.O_RDWR | os.O_NONBLOCK)
    path = os.path.join(folder, "pid")
    with open(path + ".new", "w", encoding="ascii") as file:
        print(terminal.pid, file=file)
    os.rename(path + ".new", path)
    buffer = b""
    while os.path.isdir(folder) and not (owner and gone(owner)):
        fds = [ctl] + ([terminal.fd] if terminal.fd is not None else [])
        ready = select.select(fds, [], [], 0.5)[0]
        if terminal.fd in ready:
            terminal.read(0.01)
        if ctl not in ready:
            continue
        buffer += os.read(ctl, 65536)
        while b"\n" in buffer:
            order, _, buffer = buffer.partition(b"\n")
            try:
                answer = obey(terminal, order.decode())
            except Exception as error:  # the caller sees it
                answer = "pty: %s: %s" % (order, error)
            os.write(ack, (answer + "\n").encode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", required=True)
    parser.add_argument("--owner", type=int, default=0)
    parser.add_argument("--size", default="24x80")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    size = tuple(map(int, args.size.split("x")))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    terminal = Terminal(args.dir, args.command, size)
    try:
        serve(terminal, args.dir, args.owner)
    finally:
        terminal.end()


if __name__ == "__main__":
    main()

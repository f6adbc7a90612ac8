#!/usr/bin/env python3
r"""fakeserver.py FOLDER CASES: servers that misbehave as told.

Each line of the file CASES, NAME then blanks then RULES, is a server of its own
on the Unix socket FOLDER/NAME.sock; the commands it got are in FOLDER/NAME.log,
a line each, without the text of scripts.  FOLDER/ready is made when all of them
listen.  It ends by TERM.

Without rules a server grants all that is asked.  A rule is WHAT=ACTION, rules
are separated by blanks; an ACTION with a list A|B|C is A the first time, then
B, and C from then on (counted over all connections).  A "~" stands for a
blank, and Python's escapes (\x00, \r) work.

WHAT: accept (a connection); auth select client; take acquire renew free
release (the scripts, told apart by their arguments); multi, queued (the answer
to EVAL inside MULTI), subscribe (inside MULTI or not), exec, unsubscribe, and
eval for all scripts at once.

ACTION, several joined by "&":
  ok taken held gone full   what the script or command says in good times
  TEXT beginning with + - : $ * < (raw)   sent with CRLF, "<" without
  {A,B}       an array: integers, or strings for what is none
  nothing     no answer, now or later
  close       close the connection
  slow:ACTION one byte after the other, 1 ms apart
  cut:ACTION  the first half of it, then close
  half:ACTION the first half of it, then nothing
  late:MS:ACTION  after MS milliseconds
  huge:N      a bulk string of N bytes, whole
  endless     bytes until the other side closes
"""

import os
import socket
import sys
import threading
import time

HOLDER = b"rlock:1:" + b"f" * 32 + b":host:user:1:0:"


class Closed(Exception):
    """The connection is to be closed."""


def bulk(text):
    return b"$%d\r\n%s\r\n" % (len(text), text)


def array(items):
    """A reply {A, B, ...} of a script."""
    out = b"*%d\r\n" % len(items)
    for item in items:
        if isinstance(item, int):
            out += b":%d\r\n" % item
        else:
            out += bulk(item)
    return out


GOOD = {
    "take": {"ok": [0], "held": [1, HOLDER], "gone": [2, b""], "full": [9]},
    "acquire": {
        "ok": [0, 0, -1, b""],
        "held": [1, HOLDER, 10000, 0, b"1700000000000000"],
        "gone": [2, b""],
        "full": [9],
    },
    "renew": {"ok": [0], "held": [1, HOLDER], "gone": [2, b""], "full": [9]},
    "free": {"ok": [0], "held": [1, HOLDER], "gone": [2, b""], "full": [9]},
    "release": {
        "ok": [0, 0],
        "held": [1, HOLDER, 0],
        "gone": [2, b"", 0],
        "full": [9],
    },
}


def shown(args):
    """A command for the log: EVAL's text is left out."""
    if args[0] == b"EVAL":
        return [b"EVAL", script_of(args).encode()] + args[2:]
    return args


def script_of(args):
    """Which script an EVAL runs: they differ in keys and arguments."""
    keys = int(args[2])
    rest = len(args) - 3 - keys
    if keys == 1:
        return "renew"
    return {6: "acquire", 5: "release", 3: "renew", 2: "take", 1: "free"}[rest]


class Server:
    """One case."""

    def __init__(self, folder, name, rules):
        self.lock = threading.Lock()
        self.rules = {}
        for rule in rules.split():
            what, action = rule.split("=", 1)
            self.rules[what] = action.split("|")
        self.log = open(os.path.join(folder, name + ".log"), "wb", 0)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(os.path.join(folder, name + ".sock"))
        self.socket.listen(64)

    def start(self):
        def run():
            while True:
                client = self.socket.accept()[0]
                thread = threading.Thread(
                    target=Client(self, client).run, daemon=True
                )
                thread.start()

        threading.Thread(target=run, daemon=True).start()

    def action(self, what):
        """The next action for it, or None."""
        with self.lock:
            actions = self.rules.get(what)
            if actions is None:
                return None
            return actions.pop(0) if len(actions) > 1 else actions[0]


class Client:
    """One connection."""

    def __init__(self, server, sock):
        self.server = server
        self.socket = sock
        self.file = sock.makefile("rb")
        self.queued = None  # names inside MULTI
        self.silent = False

    def run(self):
        try:
            self.do("accept", b"")
            while True:
                args = self.read()
                self.server.log.write(
                    b" ".join(shown(args)).replace(b"\n", b" ") + b"\n"
                )
                self.command(args)
        except (Closed, OSError, ValueError):
            pass
        finally:
            self.socket.close()
            self.file.close()

    def read(self):
        head = self.file.readline()
        if not head:
            raise Closed
        args = []
        for _ in range(int(head[1:])):
            length = int(self.file.readline()[1:])
            args.append(self.file.read(length + 2)[:-2])
        return args

    def command(self, args):
        name = args[0].decode().lower()
        if name == "eval":
            name = script_of(args)
            if self.queued is not None:
                self.queued.append(name)
                self.do("queued", b"+QUEUED\r\n")
                return
            self.do(name, self.good(name, "ok"))
        elif name == "multi":
            self.queued = []
            self.do("multi", b"+OK\r\n")
        elif name == "subscribe" and self.queued is not None:
            self.queued.append(
                b"*3\r\n" + bulk(b"subscribe") + bulk(args[1]) + b":1\r\n"
            )
            self.do("subscribe", b"+QUEUED\r\n")
        elif name == "exec":
            self.exec()
        elif name == "unsubscribe":
            self.do(name, b"*3\r\n" + bulk(name.encode()) + b"$-1\r\n:0\r\n")
        else:
            self.do(name, b"+OK\r\n")

    def exec(self):
        queued, self.queued = self.queued or [], None
        action = self.server.action("exec")
        if action is not None:
            self.perform("exec", action)
            return
        self.send(b"*%d\r\n" % len(queued))
        for item in queued:
            if isinstance(item, bytes):
                self.send(item)
            else:
                self.do(item, self.good(item, "ok"))

    def good(self, what, word):
        return array(GOOD[what][word])

    def do(self, what, usual):
        action = self.server.action(what)
        if action is None and what in GOOD:
            action = self.server.action("eval")
        if action is None:
            self.send(usual)
        else:
            self.perform(what, action, usual)

    def perform(self, what, action, usual=b""):
        for part in action.split("&"):
            self.one(what, part, usual)

    def one(self, what, part, usual):
        word, _, rest = part.partition(":")
        if part == "nothing":
            self.silent = True
        elif part == "close":
            raise Closed
        elif word == "slow":
            for byte in self.bytes(what, rest, usual):
                self.send(bytes([byte]))
                time.sleep(0.001)
        elif word in ("cut", "half"):
            text = self.bytes(what, rest, usual)
            self.send(text[: max(1, len(text) // 2)])
            if word == "cut":
                raise Closed
            self.silent = True
        elif word == "late":
            ms, _, rest = rest.partition(":")
            time.sleep(int(ms) / 1000)
            self.one(what, rest, usual)
        elif word == "huge":
            self.send(bulk(b"x" * int(rest)))
        elif part == "endless":
            self.send(b"$536870912\r\n")
            while not self.silent:
                self.send(b"x" * 65536)
        else:
            self.send(self.bytes(what, part, usual))

    def bytes(self, what, part, usual):
        if part == "ok":
            return usual
        if what in GOOD and part in GOOD[what]:
            return self.good(what, part)
        text = part.replace("~", " ").encode().decode("unicode_escape")
        text = text.encode("latin-1")
        if text[:1] == b"{":
            items = text[1:-1].split(b",") if len(text) > 2 else []
            return array(
                [int(i) if i.lstrip(b"-").isdigit() else i for i in items]
            )
        if text[:1] == b"<":
            return text[1:]
        if text[:1] in b"+-:$*":
            return text + b"\r\n"
        raise SystemExit(f"no such action: {part}")

    def send(self, data):
        if not self.silent:
            self.socket.sendall(data)


def main():
    folder = sys.argv[1]
    with open(sys.argv[2], encoding="ascii") as cases:
        lines = [line.split(None, 1) for line in cases if line.strip()]
    for line in lines:
        Server(folder, line[0], line[1] if len(line) > 1 else "").start()
    with open(os.path.join(folder, "ready"), "w", encoding="ascii") as file:
        file.write("ready\n")
    threading.Event().wait()


main()

# SPDX-License-Identifier: MIT
"""common.py: what the rounds of soak.py are made of: servers, runs, figures.

Every process that is started is a child in a list, and ended by its number.
"""
import collections
import concurrent.futures
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
BUILD = os.environ.get("RLOCK_BUILD", os.path.join(HERE, "..", "..", "build"))
RLOCK = os.environ.get("RLOCK", os.path.join(BUILD, "rlock"))
STAMP = os.path.join(os.environ.get("RLOCK_PROGS",
                                    os.path.join(BUILD, "progs")), "stamp")
BOUND = 60          # seconds that any one thing may take


def boot():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Redis:
    """A server on a socket in a folder, with a connection to it."""

    def __init__(self, folder, name="r", *arguments):
        self.path = os.path.join(folder, name + ".sock")
        self.url = "unix://" + self.path
        server = os.environ.get("SERVER") or shutil.which(
            "redis-server") or shutil.which("valkey-server")
        self.process = start([
            server, "--port", "0", "--unixsocket", self.path, "--dir", folder,
            "--save", "", "--appendonly", "no", "--logfile", "",
            *arguments], stdout=subprocess.DEVNULL)
        self.local = threading.local()
        wait_for(self.answers, "the server")

    def answers(self):
        try:
            return self.ask("ping") == "PONG"
        except OSError:
            return False

    def ask(self, *words):
        connection = getattr(self.local, "connection", None)
        if connection is None:
            connection = self.local.connection = Connection(self.path)
        return connection.ask(*words)

    def freeze(self):
        os.kill(self.process.pid, signal.SIGSTOP)
        wait_for(lambda: state(self.process.pid) == "T", "the server to stop")

    def thaw(self):
        os.kill(self.process.pid, signal.SIGCONT)


class Connection:
    """RESP2, as much of it as is needed."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(BOUND)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def send(self, *words):
        text = b"*%d\r\n" % len(words)
        for word in words:
            word = str(word).encode()
            text += b"$%d\r\n%s\r\n" % (len(word), word)
        self.socket.sendall(text)

    def read(self):
        line = self.file.readline().rstrip(b"\r\n")
        kind, rest = line[:1], line[1:]
        if kind == b":":
            return int(rest)
        if kind == b"$":
            if rest == b"-1":
                return None
            text = self.file.read(int(rest) + 2)[:-2]
            return text.decode(errors="replace")
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        return rest.decode(errors="replace")

    def ask(self, *words):
        self.send(*words)
        return self.read()


def state(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return file.read().rpartition(b") ")[2][:1].decode()
    except OSError:
        return "X"


def wait_for(fact, what, bound=BOUND):
    end = time.monotonic() + bound
    while not fact():
        if time.monotonic() > end:
            raise TimeoutError("waited in vain for " + what)
        time.sleep(0.002)


CHILDREN = set()


def start(arguments, **more):
    child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, **more)
    CHILDREN.add(child)
    return child


def done(child, bound=BOUND):
    """Wait for it; its status."""
    child.wait(bound)
    CHILDREN.discard(child)
    return child.returncode


def end_all():
    for child in list(CHILDREN):
        if child.poll() is None:
            child.kill()    # by number, and only while it is our child
            child.wait()


def rlock(*arguments, **more):
    more.setdefault("stderr", subprocess.DEVNULL)
    return start([RLOCK, *map(str, arguments)], **more)


def stamps(path):
    """The lines of a log of stamp: (what, microseconds, pid, name, token)."""
    try:
        with open(path, encoding="ascii") as file:
            lines = file.read().split("\n")
    except FileNotFoundError:
        return []
    found = []
    for line in lines[:-1]:     # what has no end was not written whole
        what, at, pid, name, token = line.split(" ")[:5]
        found.append((what, int(at), int(pid), name, token))
    return found


def named(text):
    """The processes that have text in their arguments."""
    text, found = text.encode(), []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if text not in file.read():
                    continue
        except OSError:
            continue
        pid = int(path.split("/")[2])
        if state(pid) not in "ZX":
            found.append(pid)
    return found


def keys_left(redis, key):
    return redis.ask("exists", "lock:" + key,
                     "rlock:queue:{lock:%s}" % key)


class Figures:
    """Numbers and what was broken; printed at the end."""

    def __init__(self):
        self.lock = threading.Lock()
        self.values = collections.defaultdict(list)
        self.broken = []

    def add(self, name, value):
        with self.lock:
            self.values[name].append(value)

    def fault(self, text):
        with self.lock:
            self.broken.append(text)

    def show(self, name, unit="ms"):
        values = sorted(self.values[name])
        if not values:
            print("%s: none" % name)
            return
        print("%s (%s, n=%d): min %.1f  p5 %.1f  median %.1f  p95 %.1f  "
              "p99 %.1f  max %.1f" % (name, unit, len(values), values[0],
              *(values[int(p * (len(values) - 1))]
                for p in (.05, .5, .95, .99)), values[-1]))

    def count(self, name):
        return len(self.values[name])


def in_parallel(rounds, width, one, figures):
    """one(n) for each round; what it raises is a fault."""
    def guarded(n):
        try:
            one(n)
        except Exception as error:  # reported with the others
            figures.fault("round %d: %s: %s" % (
                n, type(error).__name__, error))

    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        list(pool.map(guarded, range(rounds)))

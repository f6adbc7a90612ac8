# SPDX-License-Identifier: MIT
"""failover.py: rounds of soak.py behind sentinels.

failover    A primary, two replicas and three sentinels; 4 loops of runs with
            --replicas 1 contend for one lock, with commands of up to 2 s.  A
            round is a failover, in turn asked for, by SIGKILL to the primary,
            and by SIGSTOP to it (which comes back when there is a new one).
            When the new primary is there, it is asked who holds the lock.
            Judged: no two commands overlap, by the boottime clock; no run ends
            with 76 whose token the new primary had; the others end with 0, or
            with 69 when no replica acknowledged in time.
"""
import collections
import os
import random
import shutil
import signal
import socket
import threading

from common import (STAMP, Connection, boot, done, rlock, stamps, start,
                    wait_for)

LOOPS = 4
TTL = 6
KEY = "soak"


class Tcp(Connection):
    """To a port of this host, for a while."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 5)
        self.file = self.socket.makefile("rb")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Node:
    """A server, or a sentinel, on a port."""

    def __init__(self, folder, name, arguments, port=None):
        self.port = port or free_port()
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder, exist_ok=True)
        server = os.environ.get("SERVER") or shutil.which(
            "redis-server") or shutil.which("valkey-server")
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = start(
                [server, *arguments(self), "--port", str(self.port),
                 "--dir", self.folder], stdout=log, stderr=log)
        wait_for(lambda: self.ask("ping") == "PONG", name)

    def ask(self, *words):
        try:
            return Tcp(self.port).ask(*words)
        except OSError:
            return None

    def kill(self):
        self.process.kill()
        done(self.process)

    def is_primary(self):
        role = self.ask("role")
        return bool(role) and role[0] == "master"


class Set:
    """The whole of it."""

    def __init__(self, folder):
        self.folder = folder
        first = Node(folder, "n0", self.data(None))
        self.nodes = [first] + [
            Node(folder, "n%d" % n, self.data(first.port)) for n in (1, 2)]
        self.primary = first
        wait_for(lambda: self.followers() == 2, "the replicas")
        self.sentinels = [self.sentinel(n) for n in range(3)]
        wait_for(lambda: all(self.knows(s) for s in self.sentinels),
                 "the sentinels")

    @staticmethod
    def data(primary):
        more = ["--replicaof", "127.0.0.1", str(primary)] if primary else []
        return lambda node: ["--save", "", "--appendonly", "no",
                             "--repl-diskless-sync-delay", "0", *more]

    def sentinel(self, n):
        def arguments(node):
            path = os.path.join(node.folder, "conf")
            with open(path, "w", encoding="ascii") as file:
                file.write("sentinel monitor prim 127.0.0.1 %d 2\n"
                           "sentinel down-after-milliseconds prim 500\n"
                           "sentinel failover-timeout prim 3000\n"
                           % self.primary.port)
            return [path, "--sentinel"]
        return Node(self.folder, "s%d" % n, arguments)

    def followers(self):
        role = self.primary.ask("role")
        return len(role[2]) if role and role[0] == "master" else 0

    @staticmethod
    def knows(sentinel):
        words = sentinel.ask("sentinel", "master", "prim")
        if not isinstance(words, list):
            return False
        facts = dict(zip(words[::2], words[1::2]))
        return facts["num-slaves"] == "2" and facts["num-other-sentinels"] == "2"

    def new_primary(self, old):
        for node in self.nodes:
            if node is not old and node.process.poll() is None and node.is_primary():
                return node
        return None

    def failover(self, how):
        """What the new primary has at the lock."""
        old = self.primary
        if how == "asked":
            # Refused until the last one is quite over.
            wait_for(lambda: self.sentinels[0].ask(
                "sentinel", "failover", "prim") == "OK", "a failover")
        elif how == "killed":
            old.kill()
        else:
            os.kill(old.process.pid, signal.SIGSTOP)
        wait_for(lambda: self.new_primary(old), "a new primary")
        self.primary = self.new_primary(old)
        found = self.primary.ask("get", "lock:" + KEY)
        if how == "killed":
            n = self.nodes.index(old)
            self.nodes[n] = Node(self.folder, "n%d" % n,
                                 self.data(self.primary.port), old.port)
        elif how == "frozen":
            os.kill(old.process.pid, signal.SIGCONT)
        wait_for(lambda: self.followers() == 2, "the replicas")
        wait_for(lambda: all(self.knows(s) for s in self.sentinels),
                 "the sentinels")
        return found

    def url(self):
        return "sentinel://%s/prim" % ",".join(
            "127.0.0.1:%d" % s.port for s in self.sentinels)


def judge(log, ends, found, figures):
    """ends: name -> (status, when); found: (when, what the primary had)."""
    runs = {}
    for what, at, _, name, token in stamps(log):
        if what == "begin":
            runs[name] = [at, None, token]
        else:
            runs[name][1] = at
    inside = None
    for name, (begin, end, token) in sorted(runs.items(), key=lambda r: r[1][0]):
        status, over = ends[name]
        if inside and begin < inside[1]:
            figures.fault("%s began %d us before the end of %s" % (
                name, inside[1] - begin, inside[0]))
        inside = (name, end or over)
        during = [what for when, what in found if begin < when < over]
        if status == 76 and during and token in (during[-1] or ""):
            figures.fault("%s was stopped, and the new primary had it" % name)
    figures.add("commands", len(runs))


def failover(rounds, folder, figures):
    servers = Set(folder)
    environment = dict(os.environ, RLOCK_URL=servers.url())
    log, ends, found = folder + "/log", {}, []
    counts, over = collections.Counter(), threading.Event()

    def loop(number):
        chance, n = random.Random(number), 0
        while not over.is_set():
            name, n = "%d.%d" % (number, n), n + 1
            status = done(rlock(
                "-k", KEY, "-t", TTL, "-w", "120", "--replicas", "1", "--",
                STAMP, log, "span", name, chance.randrange(2000),
                env=environment), 180)
            ends[name] = (status, int(boot() * 1e6))
            counts[status] += 1
            if status not in (0, 69, 76):
                figures.fault("%s: status %d" % (name, status))
            if status == 69:
                over.wait(0.2)

    loops = [threading.Thread(target=loop, args=(n,)) for n in range(LOOPS)]
    for one in loops:
        one.start()
    try:
        for n in range(rounds):
            over.wait(1.5)
            how = ("asked", "killed", "frozen")[n % 3]
            begun = boot()
            what = servers.failover(how)
            found.append((int(boot() * 1e6), what))
            figures.add("failover, " + how, (boot() - begun) * 1000)
            counts["with the key" if what else "without"] += 1
    finally:
        over.set()
        for one in loops:
            one.join()
    judge(log, ends, found, figures)
    for how in "asked", "killed", "frozen":
        figures.show("failover, " + how)
    print("%d commands; %s" % (figures.values["commands"][0], ", ".join(
        "%s: %d" % (("status %d" % what) if isinstance(what, int) else what, n)
        for what, n in sorted(counts.items(), key=str))))

# SPDX-License-Identifier: MIT
"""redlock.py: rounds of soak.py with five independent servers.

redlock     10 loops contend for one lock that a majority of five servers holds;
            a run of each is a round.  All the while one or two of the servers
            are frozen for up to twice the TTL, or killed and started again with
            their data (appendfsync always): never more than two at once, and
            who was away has the time of a lease to be given the lock again.
            Judged: no two commands overlap, by the boottime clock; every run
            ends with 0, or with 76 when it was stopped, and then its command
            had ended before the next one began; at the end nothing is left.
"""
import collections
import os
import random
import threading
import time

from common import BOUND, STAMP, Redis, done, in_parallel, rlock, stamps, wait_for

SERVERS = 5
LOOPS = 10
TTL = 1.0
KEY = "soak"


class Trouble(threading.Thread):
    """One or two of the servers at a time."""

    def __init__(self, folders, servers, figures):
        super().__init__(daemon=True)
        self.folders, self.servers, self.figures = folders, servers, figures
        self.over = threading.Event()
        self.counts = collections.Counter()
        self.chance = random.Random("redlock %d" % os.getpid())

    def make(self, n):
        return Redis(self.folders[n], "r", "--appendonly", "yes",
                     "--appendfsync", "always")

    def kill(self, n):
        self.servers[n].process.kill()
        done(self.servers[n].process)

    def one(self):
        few = self.chance.sample(range(SERVERS), self.chance.choice((1, 2, 2)))
        killed = [n for n in few if self.chance.random() < 0.4]
        for n in few:
            if n in killed:
                self.kill(n)
                self.counts["killed"] += 1
            else:
                self.servers[n].freeze()
                self.counts["frozen"] += 1
        self.over.wait(2 * TTL * self.chance.random())
        for n in few:
            if n in killed:
                self.servers[n] = self.make(n)
            else:
                self.servers[n].thaw()

    def run(self):
        try:
            while not self.over.is_set():
                self.one()
                self.over.wait(TTL)
        except Exception as error:  # trouble that ended is none
            self.figures.fault("the trouble: %s: %s" % (
                type(error).__name__, error))

    def finish(self):
        self.over.set()
        self.join(BOUND)


def judge(log, figures):
    """No two at once; what has no end was killed, and ends with its last line."""
    events = sorted(stamps(log), key=lambda e: e[1])
    inside = {}
    for what, at, pid, name, _ in events:
        if what == "begin":
            if inside:
                figures.fault("%s began at %d, within %s" % (name, at, inside))
            inside[name] = at
        else:
            inside.pop(name, None)
            figures.add("run", 0)


def redlock(rounds, folder, figures):
    folders = [os.path.join(folder, str(n)) for n in range(SERVERS)]
    for path in folders:
        os.mkdir(path)
    trouble = Trouble(folders, [], figures)
    trouble.servers += [trouble.make(n) for n in range(SERVERS)]
    url = " ".join(server.url for server in trouble.servers)
    environment = dict(os.environ, RLOCK_URL=url)
    log, counts = folder + "/log", collections.Counter()

    def one(n):
        begun = time.monotonic()
        status = done(rlock(
            "-k", KEY, "-t", TTL, "-w", "300", "--retry-delay", "10ms",
            "--retry-max", "200ms", "--", STAMP, log, "span", n,
            random.Random(n).randrange(30), env=environment), 360)
        counts[status] += 1
        figures.add("wait and run", (time.monotonic() - begun) * 1000)
        if status not in (0, 76):
            figures.fault("round %d: status %d" % (n, status))

    trouble.start()
    in_parallel(rounds * LOOPS, LOOPS, one, figures)
    trouble.finish()
    judge(log, figures)
    figures.show("wait and run")
    print("%d runs, %s; servers %s" % (rounds * LOOPS, ", ".join(
        "status %d: %d" % pair for pair in sorted(counts.items())),
        ", ".join("%s %d times" % pair for pair in sorted(trouble.counts.items()))))
    for server in trouble.servers:
        wait_for(lambda s=server: s.ask("dbsize") == 0, "a server to be empty")

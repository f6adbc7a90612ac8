# SPDX-License-Identifier: MIT
"""cluster.py: rounds of soak.py on a cluster.

cluster     Three primaries, each with a replica; 10 loops contend for one lock,
            with commands of up to 30 ms, TTL 2 s, --replicas 1.  A round is a
            migration of the lock's slot from its owner to another primary, in
            steps, with a pause of up to half a second while it is on its way;
            after every tenth one there is a failover of the owner (CLUSTER
            FAILOVER to its replica).  Judged: no two commands overlap, by the
            boottime clock; every run ends with 0, or with 69 when no replica
            acknowledged in time, or with 76 when its lock was lost, and then
            its command had ended before the next one began; who waits is
            served: no run waits for longer than 20 s.
"""
import collections
import os
import random
import threading
import time

from common import STAMP, boot, done, rlock, stamps, wait_for
from failover import Node

LOOPS = 10
KEY = "soak"
LOCK = "lock:" + KEY
WAIT_MAX = 20


class Cluster:
    def __init__(self, folder):
        def arguments(_):
            return ["--cluster-enabled", "yes", "--cluster-node-timeout",
                    "1500", "--save", "", "--appendonly", "no",
                    "--repl-diskless-sync-delay", "0"]
        # The port of the bus is 10000 above.
        self.nodes = [self.low(folder, "n%d" % n, arguments) for n in range(6)]
        for n, node in enumerate(self.nodes[:3]):
            node.ask("cluster", "addslotsrange", n * 5462,
                     min(16383, (n + 1) * 5462 - 1))
        for node in self.nodes[1:]:
            self.nodes[0].ask("cluster", "meet", "127.0.0.1", node.port)
        wait_for(lambda: all("cluster_known_nodes:6" in node.ask(
            "cluster", "info") for node in self.nodes), "the nodes to meet")
        for n in (3, 4, 5):
            primary = self.nodes[n - 3].ask("cluster", "myid")
            wait_for(lambda n=n, primary=primary: self.nodes[n].ask(
                "cluster", "replicate", primary) == "OK", "a replica")
        wait_for(self.is_ready, "the cluster")
        self.slot = self.nodes[0].ask("cluster", "keyslot", LOCK)

    @staticmethod
    def low(folder, name, arguments):
        for _ in range(50):
            port = random.randrange(10000, 30000)
            try:
                return Node(folder, name, arguments, port)
            except TimeoutError:
                continue
        raise TimeoutError("no port for " + name)

    def is_ready(self):
        return all("cluster_state:ok" in node.ask("cluster", "info")
                   for node in self.nodes) and all(
            node.ask("role")[0] == "master" or node.ask("role")[3] == "connected"
            for node in self.nodes)

    def primaries(self):
        return [node for node in self.nodes if node.is_primary()]

    def owner(self, teller=None):
        for first, last, at, *_ in (teller or self.nodes[0]).ask(
                "cluster", "slots"):
            if first <= self.slot <= last:
                return next(n for n in self.nodes if n.port == at[1])
        return None

    def agree(self, owner):
        """What a node hears late of an owner ends what it imports."""
        return all(self.owner(node) is owner for node in self.nodes)

    def migrate(self, chance, pause):
        source = self.owner()
        target = chance.choice([n for n in self.primaries() if n is not source])
        there, here = (n.ask("cluster", "myid") for n in (target, source))
        target.ask("cluster", "setslot", self.slot, "importing", here)
        source.ask("cluster", "setslot", self.slot, "migrating", there)
        pause(chance.random() / 4)
        while True:
            keys = source.ask("cluster", "getkeysinslot", self.slot, 100)
            if not keys:
                break
            for key in keys:
                source.ask("migrate", "127.0.0.1", target.port, key, 0, 5000)
                pause(chance.random() / 20)
        pause(chance.random() / 4)
        target.ask("cluster", "setslot", self.slot, "node", there)
        source.ask("cluster", "setslot", self.slot, "node", there)
        wait_for(lambda: self.agree(target), "the slot to have moved")

    def failover(self):
        old = self.owner()
        here = old.ask("cluster", "myid")
        replica = next(n for n in self.nodes if any(
            "myself" in line and here in line
            for line in n.ask("cluster", "nodes").splitlines()) and n is not old)
        wait_for(lambda: replica.ask("cluster", "failover") == "OK", "a failover")
        wait_for(replica.is_primary, "the replica to be a primary")
        wait_for(lambda: self.agree(replica), "the nodes to know it")
        wait_for(self.is_ready, "the cluster")


def judge(log, ends, figures):
    runs = {}
    for what, at, _, name, _ in stamps(log):
        if what == "begin":
            runs[name] = [at, None]
        else:
            runs[name][1] = at
    inside = None
    for name, (begin, end) in sorted(runs.items(), key=lambda r: r[1][0]):
        if inside and begin < inside[1]:
            figures.fault("%s began %d us before the end of %s" % (
                name, inside[1] - begin, inside[0]))
        inside = (name, end or ends[name][1])
    return len(runs)


def cluster(rounds, folder, figures):
    servers = Cluster(folder)
    environment = dict(os.environ, RLOCK_URL="cluster://" + ",".join(
        "127.0.0.1:%d" % node.port for node in servers.nodes[:3]))
    log, ends = folder + "/log", {}
    counts, over = collections.Counter(), threading.Event()

    def loop(number):
        chance, n = random.Random(number), 0
        while not over.is_set():
            name, n = "%d.%d" % (number, n), n + 1
            begun = time.monotonic()
            status = done(rlock(
                "-k", KEY, "-t", 2, "-w", "60", "--replicas", "1", "--",
                STAMP, log, "span", name, chance.randrange(30),
                env=environment), 90)
            took = time.monotonic() - begun
            ends[name] = (status, int(boot() * 1e6))
            counts[status] += 1
            figures.add("wait and run", took * 1000)
            if status not in (0, 69, 76):
                figures.fault("%s: status %d" % (name, status))
            if took > WAIT_MAX:
                figures.fault("%s took %.1f s" % (name, took))

    loops = [threading.Thread(target=loop, args=(n,)) for n in range(LOOPS)]
    for one in loops:
        one.start()
    chance = random.Random("cluster %d" % os.getpid())
    try:
        for n in range(rounds):
            servers.migrate(chance, over.wait)
            counts["migrations"] += 1
            over.wait(chance.random() / 2)
            if n % 10 == 9:
                servers.failover()
                counts["failovers"] += 1
    finally:
        over.set()
        for one in loops:
            one.join()
    commands = judge(log, ends, figures)
    figures.show("wait and run")
    print("%d commands; %s" % (commands, ", ".join(
        "%s: %d" % (("status %d" % what) if isinstance(what, int) else what, n)
        for what, n in sorted(counts.items(), key=str))))

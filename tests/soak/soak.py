#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""soak.py: the promises of rlock, by the hundred, in parallel.

    soak.py partition|crash|signals|handover|mix|writers|redlock|failover|
            cluster [ROUNDS]

Each prints its figures and ends with status 1 when a promise was broken.
Without ROUNDS, or with 0, the numbers are the full ones (FULL, below).

partition   The server, or the way to it, stops answering while a command runs
            under a lease of 2 s.  The command stamps CLOCK_BOOTTIME into a
            file every 2 ms; its last stamp has to be before the end of the
            lease on the server.  That end is read there: PTTL + the moment
            before it was asked for, less 1 ms for rounding, so the margin is
            rather too small.  Ways: a proxy of its own for each round that
            freezes, or cuts and refuses, while PTTL is read behind it until
            the key is gone; and SIGSTOP to the server itself, one round at a
            time on each of several servers: PTTL is read right before, and a
            key event says whether a renewal came between: such a round is
            judged by nothing and done again.
crash       rlock is killed by SIGKILL at a random moment from its very start.
            A second later no process may run that has the round's name in its
            arguments (that is rlock, guard and command, also between fork and
            exec); the lock is free after the TTL (+ 100 ms for what was on its
            way); a successor that waits starts after the command's last stamp.
signals     TERM at random moments to a holder and two waiters, or to some of
            them.  Those end within END_MS, the others run; no process, no key, no queue entry is left; no
            command starts after the signal was sent.  A start is the first
            stamp of the command, from its own main(), so fork, exec and
            loading come before it: START_MS is allowed for them.
handover    20 loops contend for one lock, a run of each is a round; their
            commands write begin and end to one log.  No two overlap.  Order:
            MONITOR shows in which order the server carried out the first
            joins; of two that joined, the first to join has to be the first to
            begin.  Gap: from an end (or from the join, if that was later) to
            the next begin.
mix, writers
            See kinds.py.
redlock     See redlock.py.
cluster     See cluster.py.
failover    See failover.py; of another number a sixth is done.
"""
import bisect
import collections
import os
import random
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "progs")]
import proxy  # noqa: E402
from common import (BOUND, STAMP, Connection, Figures, Redis, boot,  # noqa: E402
                    done, end_all, in_parallel, keys_left, named, rlock,
                    stamps, wait_for)
from cluster import cluster  # noqa: E402,F401
from failover import failover  # noqa: E402,F401
from kinds import mix, writers  # noqa: E402,F401
from redlock import redlock  # noqa: E402,F401

FULL = {"partition": 200, "crash": 500, "signals": 500, "handover": 250,
        "mix": 125, "writers": 100, "redlock": 100,
        "failover": 20, "cluster": 50}
START_MS = 150      # from a signal that came too late to the first stamp
END_MS = 700        # a run ends so long after TERM at most
LATE_MS = 100       # the lock is free after the TTL and this at most

# --- a: partition -------------------------------------------------------------

TTL = 2.0


def judge(figures, how, n, log, lease_end):
    last = stamps(log)[-1][1] / 1000
    margin = lease_end * 1000 - last
    figures.add("margin, all", margin)
    figures.add("margin, " + how, margin)
    if margin <= 0:
        figures.fault("round %d (%s): a stamp %.1f ms after the lease" % (
            n, how, -margin))


def run_stamped(url, key, log, ignore):
    child = rlock("-u", url, "-k", key, "-t", "2s", "--", STAMP, log, "beat",
                  "2", *(["ignore"] if ignore else []))
    wait_for(lambda: stamps(log), "the command")
    return child


def ended_by_loss(figures, n, child):
    status = done(child)
    if status != 76:
        figures.fault("round %d: status %d, not 76" % (n, status))


def partition_proxied(folder, redis, hub, figures, n):
    chance = random.Random("partition %d %d" % (n, os.getpid()))
    key, log = "part%d" % n, "%s/part%d.log" % (folder, n)
    how = ("freeze", "cut")[n % 2]
    ignore = n // 2 % 2
    relay = proxy.Relay(hub, "%s/p%d.sock" % (folder, n), redis.path)
    try:
        child = run_stamped("unix://" + relay.address, key, log, ignore)
        time.sleep(chance.uniform(0, 1.5))
        relay.set("freeze" if how == "freeze" else "refuse")
        lease_end = 0
        while True:
            before = boot()
            left = redis.ask("pttl", "lock:" + key)
            if left < 0:
                break
            lease_end = max(lease_end, before + (left - 1) / 1000)
            time.sleep(0.1)
        ended_by_loss(figures, n, child)
    finally:
        relay.close()
    judge(figures, "proxy " + how + (", TERM ignored" if ignore else ""), n,
          log, lease_end)


def partition_stopped(folder, redis, figures, n):
    chance = random.Random("stopped %d %d" % (n, os.getpid()))
    for attempt in range(10):
        key = "stop%d.%d" % (n, attempt)
        log = "%s/%s.log" % (folder, key)
        ignore = n % 2
        events = Events(redis, "lock:" + key)
        child = run_stamped(redis.url, key, log, ignore)
        time.sleep(chance.uniform(0, 1.5))
        events.renewals(0)
        before = boot()
        left = redis.ask("pttl", "lock:" + key)
        redis.freeze()
        try:
            renewed = events.renewals(0.05)
            ended_by_loss(figures, n, child)
        finally:
            redis.thaw()
        if not renewed and left > 0:
            judge(figures, "SIGSTOP" + (", TERM ignored" if ignore else ""),
                  n, log, before + (left - 1) / 1000)
            return
        figures.add("not judged", 1)
    figures.fault("round %d: never without a renewal at the moment" % n)


class Events:
    """The messages about one key: "expire" comes with each renewal."""

    def __init__(self, redis, key):
        connection = Connection(redis.path)
        connection.ask("subscribe", "__keyspace@0__:" + key)
        self.socket = connection.socket

    def renewals(self, seconds):
        """How many there were since the last call, up to now + seconds."""
        self.socket.settimeout(seconds or 0.001)
        text = b""
        try:
            while True:
                text += self.socket.recv(65536)
        except (TimeoutError, socket.timeout):
            return text.count(b"expire")


def partition(rounds, folder, figures):
    servers = [Redis(folder, "s%d" % i, "--notify-keyspace-events", "Kgx")
               for i in range(4)]
    redis, hub = Redis(folder), proxy.Hub()
    stopped = rounds * 2 // 5
    turn = [threading.Lock() for _ in servers]

    def one(n):
        if n < stopped:
            with turn[n % len(servers)]:
                partition_stopped(folder, servers[n % len(servers)], figures,
                                  n)
        else:
            partition_proxied(folder, redis, hub, figures, n)

    # The stopped ones wait for their servers: spread among the others.
    order = list(range(rounds))
    random.shuffle(order)
    in_parallel(rounds, 14, lambda i: one(order[i]), figures)
    print("partition: %d rounds judged, TTL 2 s; late: %d; done again since "
          "a renewal fell into the moment: %d" % (
              figures.count("margin, all"),
              sum(m <= 0 for m in figures.values["margin, all"]),
              figures.count("not judged")))
    for name in sorted(figures.values):
        if name.startswith("margin"):
            figures.show(name)


# --- b: crash -----------------------------------------------------------------

def crash(rounds, folder, figures):
    redis = Redis(folder)
    ttl = 1.0

    def one(n):
        chance = random.Random("crash %d %d" % (n, os.getpid()))
        key = "crash%d.%d." % (n, os.getpid())
        log, log2 = ("%s/%s%s" % (folder, key, x) for x in "ab")
        # Most of them while it starts; the others while it holds and renews.
        delay = chance.choice((chance.uniform(0, 0.012),
                               chance.uniform(0, 0.05),
                               chance.uniform(0.05, 1.5)))
        # A group with more than one process, one of which ignores TERM.
        child = rlock("-u", redis.url, "-k", key, "-t", "1s", "--", "sh", "-c",
                      '"$0" "$1" beat 5 ignore & "$0" "$1" beat 5; :', STAMP,
                      log)
        time.sleep(delay)
        successor = None
        if n % 2:
            successor = rlock("-u", redis.url, "-k", key, "-w", "30", "--",
                              STAMP, log2, "span", "next", "0")
        killed = boot()
        child.kill()
        done(child)
        if successor is not None:
            status = done(successor)
            begun = stamps(log2)
            if status != 0 or not begun:
                figures.fault("round %d: successor: status %d" % (n, status))
            else:
                wait = begun[0][1] / 1000 - killed * 1000
                figures.add("successor begins after the kill", wait)
                if wait > (ttl * 1000 + LATE_MS + 300):
                    figures.fault("round %d: successor after %.0f ms" % (
                        n, wait))
                old = stamps(log)
                if old and old[-1][1] >= begun[0][1]:
                    figures.fault("round %d: overlap of %.1f ms" % (
                        n, (old[-1][1] - begun[0][1]) / 1000))
        else:
            left = redis.ask("pttl", "lock:" + key)
            if left > ttl * 1000:
                figures.fault("round %d: PTTL %d" % (n, left))
            wait_for(lambda: not redis.ask("exists", "lock:" + key),
                     "the lock to lapse", 5)
            figures.add("free after the kill", (boot() - killed) * 1000)
            if boot() - killed > ttl + LATE_MS / 1000:
                figures.fault("round %d: free after %.0f ms" % (
                    n, (boot() - killed) * 1000))
        time.sleep(max(0, killed + 1 - boot()))
        alive = named(key)
        if alive:
            figures.fault("round %d: alive a second later: %s" % (n, alive))
            for pid in alive:
                os.kill(pid, signal.SIGKILL)
        old = stamps(log)
        figures.add("had started" if old else "had not started", 1)
        if old:
            figures.add("last stamp after the kill",
                        old[-1][1] / 1000 - killed * 1000)
        if keys_left(redis, key):
            figures.fault("round %d: keys are left" % n)

    in_parallel(rounds, 16, one, figures)
    print("crash: %d rounds, TTL 1 s; the command had started in %d" % (
        rounds, figures.count("had started")))
    figures.show("last stamp after the kill")
    figures.show("free after the kill")
    figures.show("successor begins after the kill")


# --- c: signals ---------------------------------------------------------------

def all_ended(children, ended):
    for name, child in children.items():
        if name not in ended and child.poll() is not None:
            ended[name] = boot()
    return len(ended) == len(children)


def signals(rounds, folder, figures):
    redis = Redis(folder)

    def one(n):
        chance = random.Random("signals %d %d" % (n, os.getpid()))
        key = "sig%d.%d." % (n, os.getpid())
        who = ("holder", "first", "second")
        # Who gets one, and when after its own start; the others run through.
        hit = [name for name in who if chance.random() < 0.7] or ["holder"]
        plan, children = [], {}
        for name in who:
            if name in hit:
                plan.append((chance.choice((chance.uniform(0, 0.012),
                                            chance.uniform(0, 0.2))), name))
        for name in who:
            children[name] = rlock(
                "-u", redis.url, "-k", key, "-t", "5s", "--", STAMP,
                "%s/%s%s" % (folder, key, name), "span", name,
                str(chance.randrange(60)))
            time.sleep(chance.uniform(0, 0.006))
        began, sent, ended = boot(), {}, {}
        for delay, name in sorted(plan):
            wait_for(lambda: all_ended(children, ended) or
                     boot() >= began + delay, "the moment", 20)
            if children[name].poll() is None:
                sent[name] = boot()
                children[name].send_signal(signal.SIGTERM)
        wait_for(lambda: all_ended(children, ended), "three runs to end", 20)
        for name in who:
            status = done(children[name])
            if ended[name] - began > 3:
                figures.fault("round %d: %s took %.1f s, as if it had waited "
                              "for the TTL" % (n, name, ended[name] - began))
            log = stamps("%s/%s%s" % (folder, key, name))
            if name not in sent:
                if status != 0 or len(log) != 2:
                    figures.fault("round %d: %s was not sent a signal: "
                                  "status %d, %d stamps" % (
                                      n, name, status, len(log)))
                continue
            if status not in (0, -signal.SIGTERM):
                figures.fault("round %d: %s: status %d" % (n, name, status))
            took = (ended[name] - sent[name]) * 1000
            figures.add("ended after the signal", took)
            if took > END_MS:
                figures.fault("round %d: %s ended %.0f ms after the signal" % (
                    n, name, took))
            if log:
                late = log[0][1] / 1000 - sent[name] * 1000
                figures.add("it was running", 1)
                if late > 0:
                    figures.add("first stamp after the signal", late)
                if late > START_MS:
                    figures.fault("round %d: %s started %.1f ms after the "
                                  "signal" % (n, name, late))
            else:
                figures.add("it had not started", 1)
        alive = named(key)
        if alive:
            # One that was killed is gone as soon as the kernel comes to it.
            wait_for(lambda: not named(key), "processes to end", 1)
        if keys_left(redis, key):
            figures.fault("round %d: keys are left: %s; sent to %s" % (n, [
                redis.ask("get", "lock:" + key),
                redis.ask("zrange", "rlock:queue:{lock:%s}" % key, 0, -1)],
                [(name, children[name].pid, round((at - began) * 1000, 1),
                  [(e[0], round(e[1] / 1000 - at * 1000, 1)) for e in stamps(
                      "%s/%s%s" % (folder, key, name))])
                 for name, at in sent.items()]))

    in_parallel(rounds, 8, one, figures)
    left = redis.ask("dbsize")
    if left:
        figures.fault("%d keys are left" % left)
    print("signals: %d rounds of 3 runs, %d TERM sent; the command was or had "
          "been running in %d, was never started in %d" % (
              rounds, figures.count("ended after the signal"),
              figures.count("it was running"),
              figures.count("it had not started")))
    figures.show("ended after the signal")
    figures.show("first stamp after the signal")


# --- d: handover --------------------------------------------------------------

class Monitor(threading.Thread):
    """The order in which the server carried out the first joins."""

    # EVAL of acquire: ... entry join ticket ...; the join is 1.
    JOIN = re.compile(rb'^\+?(\d+\.\d+) \[\d+ [^l][^]]*\] "EVAL" .*"x0:\d+:0:'
                      rb'rlock:1:([0-9a-f]{32}):[^"]*" "1" "\d+" ')

    def __init__(self, path):
        super().__init__(daemon=True)
        self.connection = Connection(path)
        self.connection.ask("monitor")
        self.joins = {}         # token: (order, boot time)
        self.commands = collections.Counter()
        self.offset = time.time() - boot()

    def run(self):
        name = re.compile(rb'^\+?[\d.]+ \[\d+ [^l][^]]*\] "(\w+)"')
        for line in self.connection.file:
            match = name.match(line)
            if match:
                self.commands[match[1].decode().upper()] += 1
                if match[1].upper() == b"PING":
                    return
            match = self.JOIN.match(line)
            if match and match[2] not in self.joins:
                self.joins[match[2].decode()] = (
                    len(self.joins), float(match[1]) - self.offset)


def inversions(joined):
    """Of tokens' join orders in the order of begin: who was overtaken."""
    found, ahead = 0, []
    for order in joined:
        found += len(ahead) - bisect.bisect(ahead, order)
        bisect.insort(ahead, order)
    return found


def handover(rounds, folder, figures):
    redis = Redis(folder)
    monitor = Monitor(redis.path)
    monitor.start()
    log, loops, before = folder + "/log", 20, boot()

    def loop(n):
        for _ in range(rounds):
            child = rlock("-u", redis.url, "-k", "hand", "-t", "30", "-w",
                          "60", "--", STAMP, log, "span", "l%d" % n, "1")
            status = done(child, 90)
            if status != 0:
                figures.fault("loop %d: status %d" % (n, status))

    in_parallel(loops, loops, loop, figures)
    took = boot() - before
    redis.ask("ping")
    monitor.join(BOUND)
    events = stamps(log)
    judge_order(events, monitor, figures)
    if redis.ask("dbsize"):
        figures.fault("keys are left")
    runs = loops * rounds
    if len(events) != 2 * runs:
        figures.fault("%d stamps of %d runs" % (len(events), runs))
    print("handover: %d runs by %d loops in %.1f s; %d overlaps, %d of %d "
          "that joined were overtaken, gaps of a second or more: %d" % (
              runs, loops, took, figures.count("overlap"),
              sum(figures.values["overtaken"]), len(monitor.joins),
              sum(g >= 1000 for g in figures.values["gap"])))
    figures.show("gap")
    print("commands: " + ", ".join("%s %d" % pair
                                   for pair in sorted(
                                       monitor.commands.items())))


def judge_order(events, monitor, figures):
    inside, last_end, order = None, None, []
    for what, at, _, name, token in sorted(events, key=lambda e: e[1]):
        if what == "begin":
            if inside is not None:
                figures.add("overlap", 1)
                figures.fault("%s begins while %s runs" % (token, inside))
            inside = token
            joined = monitor.joins.get(token.strip())
            if joined is not None:
                order.append(joined[0])
            if last_end is not None and joined is not None:
                since = max(last_end, joined[1] * 1e6)
                gap = (at - since) / 1000
                figures.add("gap", gap)
                if gap >= 1000:
                    figures.fault("a gap of %.0f ms" % gap)
        else:
            inside, last_end = None, at
    overtaken = inversions(order)
    figures.add("overtaken", overtaken)
    if overtaken:
        figures.fault("%d overtaken" % overtaken)


def main():
    what = sys.argv[1]
    rounds = int(sys.argv[2] if len(sys.argv) > 2 and sys.argv[2] else 0)
    if what == "failover" and rounds:
        rounds = max(3, rounds // 6)    # each takes ten seconds
    rounds = rounds or FULL[what]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    for name in list(os.environ):
        if name.startswith("RLOCK_") or name == "REDISCLI_AUTH":
            del os.environ[name]
    folder, figures = tempfile.mkdtemp(prefix="rlock.", dir="/tmp"), Figures()
    try:
        globals()[what](rounds, folder, figures)
    finally:
        end_all()
        shutil.rmtree(folder, ignore_errors=True)
    for text in figures.broken[:20]:
        print("broken: " + text)
    print("%s: %d broken" % (what, len(figures.broken)))
    sys.stdout.flush()
    return 1 if figures.broken else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""kinds.py: rounds of soak.py with locks of all kinds.

mix         16 loops take locks of all kinds at random: exclusive and shared on
            one key, three slots on another, nested runs, with and without
            --fence and --min-hold; a round is a run.  One in twenty is killed
            by SIGKILL at a random moment.  The commands log begin and end.
            Judged: no writer with anyone, at most three slots at once, no slot
            twice; of two runs that can't hold it together the later one has the
            greater fence; no key that rlock has
            written is ever without an expiry (looked at all the while, by one
            script); at the end nothing is left but fences.  A killed run ends,
            for this, when it was killed: its lease lasts longer.
writers     Readers come in a steady stream.  A round: a writer comes, and is
            seen in the queue; no reader that was started after that begins
            before it.
"""
import collections
import os
import random
import threading
import time

from common import (BOUND, RLOCK, STAMP, Redis, boot, done, in_parallel, rlock,
                    wait_for)

NEVER = float("inf")
TTL = "1"
PERSISTENT = """
local out = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  if redis.call('PTTL', key) == -1 then out[#out + 1] = key end
end
return out"""


class Span:
    """A run's command: from begin to end, in microseconds."""

    def __init__(self, key, kind, begin, slot, fence):
        self.key, self.kind, self.begin = key, kind, begin
        self.slot, self.fence, self.end = slot, fence, NEVER


def spans(log, killed):
    """Those of a log; names are KEY.KIND.NUMBER."""
    found = {}
    with open(log, encoding="ascii") as file:
        for line in file:
            what, at, _, name, _, slot, fence = line.split()
            key, kind, _ = name.split(".")
            if what == "begin":
                found[name] = Span(key, kind, int(at), slot, fence)
            else:
                found[name].end = int(at)
    for name, at in killed.items():
        if name in found:
            found[name].end = min(found[name].end, max(
                at, found[name].begin))
    return found.values()


def never_together(a, b):
    """Must one of them have given the lock back before the other got it?"""
    return "x" in (a.kind, b.kind) or a.kind == "j" and a.slot == b.slot


def judge(runs, figures):
    """Exclusion and fences of the runs of one key."""
    inside = []
    numbered = []
    for run in sorted(runs, key=lambda r: r.begin):
        inside = [r for r in inside if r.end > run.begin]
        if inside and "x" in run.kind + "".join(r.kind for r in inside):
            figures.fault("%s: a writer is not alone" % run.key)
        if run.kind == "j":
            slots = [r.slot for r in inside] + [run.slot]
            if len(slots) > 3 or len(set(slots)) < len(slots):
                figures.fault("slots %s at once" % slots)
        inside.append(run)
        if run.fence != "-":
            before = max([int(r.fence) for r in numbered if r.end < run.begin
                          and never_together(r, run)], default=0)
            if int(run.fence) <= before:
                figures.fault("%s: fence %s after %d" % (
                    run.key, run.fence, before))
            numbered.append(run)


def mix(rounds, folder, figures):
    redis = Redis(folder)
    log, killed, stop = folder + "/log", {}, threading.Event()
    counts = collections.Counter()

    def watch():
        while not stop.is_set():
            left = redis.ask("eval", PERSISTENT, 0)
            figures.add("looks for a key without expiry", len(left))
            if left:
                figures.fault("without expiry: %s" % left)
            time.sleep(0.002)

    def one(n):
        chance = random.Random(n)
        kind = chance.choice("xssjjn")
        key = {"x": "one", "s": "one", "n": "one", "j": "three"}[kind]
        name = "%s.%s.%d" % (key, "x" if kind == "n" else kind, n)
        options = ["-k", key, "-t", TTL, "-w", "60"]
        options += {"s": ["-s"], "j": ["-j", "3"]}.get(kind, [])
        if chance.random() < 0.5:
            options.append("--fence")
        if kind in "xj" and chance.random() < 0.1:
            options += ["--min-hold", "20ms"]
        command = [STAMP, log, "span", name, str(chance.randrange(3))]
        if kind == "n":
            command = [RLOCK, *options, "--", *command]
        child = rlock("-u", redis.url, *options, "--", *command,
                      env=dict(os.environ, RLOCK_URL=redis.url))
        if chance.random() < 0.05:
            time.sleep(chance.random() * 0.03)
            child.kill()
            killed[name] = int(boot() * 1e6)
            counts["killed"] += 1
            done(child)
            return
        status = done(child, 90)
        counts[kind] += 1
        if status != 0:
            figures.fault("%s: status %d" % (name, status))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    before = boot()
    in_parallel(rounds, 16, one, figures)
    took = boot() - before
    wait_for(lambda: all(key.startswith("rlock:fence:")
                         for key in redis.ask("keys", "*")),
             "the last leases to end", 5)
    stop.set()
    watcher.join(BOUND)
    for key in redis.ask("keys", "*"):
        if int(redis.ask("pttl", key)) <= 0:
            figures.fault("%s has no expiry" % key)
    runs = spans(log, killed)
    for key in ("one", "three"):
        judge([r for r in runs if r.key == key], figures)
    print("mix: %d runs in %.1f s: %d exclusive, %d nested, %d shared, "
          "%d in slots, %d killed; %d looks for keys without expiry" % (
              rounds, took, counts["x"], counts["n"], counts["s"],
              counts["j"], counts["killed"],
              figures.count("looks for a key without expiry")))


def writers(rounds, folder, figures):
    redis = Redis(folder)
    stop, began, lock = threading.Event(), {}, threading.Lock()
    log, queue = folder + "/log", "rlock:queue:{lock:file}"
    number = iter(range(10 ** 9))

    def reader():
        while not stop.is_set():
            with lock:
                name = "file.s.%d" % next(number)
                began[name] = boot() * 1e6
            done(rlock("-u", redis.url, "-k", "file", "-s", "-t", "5", "-w",
                       "60", "--", STAMP, log, "span", name, "3"))

    readers = [threading.Thread(target=reader, daemon=True) for _ in range(6)]
    for thread in readers:
        thread.start()
    seen = {}
    for n in range(rounds):
        name = "file.x.%d" % n
        child = rlock("-u", redis.url, "-k", "file", "-t", "5", "-w", "60",
                      "--", STAMP, log, "span", name, "1")

        def queued():
            return child.poll() is not None or any(
                e.startswith("x0:") for e in redis.ask("zrange", queue, 0, -1))

        wait_for(queued, "the writer in the queue")
        seen[name] = boot() * 1e6
        if done(child) != 0:
            figures.fault("a writer failed")
    stop.set()
    for thread in readers:
        thread.join(BOUND)
    begins = {}
    with open(log, encoding="ascii") as file:
        for line in file:
            what, at, _, name = line.split()[:4]
            if what == "begin":
                begins[name] = int(at)
    late = sorted((at, begins[name]) for name, at in began.items()
                  if name in begins)
    for name, at in seen.items():
        overtook = sum(at < started and begin < begins[name]
                       for started, begin in late)
        figures.add("wait", (begins[name] - at) / 1000)
        if overtook:
            figures.fault("%s: %d readers that came later were first" % (
                name, overtook))
    if redis.ask("dbsize"):
        figures.fault("keys are left")
    print("writers: %d rounds among %d readers" % (rounds, len(late)))
    figures.show("wait")

# SPDX-License-Identifier: MIT
"""kinds.py: rounds of soak.py with locks of all kinds.

mix         16 loops take locks of all kinds at random: exclusive and shared on
            two keys, three slots on two others, runs nested in one another,
            with and without --fence and --min-hold; a round is a run of each
            loop.  One run in twenty is killed by SIGKILL at a random moment of
            its start, its wait or its command.  The commands log begin and
            end.  Judged: no writer with anyone, at most three slots at once,
            no slot twice; of two runs that can't hold it together the later
            one has the greater fence, and no fence comes twice; no key that
            rlock has written is ever without an expiry (looked at all the
            while, by one script); at the end, after the leases of the killed
            and one more run on each key, nothing is left but fences.  A killed
            run ends, for this, with the last line that its command wrote, or
            when it was killed if that was later: its lease lasts longer.
writers     Readers come in a steady stream.  A round: a writer comes, and is
            seen in the queue; the readers that hold the lock end before it
            begins, no reader that was started after that begins before it.  A
            round whose writer had not to wait, or in which no later reader was
            started in time, shows nothing and is done again.
"""
import collections
import os
import random
import threading
import time

from common import (BOUND, RLOCK, STAMP, Redis, boot, done, in_parallel, rlock,
                    stamps, wait_for)

NEVER = float("inf")
LOOPS = 16
SLOTS = 3
# What has no expiry, and what there is.
LOOK = """
local out, all = {}, redis.call('KEYS', '*')
for _, key in ipairs(all) do
  if redis.call('PTTL', key) == -1 then out[#out + 1] = key end
end
return {out, all}"""
# Kinds of a run, the outer ones first; what it is for the others; its key.
KINDS = {"x": ("x", "rw"), "s": ("s", "rw"), "j": ("j", "slots"),
         "xx": ("x", "rw"), "xs": ("x", "rw"), "ss": ("s", "rw")}
OPTIONS = {"x": [], "s": ["-s"], "j": ["-j", str(SLOTS)]}


class Span:
    """A run's command: from begin to end, in microseconds."""

    def __init__(self, name, begin, slot, fence):
        self.name, self.begin, self.end = name, begin, NEVER
        self.key, self.kind, _ = name.split(".")
        self.slot, self.fence = slot, fence


def spans(log, killed):
    """Those of a log; names are KEY.KIND.NUMBER."""
    found = {}
    with open(log, encoding="ascii") as file:
        for line in file:
            what, at, _, name, _, slot, fence = line.split()
            if what == "begin":
                found[name] = Span(name, int(at), slot, fence)
            else:
                found[name].end = int(at)
    for name, at in killed.items():
        if name in found and found[name].end == NEVER:
            found[name].end = max(at, found[name].begin)
    return found


def never_together(a, b):
    """Must one of them have given the lock back before the other got it?"""
    return "x" in (a.kind, b.kind) or a.kind == "j" and a.slot == b.slot


def judge(runs, figures):
    """Exclusion and fences of the runs of one key."""
    inside, numbered = [], []
    for run in sorted(runs, key=lambda r: r.begin):
        inside = [r for r in inside if r.end > run.begin]
        if inside and "x" in run.kind + "".join(r.kind for r in inside):
            figures.fault("%s: a writer is not alone: %s" % (
                run.name, [r.name for r in inside]))
        if run.slot not in (map(str, range(SLOTS)) if run.kind == "j" else "-"):
            figures.fault("%s: slot %s" % (run.name, run.slot))
        inside.append(run)
        slots = [r.slot for r in inside if r.kind == "j"]
        if len(set(slots)) < len(slots):
            figures.fault("%s: slots %s at once" % (run.name, slots))
        figures.add("at once, " + run.kind, len(inside))
        if run.fence != "-":
            before = max([int(r.fence) for r in numbered if r.end < run.begin
                          and never_together(r, run)], default=0)
            if int(run.fence) <= before:
                figures.fault("%s: fence %s after %d" % (
                    run.name, run.fence, before))
            numbered.append(run)
    fences = collections.Counter(r.fence for r in numbered)
    for fence, n in fences.items():
        if n > 1:
            figures.fault("fence %s is there %d times" % (fence, n))


class Watch(threading.Thread):
    """Looks at all keys every few ms: none is without an expiry."""

    def __init__(self, redis, figures):
        super().__init__(daemon=True)
        self.redis, self.figures = redis, figures
        self.over = threading.Event()
        self.looks, self.seen = 0, collections.Counter()

    def run(self):
        try:
            while not self.over.wait(0.003):
                bare, keys = self.redis.ask("eval", LOOK, 0)
                self.looks += 1
                self.seen.update({k.split(":")[1] if k.startswith("rlock:")
                                  else k.rstrip("01") for k in keys})
                for key in bare:
                    self.figures.fault("%s has no expiry" % key)
        except Exception as error:  # a watch that ended has seen nothing
            self.figures.fault("the watch: %s" % error)

    def finish(self):
        self.over.set()
        self.join(BOUND)
        return "%d looks, with %s" % (self.looks, ", ".join(
            "%s %d" % pair for pair in sorted(self.seen.items())))


class Mix:
    """What the runs of it share."""

    def __init__(self, redis, folder, figures):
        self.redis, self.figures = redis, figures
        self.log, self.killed = folder + "/log", {}
        self.counts = collections.Counter()
        self.environment = dict(os.environ, RLOCK_URL=redis.url)
        self.lock = threading.Lock()

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def start(self, chance, kinds, name, ms):
        key = name.split(".")[0]
        command = [STAMP, self.log, "span", name, str(ms)]
        for kind in reversed(kinds):
            options = ["-k", key, "-t", "1", "-w", "60", *OPTIONS[kind]]
            if chance.random() < 0.5:
                options.append("--fence")
            if kind != "s" and chance.random() < 0.1:
                options += ["--min-hold", "20ms"]
            command = [RLOCK, *options, "--", *command]
        return rlock(*command[1:], env=self.environment)

    def one(self, n):
        chance = random.Random("mix %d %d" % (n, os.getpid()))
        kinds = chance.choice([*KINDS, "s", "s", "ss", "ss", "j", "j"])
        kind, key = KINDS[kinds]
        name = "%s%d.%s.%d" % (key, chance.randrange(2), kind, n)
        if chance.random() < 0.05:
            self.kill(chance, kinds, name)
            return
        status = done(self.start(chance, kinds, name, chance.randrange(5)), 90)
        self.count(kinds)
        if status != 0:
            self.figures.fault("%s: status %d" % (name, status))

    def kill(self, chance, kinds, name):
        child = self.start(chance, kinds, name, chance.randrange(60))
        if chance.random() < 0.5:   # its start, its wait
            time.sleep(chance.choice((0.005, 0.05)) * chance.random())
        else:                       # its command
            wait_for(lambda: child.poll() is not None or any(
                e[3] == name for e in stamps(self.log)), "the command")
            time.sleep(0.06 * chance.random())
        if child.poll() is None:
            child.kill()
            self.killed[name] = int(boot() * 1e6)
            self.count("killed")
        done(child)


def mix(rounds, folder, figures):
    redis = Redis(folder)
    watch, runs = Watch(redis, figures), Mix(redis, folder, figures)
    watch.start()
    before = boot()
    in_parallel(rounds * LOOPS, LOOPS, runs.one, figures)
    took = boot() - before
    # What is dead in a queue goes when somebody comes, or after two minutes.
    for n, kind in enumerate("xjxj"):
        name = "%s%d.%s.%d" % (KINDS[kind][1], n // 2, kind, rounds * LOOPS + n)
        if done(runs.start(random.Random(), kind, name, 0)) != 0:
            figures.fault("%s, the last one, failed" % name)
    wait_for(lambda: all(key.startswith("rlock:fence:")
                         for key in redis.ask("keys", "*")),
             "the last leases to end", 5)
    looks = watch.finish()
    for key in redis.ask("keys", "*"):
        if int(redis.ask("pttl", key)) <= 0:
            figures.fault("%s has no expiry" % key)
    if redis.ask("pubsub", "channels"):
        figures.fault("somebody listens still")
    found = spans(runs.log, runs.killed)
    for run in found.values():
        if run.end == NEVER:
            figures.fault("%s never ended" % run.name)
    for key in sorted({run.key for run in found.values()}):
        judge([run for run in found.values() if run.key == key], figures)
    begun = sum(name in found for name in runs.killed)
    print("mix: %d runs in %.1f s: %s (%d of them had begun); at most %d "
          "readers and %d slots at once" % (
              rounds * LOOPS, took, ", ".join(
                  "%s %d" % pair for pair in sorted(runs.counts.items())),
              begun, max(figures.values["at once, s"]),
              max(figures.values["at once, j"])))
    print("expiry: " + looks)


class Stream:
    """Readers that come one after the other, as many at a time as threads."""

    def __init__(self, redis, log, width):
        self.redis, self.log = redis, log
        self.over, self.lock = threading.Event(), threading.Lock()
        self.started, self.failed = {}, []
        self.threads = [threading.Thread(target=self.run, daemon=True)
                        for _ in range(width)]
        for thread in self.threads:
            thread.start()

    def run(self):
        while not self.over.is_set():
            with self.lock:
                name = "file.s.%d" % len(self.started)
                self.started[name] = boot() * 1e6
            if done(rlock("-u", self.redis.url, "-k", "file", "-s", "-t", "5",
                          "-w", "60", "--", STAMP, self.log, "span", name,
                          "10")) != 0:
                self.failed.append(name)

    def finish(self):
        self.over.set()
        for thread in self.threads:
            thread.join(BOUND)


def writers(rounds, folder, figures):
    redis, log = Redis(folder), folder + "/log"
    queue, seen = "rlock:queue:{lock:file}", {}
    readers = Stream(redis, log, 6)

    def waits(child):
        return any(entry.startswith("x0:")
                   for entry in redis.ask("zrange", queue, 0, -1))

    def one(n):
        """A writer; did it wait, and a reader come after it in time?"""
        name = "file.x.%d" % n
        child = rlock("-u", redis.url, "-k", "file", "-t", "5", "-w", "60",
                      "--", STAMP, log, "span", name, "1")
        in_line = []
        wait_for(lambda: in_line or child.poll() is not None or
                 waits(child) and in_line.append(boot() * 1e6), "the writer")
        if done(child) != 0:
            figures.fault("%s failed" % name)
        if not in_line:
            return False
        begin = next((e[1] for e in stamps(log)
                      if e[0] == "begin" and e[3] == name), 0)
        if not any(in_line[0] < at < begin
                   for at in list(readers.started.values())):
            return False
        seen[name] = in_line[0]
        return True

    tries = 0
    while len(seen) < rounds and tries < 10 * rounds:
        one(tries)
        tries += 1
    readers.finish()
    found = spans(log, {})
    judge(found.values(), figures)
    if len(seen) < rounds:
        figures.fault("only %d writers had to wait" % len(seen))
    for name in readers.failed:
        figures.fault("%s failed" % name)
    for name, at in seen.items():
        overtook = [reader for reader, started in readers.started.items()
                    if at < started and reader in found
                    and found[reader].begin < found[name].begin]
        if overtook:
            figures.fault("%s: came later and was first: %s" % (
                name, overtook))
        figures.add("wait", (found[name].begin - at) / 1000)
        figures.add("readers before it", sum(
            r.kind == "s" and r.begin < at < r.end for r in found.values()))
    if redis.ask("dbsize"):
        figures.fault("keys are left")
    print("writers: %d rounds, and %d that showed nothing, among %d readers" % (
        len(seen), tries - len(seen), len(readers.started)))
    figures.show("wait")
    figures.show("readers before it", "at once")

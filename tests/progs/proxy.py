#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""proxy.py: a relay to a server whose faults can be switched on and off.

    proxy.py --listen ADDRESS --to ADDRESS --dir DIR

An ADDRESS is a socket's path, HOST:PORT or [HOST]:PORT; port 0 takes a free
one.  DIR gets: ctl, a FIFO that takes one command a line; ack, a FIFO that
gives one line for each ("ok", a number, or what was wrong); pid; and last of
all `port`, which says that the proxy listens ("0" for a path).  tests/lib/net.bash
has a wrapper for bats.  It ends when it gets TERM, when DIR is gone, or when the
process --owner PID is.

    pass            relay (so it starts); also ends each of those below
    freeze          take connections and bytes, pass on nothing; what came
                    meanwhile is passed on by the next `pass`
    mute            pass on requests, hold back replies until `pass`
    delay MS        pass on each reply MS milliseconds later
    swallow         the next reply, and what follows it on that connection,
                    vanishes; the requests go on
    lose            the next reply vanishes and its connection is closed
    lose-reset      the same by RST
    cut             close all connections, on both sides
    cut-behind      the same, but requests held back are passed on first
    reset           the same as cut by RST (SO_LINGER 0)
    refuse          close the listener and all connections; `pass` reopens
    count           how many connections there have been
    open            how many there are
    wait-lost       wait (5 s) until the swallow or lose has had its reply

As a module it gives Hub (a thread that moves the bytes) and Relay.
"""
import argparse
import collections
import os
import queue
import selectors
import signal
import socket
import struct
import sys
import threading
import time

CHUNK = 65536


def parse_address(text):
    """A path as it is, or (host, port)."""
    if "/" in text:
        return text
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def make_socket(address):
    if isinstance(address, str):
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    return socket.socket(family, socket.SOCK_STREAM)


def close_by_reset(sock):
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
    except OSError:
        pass
    sock.close()


class Pipe:
    """One direction of a connection: bytes that wait for their time."""

    def __init__(self):
        self.waiting = collections.deque()  # (when, bytes)
        self.ended = False      # no more will come
        self.shut = False       # told the other side so


class Pair:
    """A client's connection and ours to the server."""

    def __init__(self, client, server):
        self.client, self.server = client, server
        self.up, self.down = Pipe(), Pipe()
        self.mute = False       # its replies vanish


class Hub:
    """The thread that moves the bytes of any number of relays."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.relays = set()
        self.calls = queue.Queue()
        self.wake_r, self.wake_w = os.pipe()
        os.set_blocking(self.wake_w, False)
        self.selector.register(self.wake_r, selectors.EVENT_READ, None)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def call(self, function):
        """Run it in the hub's thread; returns what it returns."""
        done, result = threading.Event(), []

        def wrapped():
            try:
                result.append(function())
            except Exception as error:  # told to the caller
                result.append(error)
            done.set()

        self.calls.put(wrapped)
        try:
            os.write(self.wake_w, b"x")
        except BlockingIOError:
            pass
        if not done.wait(10):
            raise TimeoutError("the proxy's thread does not answer")
        if isinstance(result[0], Exception):
            raise result[0]
        return result[0]

    def _run(self):
        while True:
            timeout = None
            for relay in self.relays:
                due = relay.flush()
                if due is not None and (timeout is None or due < timeout):
                    timeout = due
            for key, _ in self.selector.select(timeout):
                if key.data is None:
                    os.read(self.wake_r, 4096)
                else:
                    key.data()
            while True:
                try:
                    self.calls.get_nowait()()
                except queue.Empty:
                    break


class Relay:
    """One listener, one server behind it, one mode."""

    def __init__(self, hub, listen, to):
        self.hub, self.address, self.to = hub, listen, to
        self.mode, self.delay, self.armed = "pass", 0.0, None
        self.count, self.lost = 0, threading.Event()
        self.pairs, self.listener, self.port = set(), None, 0
        hub.call(self._start)

    # -- control; from any thread

    def set(self, mode, argument=0):
        """Switch; when it returns, it is so."""
        return self.hub.call(lambda: self._set(mode, argument))

    def close(self):
        self.hub.call(self._close)

    # -- in the hub's thread

    def _start(self):
        self._listen()
        self.hub.relays.add(self)

    def _listen(self):
        if self.listener is not None:
            return
        listener = make_socket(self.address)
        if isinstance(self.address, str):
            if os.path.exists(self.address):
                os.unlink(self.address)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(self.address)
        listener.listen(512)
        listener.setblocking(False)
        if not isinstance(self.address, str):
            self.port = listener.getsockname()[1]
            self.address = (self.address[0], self.port)
        self.listener = listener
        self.hub.selector.register(listener, selectors.EVENT_READ,
                                   self._accept)

    def _unlisten(self):
        if self.listener is None:
            return
        self.hub.selector.unregister(self.listener)
        self.listener.close()
        self.listener = None

    def _close(self):
        self._unlisten()
        for pair in list(self.pairs):
            self._drop(pair)
        self.hub.relays.discard(self)

    def _set(self, mode, argument):
        if mode in ("pass", "freeze", "mute", "delay"):
            self.mode, self.armed = mode, None
            self.delay = argument / 1000 if mode == "delay" else 0.0
            self._listen()
        elif mode in ("swallow", "lose", "lose-reset"):
            self.armed = mode
            self.lost.clear()
        elif mode in ("cut", "cut-behind", "reset", "refuse"):
            if mode == "cut-behind":
                self._flush_up()
            if mode == "refuse":
                self._unlisten()
            for pair in list(self.pairs):
                self._drop(pair, reset=mode == "reset")
        elif mode == "count":
            return self.count
        elif mode == "open":
            return len(self.pairs)
        else:
            raise ValueError("no such mode: " + mode)
        return "ok"

    def _accept(self):
        try:
            client = self.listener.accept()[0]
        except OSError:
            return
        self.count += 1
        server = make_socket(self.to)
        try:
            server.connect(self.to)
        except OSError:
            server.close()
            close_by_reset(client)
            return
        pair = Pair(client, server)
        for sock in (client, server):
            sock.setblocking(False)
            if sock.family != socket.AF_UNIX:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pairs.add(pair)
        self.hub.selector.register(
            client, selectors.EVENT_READ,
            lambda: self._read(pair, client, pair.up))
        self.hub.selector.register(
            server, selectors.EVENT_READ,
            lambda: self._read(pair, server, pair.down))

    def _drop(self, pair, reset=False):
        if pair not in self.pairs:
            return
        self.pairs.discard(pair)
        for sock in (pair.client, pair.server):
            try:
                self.hub.selector.unregister(sock)
            except KeyError:
                pass
            if reset:
                close_by_reset(sock)
            else:
                sock.close()

    def _read(self, pair, sock, pipe):
        if pair not in self.pairs:
            return
        try:
            data = sock.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            # As a kernel does it: what came before the reset is kept.
            if pipe is pair.down or not pipe.waiting:
                self._drop(pair, reset=True)
                return
            data = b""
        if not data:
            pipe.ended = True
            self.hub.selector.unregister(sock)
            return
        if pipe is pair.down:
            if self.armed:
                armed, self.armed = self.armed, None
                if armed == "swallow":
                    pair.mute = True
                else:
                    self._drop(pair, reset=armed == "lose-reset")
                self.lost.set()
            if pair.mute:
                return
        pipe.waiting.append((time.monotonic() + (
            self.delay if pipe is pair.down else 0.0), data))

    def flush(self):
        """Pass on what is due; returns the seconds until more is."""
        if self.mode == "freeze":
            return None
        now, wait = time.monotonic(), None
        for pair in list(self.pairs):
            due = self._move(pair, pair.up, pair.server, now)
            if self.mode != "mute":
                later = self._move(pair, pair.down, pair.client, now)
                due = later if due is None else due
            if pair in self.pairs and pair.up.shut and pair.down.shut:
                self._drop(pair)
            if due is not None and (wait is None or due < wait):
                wait = due
        return wait

    def _flush_up(self):
        for pair in list(self.pairs):
            self._move(pair, pair.up, pair.server, time.monotonic())

    def _move(self, pair, pipe, sock, now):
        while pair in self.pairs and pipe.waiting:
            when, data = pipe.waiting[0]
            if when > now:
                return when - now
            try:
                sent = sock.send(data)
            except BlockingIOError:
                return 0.01
            except OSError:
                self._drop(pair)
                return None
            pipe.waiting.popleft()
            if sent < len(data):
                pipe.waiting.appendleft((when, data[sent:]))
        if pair in self.pairs and pipe.ended and not pipe.shut:
            pipe.shut = True
            try:
                sock.shutdown(socket.SHUT_WR)
            except OSError:
                self._drop(pair)
        return None


def serve(relay, folder, owner):
    """Take commands from DIR/ctl until the end."""
    for name in ("ctl", "ack"):
        os.mkfifo(os.path.join(folder, name))
    # Both ends of both, so that no open blocks and nothing ends with a writer.
    ctl = os.open(os.path.join(folder, "ctl"), os.O_RDWR | os.O_NONBLOCK)
    ack = os.open(os.path.join(folder, "ack"), os.O_RDWR | os.O_NONBLOCK)
    for name, text in (("pid", os.getpid()), ("port", relay.port)):
        path = os.path.join(folder, name)
        with open(path + ".new", "w", encoding="ascii") as file:
            print(text, file=file)
        os.rename(path + ".new", path)
    poll = selectors.DefaultSelector()
    poll.register(ctl, selectors.EVENT_READ)
    buffer = b""
    while os.path.isdir(folder) and not (owner and gone(owner)):
        if not poll.select(0.5):
            continue
        buffer += os.read(ctl, 4096)
        while b"\n" in buffer:
            line, _, buffer = buffer.partition(b"\n")
            os.write(ack, (obey(relay, line.decode()) + "\n").encode())


def obey(relay, line):
    words = line.split()
    try:
        if words == ["wait-lost"]:
            return "ok" if relay.lost.wait(5) else "no reply was lost"
        return str(relay.set(words[0], *map(int, words[1:])))
    except Exception as error:  # the caller sees it
        return "proxy: %s: %s" % (line, error)


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--listen", required=True, type=parse_address)
    parser.add_argument("--to", required=True, type=parse_address)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--owner", type=int, default=0)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    serve(Relay(Hub(), args.listen, args.to), args.dir, args.owner)


if __name__ == "__main__":
    sys.exit(main())

"""Watches a subject while load runs: its processes, its sockets, the machine under it, its death.

Knows when to read what, and pidfds; must not know what runs in the tree or what becomes of the
readings. It happens off the measured path, in a thread of its own, and paces itself: after each
reading it rests for so long that the watching stays below 1 % of one CPU, however large the tree.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Literal

from wiretrial.machine import counters, sockets
from wiretrial.observation import Descriptors
from wiretrial.subjects.tree import Reading, ThreadReading, Tree

PERIOD_S = 0.2
TREE_SHARE = 0.002
"""Of one CPU, for what is read of each process."""
DETAIL_SHARE = 0.003
"""Of one CPU, for what is read of each thread, of sockets and of the machine."""
REFRESH_S = 1.0
"""Processes that a subject starts while it runs are found after this."""

PlateauName = Literal["before", "connected", "end"]
Side = Literal["server", "generator"]


@dataclass(frozen=True)
class Detail:
    """What is read less often where the tree is large. Everything counts from some start of its."""

    at_ns: int
    threads: ThreadReading
    cpus: dict[int | None, dict[str, int]]
    link: dict[str, int]
    tcp: dict[str, int]
    sockets: dict[Side, sockets.Totals]
    written_bytes: int | None = None


@dataclass(frozen=True)
class Plateau:
    """Memory and descriptors at an instant when nothing changes. What can't be read is None."""

    name: PlateauName
    at_ns: int
    took_ns: int
    connections: int
    threads: int | None
    pss_bytes: int | None
    anonymous_bytes: int | None
    tcp_memory_bytes: int | None
    tcp_sockets: int | None
    socket_slab_bytes: int | None
    descriptors: Descriptors | None = None


@dataclass
class Seen:
    """Everything that an observer has read so far, in order."""

    readings: list[Reading] = field(default_factory=list)
    details: list[Detail] = field(default_factory=list)
    plateaus: list[Plateau] = field(default_factory=list)
    cost_ns: int = 0
    """Our own CPU time for it."""
    begun_ns: int = 0
    ended_ns: int = 0


class Observer:
    """Reads process trees while the context lasts; made before the load begins.

    `pids` are the trees' roots: several are watched as one. `port` is where the server is reached:
    with it, connections of both sides are followed. `cpus` are those whose states are told apart.
    `on_death` is called once, from the observing thread, as soon as one of the roots ends.
    """

    def __init__(
        self,
        pids: Sequence[int],
        on_death: Callable[[], None] = lambda: None,
        *,
        port: int | None = None,
        cpus: Sequence[int] = (),
    ) -> None:
        self.seen = Seen(begun_ns=time.monotonic_ns())
        self.died = False
        self.alone = not counters.same_namespace(pids[0])
        """Whether the subject is in another network namespace than we are."""
        self.interfaces = _interfaces(pids[0], self.alone)
        self._pid = pids[0]
        self._cpus = tuple(cpus)
        self._on_death = on_death
        self._tree = Tree(pids)
        self._followed: dict[Side, sockets.Followed] = {}
        self._pidfds = [os.pidfd_open(pid) for pid in pids]
        self._wake_read, self._wake_write = os.pipe()
        self._reading = threading.Lock()
        self._paces = _Pace(TREE_SHARE), _Pace(DETAIL_SHARE), _Pace(1.0, REFRESH_S)
        self._thread = threading.Thread(target=self._watch, name="observer", daemon=True)
        # The baseline: nothing has been asked of the subject yet.
        self.plateau("before", 0)
        if port is not None:
            self._follow(port)

    def __enter__(self) -> Observer:
        begun = time.thread_time_ns()
        self._read_all()
        self.seen.cost_ns += time.thread_time_ns() - begun
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._thread.is_alive():
            os.write(self._wake_write, b"x")
            self._thread.join()
        self.seen.ended_ns = time.monotonic_ns()
        for followed in self._followed.values():
            followed.close()
        for descriptor in (*self._pidfds, self._wake_read, self._wake_write):
            os.close(descriptor)

    def plateau(self, name: PlateauName, connections: int) -> None:
        """Reads what is too costly to read while messages are timed."""
        with self._reading:
            cost = time.thread_time_ns()
            self.seen.plateaus.append(self._plateau(name, connections))
            if connections:
                for followed in self._followed.values():
                    followed.find()
            if self._thread.is_alive():
                # Where the load begins and ends, counters turn: between readings here, they don't.
                self._read_all()
            self.seen.cost_ns += time.thread_time_ns() - cost

    def look(self) -> None:
        """Reads counters out of turn: at an instant from which, or up to which, they count."""
        with self._reading:
            cost = time.thread_time_ns()
            for followed in self._followed.values():
                followed.find()
            self._read_all()
            self.seen.cost_ns += time.thread_time_ns() - cost

    def _plateau(self, name: PlateauName, connections: int) -> Plateau:
        begun = time.monotonic_ns()
        self._tree.refresh()
        threads = None
        with contextlib.suppress(ProcessLookupError):
            threads = self._tree.read().threads
        memory = self._tree.memory() if threads else None
        found = Plateau(
            name=name,
            at_ns=begun,
            took_ns=0,
            connections=connections,
            threads=threads,
            pss_bytes=memory.pss_bytes if memory else None,
            anonymous_bytes=memory.anonymous_bytes if memory else None,
            tcp_memory_bytes=counters.tcp_memory_bytes(),
            tcp_sockets=counters.tcp_sockets(self._pid),
            socket_slab_bytes=counters.socket_slab_bytes(),
            descriptors=self._tree.descriptors() if threads else None,
        )
        return replace(found, took_ns=time.monotonic_ns() - begun)

    def _follow(self, port: int) -> None:
        with contextlib.suppress(OSError):
            self._followed["server"] = sockets.Followed(self._pid, local=port)
            self._followed["generator"] = sockets.Followed(os.getpid(), remote=port)

    def _watch(self) -> None:
        tree, detail, refresh = self._paces
        begun = time.thread_time_ns()
        while True:
            rest = max(0.0, min(tree.due, detail.due) - time.monotonic())
            ready, _, _ = select.select([*self._pidfds, self._wake_read], [], [], rest)
            last = self._wake_read in ready
            self.died = any(pidfd in ready for pidfd in self._pidfds)
            if last or self.died:
                break
            if tree.is_due():
                with self._reading, tree:
                    if refresh.is_due():
                        with refresh:
                            self._tree.refresh()
                    self._read_tree()
            if detail.is_due():
                with self._reading, detail:
                    self._read_detail()
        if self.died:
            self._on_death()
        with self._reading:
            self._read_all()
            self.seen.cost_ns += time.thread_time_ns() - begun

    def _read_all(self) -> None:
        """Out of turn: the next readings come the later for it."""
        tree, detail, _ = self._paces
        with tree:
            self._read_tree()
        with detail:
            self._read_detail()

    def _read_tree(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.seen.readings.append(self._tree.read())

    def _read_detail(self) -> None:
        self.seen.details.append(
            Detail(
                at_ns=time.monotonic_ns(),
                threads=self._tree.read_threads(),
                cpus=counters.cpu_times(self._cpus),
                link=counters.link(self._pid, self.interfaces),
                tcp=counters.tcp(self._pid),
                sockets={
                    side: totals
                    for side, followed in self._followed.items()
                    if (totals := followed.read()) is not None
                },
                written_bytes=self._tree.written_bytes(),
            )
        )


class _Pace:
    """When the next reading may be: after a period at least, and within a share of a CPU."""

    def __init__(self, share: float, period_s: float = PERIOD_S) -> None:
        self._share = share
        self._period = period_s
        self.due = time.monotonic() + period_s

    def is_due(self) -> bool:
        return time.monotonic() >= self.due

    def __enter__(self) -> None:
        self._begun = time.thread_time()

    def __exit__(self, *_: object) -> None:
        cost = time.thread_time() - self._begun
        self.due = time.monotonic() + max(self._period, cost / self._share)


def _interfaces(pid: int, alone: bool) -> tuple[str, ...]:
    """What carries the load: the links of a namespace, or loopback, as all that stays here does."""
    if not alone:
        return ("lo",)
    return tuple(name for name in counters.links(pid) if name != "lo")

"""Watches a process tree while load runs: CPU, memory, context switches, and its death.

Knows psutil, schedstat and pidfds; must not know what runs in the tree. Reading costs the machine
well under a millisecond each time, and happens off the measured path, in a thread of its own.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import psutil

PERIOD_S = 0.2
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Reading:
    """The whole tree at one instant of our monotonic clock. CPU times count from each start."""

    at_ns: int
    cpu_user_ns: int
    cpu_system_ns: int
    rss_bytes: int
    context_switches: int
    run_queue_ns: int
    threads_ns: dict[int, int]
    """CPU time of each thread by its id, where the scheduler tells."""


class Observer:
    """Reads a process tree every `PERIOD_S` while the context lasts.

    `on_death` is called once, from the observing thread, as soon as the tree's root ends.
    """

    def __init__(self, pid: int, on_death: Callable[[], None] = lambda: None) -> None:
        self.readings: list[Reading] = []
        self.died = False
        self._pid = pid
        self._on_death = on_death
        self._pidfd = os.pidfd_open(pid)
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._watch, name="observer", daemon=True)

    def __enter__(self) -> Observer:
        self._read()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.write(self._wake_write, b"x")
        self._thread.join()
        for descriptor in (self._pidfd, self._wake_read, self._wake_write):
            os.close(descriptor)

    def _watch(self) -> None:
        while True:
            ready, _, _ = select.select([self._pidfd, self._wake_read], [], [], PERIOD_S)
            if self._pidfd in ready:
                self.died = True
                self._on_death()
                return
            self._read()
            if self._wake_read in ready:
                return

    def _read(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            self.readings.append(read(self._pid))


def read(pid: int) -> Reading:
    """One reading of the tree below `pid`. Processes that end meanwhile are left out."""
    root = psutil.Process(pid)
    at_ns = time.monotonic_ns()
    user = system = rss = switches = queued = 0
    threads: dict[int, int] = {}
    for process in [root, *root.children(recursive=True)]:
        try:
            with process.oneshot():
                times = process.cpu_times()
                rss += process.memory_info().rss
                changed = process.num_ctx_switches()
        except psutil.NoSuchProcess:
            if process is root:
                raise
            continue
        own, waited = _schedstat(process.pid)
        precise_user, precise_system = _split(sum(own.values()), times.user, times.system)
        user += precise_user + round(times.children_user * 1e9)
        system += precise_system + round(times.children_system * 1e9)
        switches += changed.voluntary + changed.involuntary
        queued += waited
        threads |= own
    return Reading(
        at_ns=at_ns,
        cpu_user_ns=user,
        cpu_system_ns=system,
        rss_bytes=rss,
        context_switches=switches,
        run_queue_ns=queued,
        threads_ns=threads,
    )


def busiest_thread(first: Reading, last: Reading) -> float:
    """Share of the time between two readings that the busiest thread was on a CPU."""
    elapsed = last.at_ns - first.at_ns
    used = [last.threads_ns.get(tid, begun) - begun for tid, begun in first.threads_ns.items()]
    return max(used, default=0) / elapsed if elapsed > 0 else 0.0


def listener(host: str, port: int) -> int | None:
    """The process that listens on this address of our machine, where we may know it."""
    try:
        sockets = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return None
    ours = {host, "0.0.0.0", "::", "::ffff:" + host}
    pids = {
        socket.pid
        for socket in sockets
        if socket.status == psutil.CONN_LISTEN
        and socket.laddr
        and socket.laddr.port == port
        and socket.laddr.ip in ours
        and socket.pid is not None
    }
    return min(pids) if pids else None


def _schedstat(pid: int) -> tuple[dict[int, int], int]:
    """Nanoseconds on a CPU by thread, and nanoseconds of all threads spent waiting for one."""
    on_cpu: dict[int, int] = {}
    waited = 0
    with contextlib.suppress(OSError, IndexError, ValueError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            fields = (thread / "schedstat").read_text(encoding="ascii").split()
            on_cpu[int(thread.name)] = int(fields[0])
            waited += int(fields[1])
    return on_cpu, waited


def _split(on_cpu_ns: int, user_s: float, system_s: float) -> tuple[int, int]:
    """User and system nanoseconds: the scheduler's exact sum, split as the ticks of 10 ms are."""
    user, system = round(user_s * 1e9), round(system_s * 1e9)
    ticks = user + system
    # Threads that ended are in the ticks and not in the sum: then the ticks know more.
    if not ticks or on_cpu_ns < ticks - 2 * _TICK_NS:
        return user, system
    return on_cpu_ns * user // ticks, on_cpu_ns - on_cpu_ns * user // ticks

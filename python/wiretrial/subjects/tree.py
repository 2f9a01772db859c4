"""A tree of processes, or several as one: what it has used of CPUs and memory.

Knows /proc and the kernel's clocks of processes; must not know what runs in the tree or when it is
read. What can't be read is None, never 0.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wiretrial.machine.counters import PAGE_BYTES, TICK_NS, read
from wiretrial.observation import Descriptors

CLOCK_RESOLUTION_NS = 1
_SCHEDULER_TELLS = Path("/proc/self/schedstat").exists()


@dataclass(frozen=True)
class Reading:
    """All processes at one instant of our monotonic clock. CPU times count from each start."""

    at_ns: int
    cpu_user_ns: int
    cpu_system_ns: int
    cpu_resolution_ns: int
    """Of the sum of both: the kernel's own clock where it has one."""
    rss_bytes: int
    threads: int


@dataclass(frozen=True)
class ThreadReading:
    """All threads at one instant; those that have ended meanwhile count as they were last seen."""

    voluntary_switches: int | None
    involuntary_switches: int | None
    run_queue_ns: int | None
    """Ready to run, and waiting for a CPU."""
    on_cpu_ns: dict[int, int]
    """CPU time of each thread by its id, where the scheduler tells."""


@dataclass(frozen=True)
class Memory:
    """Proportional set size: each shared page is divided among those who share it."""

    pss_bytes: int
    anonymous_bytes: int | None
    """The part that is no file's: whoever else maps the same program doesn't move it."""


class Tree:
    """The processes `roots` and all their descendants. `refresh` finds new ones."""

    def __init__(self, roots: Sequence[int]) -> None:
        self.roots = tuple(roots)
        self.members: tuple[int, ...] = self.roots
        self._parents: dict[int, int] = {}
        self._threads: dict[int, _Thread] = {}
        self._ended = _Thread(0, 0, 0, 0)
        self.refresh()

    def refresh(self) -> None:
        """Looks for descendants that were born, or have ended. Only new processes are read."""
        here = {int(name) for name in os.listdir("/proc") if name.isdecimal()}  # noqa: PTH208
        self._parents = {pid: parent for pid, parent in self._parents.items() if pid in here}
        for pid in here - self._parents.keys():
            with contextlib.suppress(OSError):
                self._parents[pid] = int(_stat(pid)[1])
        children: dict[int, list[int]] = {}
        for pid, parent in self._parents.items():
            children.setdefault(parent, []).append(pid)
        members = list(self.roots)
        for pid in members:
            members += children.get(pid, [])
        self.members = tuple(members)

    def read(self) -> Reading:
        """CPU and memory. Raises `ProcessLookupError` when no root is left."""
        at_ns = time.monotonic_ns()
        user = system = rss = threads = 0
        resolution = CLOCK_RESOLUTION_NS
        alive = False
        for pid in self.members:
            on_cpu = _clock_ns(pid)
            try:
                fields = _stat(pid)
            except OSError:
                continue
            alive = alive or pid in self.roots
            if on_cpu is None:
                resolution = TICK_NS
            ticks = [int(field) * TICK_NS for field in fields[11:15]]
            own_user, own_system = split(on_cpu, ticks[0], ticks[1])
            user += own_user + ticks[2]
            system += own_system + ticks[3]
            threads += int(fields[17])
            rss += int(fields[21]) * PAGE_BYTES
        if not alive:
            raise ProcessLookupError(f"none of {self.roots} is there")
        return Reading(at_ns, user, system, resolution, rss, threads)

    def read_threads(self) -> ThreadReading:
        """Context switches and waiting. Costs two small files per thread."""
        now: dict[int, _Thread] = {}
        for pid in self.members:
            with contextlib.suppress(OSError):
                for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
                    with contextlib.suppress(OSError):
                        now[int(name)] = _Thread.read(f"/proc/{pid}/task/{name}")
        for number, before in self._threads.items():
            if number not in now:
                self._ended += before
        self._threads = now
        total = self._ended
        for thread in now.values():
            total += thread
        return ThreadReading(
            voluntary_switches=total.voluntary,
            involuntary_switches=total.involuntary,
            run_queue_ns=total.waited_ns,
            on_cpu_ns={
                number: thread.on_cpu_ns
                for number, thread in now.items()
                if thread.on_cpu_ns is not None
            },
        )

    def written_bytes(self) -> int | None:
        """What went to disks, with that of children that were waited for.

        None where one of the processes may not be asked.
        """
        total = 0
        for pid in self.members:
            written = _written_bytes(pid)
            if written is None:
                return None
            total += written
        return total

    def descriptors(self) -> Descriptors | None:
        """Open descriptors of all processes; None where those of one may not be counted.

        Before Linux 6.2 each of them is counted.
        """
        total = Descriptors(open=0, fullest=0, limit=None)
        for pid in self.members:
            own = _descriptors(pid)
            if own is None:
                return None
            fuller = own if _share(own) > _share(total) or not total.open else total
            total = fuller.model_copy(update={"open": total.open + own.open})
        return total

    def memory(self) -> Memory | None:
        """Memory of all processes; None where one of them may not be read.

        The kernel walks every page of every process for it, and holds them up meanwhile.
        """
        total = Memory(0, 0)
        for pid in self.members:
            own = _memory(pid)
            if own is None:
                return None
            total = Memory(
                total.pss_bytes + own.pss_bytes, _sum(total.anonymous_bytes, own.anonymous_bytes)
            )
        return total


@dataclass(frozen=True)
class _Thread:
    on_cpu_ns: int | None
    waited_ns: int | None
    voluntary: int | None
    involuntary: int | None

    @classmethod
    def read(cls, folder: str) -> _Thread:
        """Raises `OSError` when the thread has ended."""
        status = read(f"{folder}/status")
        told = read(f"{folder}/schedstat").split() if _SCHEDULER_TELLS else ()
        return cls(
            int(told[0]) if told else None,
            int(told[1]) if told else None,
            _number_after(status, b"\nvoluntary_ctxt_switches:"),
            _number_after(status, b"\nnonvoluntary_ctxt_switches:"),
        )

    def __add__(self, other: _Thread) -> _Thread:
        return _Thread(
            _sum(self.on_cpu_ns, other.on_cpu_ns),
            _sum(self.waited_ns, other.waited_ns),
            _sum(self.voluntary, other.voluntary),
            _sum(self.involuntary, other.involuntary),
        )


def split(on_cpu_ns: int | None, user_ns: int, system_ns: int) -> tuple[int, int]:
    """User and system time from their exact sum and from both in whole ticks, rounded down.

    They lie within one tick above what the ticks say, and together they are the sum: the middle of
    what both leave open. Without an exact sum, the ticks are all there is.
    """
    if on_cpu_ns is None:
        return user_ns, system_ns
    least = max(user_ns, on_cpu_ns - system_ns - TICK_NS)
    most = min(user_ns + TICK_NS, on_cpu_ns - system_ns)
    user = min(max((least + most) // 2, 0), on_cpu_ns)
    return user, on_cpu_ns - user


def _clock_ns(pid: int) -> int | None:
    """CPU time of all threads of a process, ended ones included, to the nanosecond."""
    try:
        # The id of a process's clock, as clock_getcpuclockid(3) makes it.
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        return None


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold anything: the state is first."""
    return read(f"/proc/{pid}/stat").rpartition(b")")[2].decode("ascii").split()


def _memory(pid: int) -> Memory | None:
    try:
        text = read(f"/proc/{pid}/smaps_rollup")
    except (FileNotFoundError, ProcessLookupError):
        # A process that has ended has no memory, even if nobody has waited for it yet.
        return None if _is_running(pid) else Memory(0, 0)
    except OSError:
        return None
    pss, anonymous = _number_after(text, b"\nPss:"), _number_after(text, b"\nPss_Anon:")
    if pss is None:
        return None
    return Memory(pss * 1024, None if anonymous is None else anonymous * 1024)


def _written_bytes(pid: int) -> int | None:
    try:
        return _number_after(read(f"/proc/{pid}/io"), b"\nwrite_bytes:")
    except OSError:
        return None if _is_running(pid) else 0


def _descriptors(pid: int) -> Descriptors | None:
    folder = f"/proc/{pid}/fd"
    try:
        # Since Linux 6.2 its size is their number.
        opened = os.stat(folder).st_size or len(os.listdir(folder))  # noqa: PTH116, PTH208
        told = read(f"/proc/{pid}/limits").partition(b"\nMax open files")[2].split(None, 1)
    except OSError:
        return None if _is_running(pid) else Descriptors(open=0, fullest=0, limit=None)
    limit = int(told[0]) if told and told[0].isdigit() else None
    return Descriptors(open=opened, fullest=opened, limit=limit)


def _share(found: Descriptors) -> float:
    """Of the limit of the fullest process; without a limit there is none."""
    return found.fullest / max(found.limit, 1) if found.limit is not None else 0.0


def _is_running(pid: int) -> bool:
    try:
        return _stat(pid)[0] not in "ZX"
    except OSError:
        return False


def _number_after(text: bytes, name: bytes) -> int | None:
    _, found, rest = text.partition(name)
    return int(rest.split(None, 1)[0]) if found else None


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other

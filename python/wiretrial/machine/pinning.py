"""Which CPUs the server gets, and which the generator: never the same where there are two.

Knows the CPUs that we may use and how they share cores; must not know what runs on them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

MOST_PASSES = 10
"""Over a process's threads, until all of them are where they should be."""


@dataclass(frozen=True)
class Pinning:
    """CPUs of both sides. `problem` says why they are not apart, where they can't be."""

    server: tuple[int, ...]
    generator: tuple[int, ...]
    problem: str | None = None
    others: tuple[int, ...] = ()
    """CPUs that neither of them has: for what a server asks, such as a database or a backend."""


@dataclass(frozen=True)
class Dealt:
    """CPUs of each instance of a server, and of the generator: no CPU is two of theirs."""

    instances: tuple[tuple[int, ...], ...]
    generator: tuple[int, ...]


def deal(instances: int, generator_threads: int = 1, generator: Sequence[int] = ()) -> Dealt | None:
    """As many CPUs for each instance of a server as there are; None: there is not one for each.

    `generator`: the generator's, where they were chosen; else one for each of its threads.
    """
    cpus = _whole_cores_first(sorted(os.sched_getaffinity(0)))
    return dealt(cpus, instances, generator_threads, generator)


def dealt(
    cpus: Sequence[int], instances: int, generator_threads: int, generator: Sequence[int] = ()
) -> Dealt | None:
    """The same of `cpus` in order of preference, dealt to the instances first."""
    free = [cpu for cpu in cpus if cpu not in generator]
    left = len(free) if generator else len(free) - generator_threads
    each = left // instances
    if each < 1:
        return None
    taken = each * instances
    return Dealt(
        instances=tuple(tuple(free[at : at + each]) for at in range(0, taken, each)),
        generator=tuple(generator) or tuple(free[taken : taken + generator_threads]),
    )


def choose(server_threads: int = 1, generator_threads: int = 1) -> Pinning:
    """A CPU for each thread of either side, as far as this machine has them."""
    return split(
        _whole_cores_first(sorted(os.sched_getaffinity(0))), server_threads, generator_threads
    )


@contextmanager
def held_to(cpus: Sequence[int]) -> Iterator[None]:
    """Has the calling thread run on these CPUs meanwhile; none: where it may run anyway."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def anywhere(pids: Sequence[int]) -> Iterator[None]:
    """Lets these processes run wherever we may; each is back afterwards, with all its threads."""
    before: dict[int, set[int]] = {}
    for pid in pids:
        with suppress(OSError):
            before[pid] = os.sched_getaffinity(pid)
    every = os.sched_getaffinity(0)
    try:
        for pid in before:
            _move(pid, every)
        yield
    finally:
        for pid, cpus in before.items():
            _move(pid, cpus)


def _move(pid: int, cpus: set[int]) -> None:
    # A thread that starts meanwhile is where the one was that started it: so once more.
    for _ in range(MOST_PASSES):
        away = [thread for thread in _threads(pid) if _where(thread) not in (None, cpus)]
        for thread in away:
            # One that has ended is nowhere.
            with suppress(ProcessLookupError):
                os.sched_setaffinity(thread, cpus)
        if not away:
            return


def _threads(pid: int) -> list[int]:
    try:
        return [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def _where(thread: int) -> set[int] | None:
    try:
        return os.sched_getaffinity(thread)
    except ProcessLookupError:
        return None


def split(cpus: Sequence[int], server_threads: int, generator_threads: int) -> Pinning:
    """`cpus` in order of preference, dealt to the server first."""
    if len(cpus) < 2:
        return Pinning(
            server=tuple(cpus),
            generator=tuple(cpus),
            problem="there is one CPU: server and generator take it from each other",
        )
    # The generator always keeps one: a server that starves it would look fast.
    server = tuple(cpus[: min(server_threads, len(cpus) - 1)])
    generator = tuple(cpus[len(server) : len(server) + generator_threads])
    wanted = server_threads + generator_threads
    problem = None
    if wanted > len(cpus):
        problem = (
            f"{server_threads} server and {generator_threads} generator threads share"
            f" {len(cpus)} CPUs"
        )
    others = tuple(cpus[len(server) + len(generator) :])
    return Pinning(server=server, generator=generator, problem=problem, others=others)


def _whole_cores_first(cpus: Sequence[int]) -> list[int]:
    """One CPU of each core first, then their siblings, which are no cores of their own."""
    first: dict[str, int] = {}
    siblings: list[int] = []
    for cpu in cpus:
        core = _core(cpu)
        if core in first:
            siblings.append(cpu)
        else:
            first[core] = cpu
    return [*first.values(), *siblings]


def _core(cpu: int) -> str:
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return str(cpu)

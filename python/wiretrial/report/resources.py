"""What each server of an application used in a trial: CPUs, memory, descriptors and disks.

Knows the figures of a trial, of a server of this machine and of those that are watched by name;
must not know what becomes of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretrial.observation import Descriptors
from wiretrial.report.measures import Measured
from wiretrial.results.limits import Resource
from wiretrial.results.observation import Observation
from wiretrial.results.watched import (
    BACKEND,
    DATABASE,
    SERVER,
    MemoryKind,
    WatchedPart,
    WatchedPlace,
)

OWN = ("client", "system")
"""Classes of failures that are this machine's own."""


def used(measured: Measured) -> tuple[Resource, ...]:
    """The parts that are watched by name; where there are none, the server of this machine."""
    places = measured.trial.places
    named = tuple(_named(place, part) for place in places for part in place.parts)
    return named or tuple(_local(measured))


def database_ns(measured: Measured) -> float | None:
    """CPU time per message of the database that a server of a study has; None: it has none."""
    return _part_ns(measured, DATABASE)


def backend_ns(measured: Measured) -> float | None:
    """The same of the server behind a proxy of a study."""
    return _part_ns(measured, BACKEND)


def memory_bytes(measured: Measured) -> float | None:
    """What the server's processes held when a load of sessions ended; None where it is not known.

    Where one message is sent, memory is told by connection.
    """
    seen = measured.trial.observation
    if seen is None or measured.trial.start.traffic is None:
        return None
    return _proportional(seen)


def unopened(measured: Measured) -> int:
    """Connections that failed, for no lack of this machine's own, or that were not accepted."""
    failed = measured.trial.summary.connections.failed
    return sum(n for name, n in failed.items() if name not in OWN) + _unaccepted(measured)


def _part_ns(measured: Measured, name: str) -> float | None:
    parts = (part for place in measured.trial.places for part in place.parts)
    found = next((part for part in parts if part.name == name), None)
    return None if found is None or found.is_void else found.per_reply_ns


def _named(place: WatchedPlace, part: WatchedPart) -> Resource:
    return Resource(
        name=part.name,
        cpus=None if part.is_void else part.cpus,
        of_cpus=_most(place, part),
        of_kernel=_of_kernel(part.cpu_user_ns, part.cpu_system_ns),
        memory_bytes=part.memory_end_bytes,
        memory_kind=part.memory,
        memory_limit_bytes=part.memory_limit_bytes,
        descriptors=part.descriptors.open if part.descriptors else None,
        descriptor_limit=part.descriptors.most if part.descriptors else None,
        written_bytes=part.written_per_second,
    )


def _most(place: WatchedPlace, part: WatchedPart) -> float | None:
    """CPUs that it can keep busy: one per thread, within its limit, on its host."""
    bounds = (place.cpus, part.quota_cpus, 1 if part.threads == 1 else None)
    return min((float(bound) for bound in bounds if bound), default=None)


def _of_kernel(user: float | None, system: float | None) -> float | None:
    if user is None or system is None or user + system <= 0:
        return None
    return system / (user + system)


def _local(measured: Measured) -> Iterator[Resource]:
    use, cost, rate = measured.trial.judgement.server, measured.server_ns, measured.throughput
    if use is None or cost is None or rate is None:
        return
    cpus = cost * rate / 1e9
    opened = _descriptors(measured)
    kind, memory = _local_memory(measured)
    yield Resource(
        name=SERVER,
        cpus=cpus,
        # Where its busiest thread is full, it is, however many CPUs there are.
        of_cpus=round(cpus / use.busy, 1) if use.busy else None,
        of_kernel=_of_kernel(measured.server_user_ns, measured.server_system_ns),
        memory_bytes=memory,
        memory_kind=kind,
        descriptors=opened.open if opened else None,
        descriptor_limit=opened.most if opened else None,
        written_bytes=_written(measured),
    )


def _local_memory(measured: Measured) -> tuple[MemoryKind | None, int | None]:
    """How the memory of this machine's server was counted, and how much it was at the end."""
    seen, samples = measured.trial.observation, measured.trial.subject_samples
    # None of a server that has ended is no figure.
    if seen is not None and (proportional := _proportional(seen)):
        return "proportional", proportional
    return ("resident", samples[-1].rss_bytes) if samples else (None, None)


def _proportional(seen: Observation) -> int | None:
    return next((one.pss_bytes for one in seen.plateaus if one.name == "end"), None)


def _unaccepted(measured: Measured) -> int:
    """Connections that stand, and that a server of this machine has no descriptor for.

    Those that wait for it in the kernel take none of its own; 0 where that is not known.
    """
    seen = measured.trial.observation
    opened = {one.name: one.descriptors for one in seen.plateaus} if seen else {}
    before, after = opened.get("before"), opened.get("connected")
    if seen is None or before is None or after is None or after.limit is None:
        return 0
    if after.fullest < after.limit - 1:
        return 0
    (standing,) = (one.connections for one in seen.plateaus if one.name == "connected")
    return max(standing - (after.open - before.open), 0)


def _descriptors(measured: Measured) -> Descriptors | None:
    """The most that were open, with all connections or at the end."""
    seen = measured.trial.observation
    every = [one.descriptors for one in seen.plateaus if one.descriptors] if seen else []
    return max(every, key=lambda one: one.open, default=None)


def _written(measured: Measured) -> float | None:
    """Bytes that went to disks, per second of what was read."""
    seen = measured.trial.observation
    if seen is None or seen.written_bytes is None or seen.start_ns is None or seen.end_ns is None:
        return None
    return seen.written_bytes * 1e9 / (seen.end_ns - seen.start_ns)

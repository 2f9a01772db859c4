"""What each server of an application used in a trial: CPUs and memory, beside what it may have.

Knows the figures of a trial, of a server of this machine and of those that are watched by name;
must not know what becomes of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretrial.report.measures import Measured
from wiretrial.results.limits import Resource
from wiretrial.results.watched import DATABASE, SERVER, WatchedPart, WatchedPlace


def used(measured: Measured) -> tuple[Resource, ...]:
    """The parts that are watched by name; where there are none, the server of this machine."""
    places = measured.trial.places
    named = tuple(_named(place, part) for place in places for part in place.parts)
    return named or tuple(_local(measured))


def database_ns(measured: Measured) -> float | None:
    """CPU time per message of the database that a server of a study has; None: it has none."""
    parts = (part for place in measured.trial.places for part in place.parts)
    found = next((part for part in parts if part.name == DATABASE), None)
    return None if found is None or found.is_void else found.per_reply_ns


def memory_bytes(measured: Measured) -> float | None:
    """What the server's processes held when a load of sessions ended; None where it is not known.

    Where one message is sent, memory is told by connection.
    """
    seen = measured.trial.observation
    if seen is None or measured.trial.start.traffic is None:
        return None
    return next((one.pss_bytes for one in seen.plateaus if one.name == "end"), None)


def _named(place: WatchedPlace, part: WatchedPart) -> Resource:
    return Resource(
        name=part.name,
        cpus=None if part.is_void else part.cpus,
        of_cpus=_most(place, part),
        of_kernel=_of_kernel(part.cpu_user_ns, part.cpu_system_ns),
        memory_bytes=part.memory_end_bytes,
        memory_limit_bytes=part.memory_limit_bytes,
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
    samples = measured.trial.subject_samples
    yield Resource(
        name=SERVER,
        cpus=cpus,
        # Where its busiest thread is full, it is, however many CPUs there are.
        of_cpus=round(cpus / use.busy, 1) if use.busy else None,
        of_kernel=_of_kernel(measured.server_user_ns, measured.server_system_ns),
        memory_bytes=samples[-1].rss_bytes if samples else None,
    )

"""The cost of an application's parts: how much a counter grew, over how many replies came.

Pure. Both differences are taken between the same two instants, which are readings: no counter is
guessed in between. Replies are known for each interval of the engine, and lie evenly within one.
Taken are the first and the last reading inside the window; where these span less than half of it,
those around it, so that a part that is read rarely has a cost, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, TypeVar

from wiretrial.observation import Descriptors
from wiretrial.observers import coarse
from wiretrial.observers.watch import (
    BEFORE,
    CONNECTED,
    END,
    HostReading,
    Part,
    Reading,
    Watched,
)
from wiretrial.results.watched import MemoryKind, PartSample, Span, WatchedPart, WatchedPlace
from wiretrial.snapshot import Interval

MOST_SAMPLES: Final = 500
"""Of a part that are kept."""
ENOUGH: Final = 0.5
"""Share of the window that the readings inside must span."""

COUNTERS: Final = (
    *("run_queue_ns", "throttled_ns", "throttled_periods", "periods", "oom_kills"),
    "written_bytes",
)

_Read = TypeVar("_Read", Reading, HostReading)


@dataclass(frozen=True)
class Curve:
    """A counter that grows evenly from one point to the next, and not beside them."""

    at_ns: tuple[int, ...]
    values: tuple[float, ...]

    def at(self, instant_ns: int) -> float:
        """Its value then."""
        after = bisect_right(self.at_ns, instant_ns)
        if after == 0:
            return self.values[0] if self.values else 0.0
        if after == len(self.at_ns):
            return self.values[-1]
        begin, end = self.at_ns[after - 1], self.at_ns[after]
        low, high = self.values[after - 1], self.values[after]
        return low + (high - low) * (instant_ns - begin) / (end - begin)

    def growth(self, start_ns: int, end_ns: int) -> float:
        """How much it grew between two instants."""
        return self.at(end_ns) - self.at(start_ns)


@dataclass(frozen=True)
class Load:
    """What the generator tells of a run, by our monotonic clock."""

    begun_ns: int
    """The run's offset 0."""
    start_ns: int
    end_ns: int
    """The window that counts, as offsets."""
    replies: Curve
    """Verified ones, over instants of the clock."""
    generator_ns: Curve
    """Its CPU time."""
    is_local: bool = True
    """Whether it sends from this machine."""

    @classmethod
    def of(
        cls,
        intervals: Sequence[Interval],
        begun_ns: int,
        window: tuple[int, int],
        *,
        is_local: bool = True,
    ) -> Load:
        """From the intervals of a run."""
        return cls(
            begun_ns,
            *window,
            _curve(intervals, begun_ns, lambda one: one.counters.ok),
            _curve(
                intervals,
                begun_ns,
                lambda one: one.generator.cpu_user_ns + one.generator.cpu_system_ns,
            ),
            is_local,
        )

    def span(self, first: Reading | HostReading, last: Reading | HostReading) -> Span:
        """The time between two readings."""
        start, end = first.at_ns - self.begun_ns, last.at_ns - self.begun_ns
        return Span(
            start_ns=start,
            end_ns=end,
            replies=self.replies.growth(first.at_ns, last.at_ns),
            is_around=start < self.start_ns or end > self.end_ns,
        )


def place(watched: Watched, load: Load) -> WatchedPlace:
    """What a record holds of one place."""
    sends = watched.has_generator and load.is_local
    bare = WatchedPlace(
        place=watched.place,
        kind=watched.kind,
        parts=tuple(part(one, watched, load) for one in watched.parts),
        has_generator=sends,
        cpus=watched.cpus,
        own_ns=watched.own_cpu_ns,
        charges_softirq=watched.charges_softirq,
        clock_error_ns=watched.clock_error_ns,
        kernel=watched.kernel,
        lacks=watched.lacks,
        failed=watched.failed,
        coarse=coarse.words(watched, load.start_ns + load.begun_ns, load.end_ns + load.begun_ns),
    )
    edges = _edges(watched.host, load)
    if edges is None:
        return bare
    inside = _between(watched.host, *edges)
    first, last = edges[0].cpu, edges[1].cpu
    clocked = [one.frequency_khz for one in inside if one.frequency_khz is not None]
    generator = load.generator_ns.growth(edges[0].at_ns, edges[1].at_ns)
    known: dict[str, object] = {
        "span": load.span(*edges),
        "generator_ns": round(generator) if sends else None,
        "lowest_khz": min(clocked, default=None),
        "highest_khz": max(clocked, default=None),
        **{
            state: _difference(getattr(first, state), getattr(last, state))
            for state in ("user_ns", "system_ns", "irq_ns", "softirq_ns", "steal_ns", "idle_ns")
        },
        **_in_use(inside),
        **_baseline(watched),
    }
    return bare.model_copy(update=known)


def part(one: Part, watched: Watched, load: Load) -> WatchedPart:
    """What a record holds of one part."""
    bare = WatchedPart(
        name=one.name,
        address=one.address,
        cpu_resolution_ns=one.cpu_resolution_ns,
        shares_group=one.shares_group,
        lacks=one.lacks,
        samples=_samples(one.readings, load),
    )
    edges = _edges(one.readings, load)
    if edges is None:
        return bare
    first, last = edges
    inside = _between(one.readings, first, last)
    # A server that went away ends the load, and the reading at the end tells.
    until = max([last.at_ns, *(mark.at_ns for mark in watched.marks if mark.name == END)])
    lived = [reading for reading in one.readings if first.at_ns <= reading.at_ns <= until]
    user, system = _grown(inside, "user_ns"), _grown(inside, "system_ns")
    whole = _grown(inside, "total_ns")
    if whole is None and user is not None and system is not None:
        whole = user + system
    kind, memory, growth = _memory(one.readings, inside, watched)
    known: dict[str, object] = {
        "span": load.span(first, last),
        "cpu_ns": whole,
        "cpu_user_ns": user,
        "cpu_system_ns": system,
        "memory": kind,
        "memory_end_bytes": memory,
        "memory_growth_bytes": growth,
        "memory_limit_bytes": last.limit_bytes,
        "descriptors": _descriptors(one.readings),
        "quota_cpus": last.quota_cpus,
        "restarts": _restarts(lived),
        "has_ended": _has_ended(one.readings, lived[-1]),
        "processes": last.processes,
        "threads": last.threads,
        **{counter: _grown(inside, counter) for counter in COUNTERS},
    }
    return bare.model_copy(update=known)


def _edges(readings: Sequence[_Read], load: Load) -> tuple[_Read, _Read] | None:
    """The two readings that growth is taken between; None: there are no two."""
    start, end = load.start_ns + load.begun_ns, load.end_ns + load.begun_ns
    inside = [one for one in readings if start <= one.at_ns <= end]
    if len(inside) > 1 and inside[-1].at_ns - inside[0].at_ns >= ENOUGH * (end - start):
        return inside[0], inside[-1]
    until_start = [one for one in readings if one.at_ns <= start] or inside[:1]
    from_end = [one for one in readings if one.at_ns >= end] or inside[-1:]
    if not until_start or not from_end or until_start[-1].at_ns >= from_end[0].at_ns:
        return None
    return until_start[-1], from_end[0]


def _between(readings: Sequence[_Read], first: _Read, last: _Read) -> list[_Read]:
    return [one for one in readings if first.at_ns <= one.at_ns <= last.at_ns]


def _grown(readings: Sequence[Reading], counter: str) -> int | None:
    """How much it grew from the first to the last; None where one of both lacks it.

    Where it fell it began anew, and what it had by then is what it grew.
    """
    values: list[int | None] = [getattr(one, counter) for one in readings]
    if not values or values[0] is None or values[-1] is None:
        return None
    known = [value for value in values if value is not None]
    return sum(after - before if after >= before else after for before, after in pairwise(known))


def _restarts(readings: Sequence[Reading]) -> int:
    """How often another process took the place of the one before; or its counters began anew."""
    lives = [one.life for one in readings if one.life is not None]
    changed = sum(before != after for before, after in pairwise(lives))
    return changed or int(_fell(readings))


def _has_ended(readings: Sequence[Reading], last: Reading) -> bool:
    """Whether nothing was left of it, or not what it was known by."""
    was_known = any(one.life is not None for one in readings)
    return last.processes == 0 or (was_known and last.life is None)


def _fell(readings: Sequence[Reading]) -> bool:
    known = [one.total_ns for one in readings if one.total_ns is not None]
    return any(after < before for before, after in pairwise(known))


def _memory(
    readings: Sequence[Reading], inside: Sequence[Reading], watched: Watched
) -> tuple[MemoryKind | None, int | None, int | None]:
    """How it was counted, how much there was at the end, and by how much it grew.

    A control group's is what its limit counts. Proportional memory is read at marks only.
    """
    groups = [one.group_bytes for one in inside if one.group_bytes is not None]
    if groups:
        return "control group", groups[-1], groups[-1] - groups[0]
    marked = {one.name: one.at_ns for one in watched.marks}
    exact = {one.at_ns: one.pss_bytes for one in readings if one.pss_bytes is not None}
    first, last = exact.get(marked.get(CONNECTED, -1)), exact.get(marked.get(END, -1))
    if first is not None and last is not None:
        return "proportional", last, last - first
    resident = [one.rss_bytes for one in inside if one.rss_bytes is not None]
    if not resident:
        return None, None, None
    return "resident", resident[-1], resident[-1] - resident[0]


def _descriptors(readings: Sequence[Reading]) -> Descriptors | None:
    """The most that were open, in all of the run: they are read at marks alone."""
    seen = [one.descriptors for one in readings if one.descriptors is not None]
    return max(seen, key=lambda one: one.open, default=None)


def _in_use(inside: Sequence[HostReading]) -> dict[str, object]:
    """How much of the host's memory was in use at the end, and by how much that grew."""
    used = [one.used_bytes for one in inside if one.used_bytes is not None]
    if not used:
        return {}
    return {"memory_used_bytes": used[-1], "memory_growth_bytes": used[-1] - used[0]}


def _baseline(watched: Watched) -> dict[str, object]:
    """What the host did before the load."""
    until = next((one.at_ns for one in watched.marks if one.name == BEFORE), None)
    before = [one for one in watched.host if until is not None and one.at_ns <= until]
    if len(before) < 2:
        return {}
    first, last = before[0], before[-1]
    states = ("user_ns", "system_ns", "irq_ns", "softirq_ns")
    grown = [_difference(getattr(first.cpu, one), getattr(last.cpu, one)) for one in states]
    known = [ns for ns in grown if ns is not None]
    return {
        "baseline_ns": last.at_ns - first.at_ns,
        "baseline_busy_ns": sum(known) if known else None,
    }


def _samples(readings: Sequence[Reading], load: Load) -> tuple[PartSample, ...]:
    """So many that a picture can be drawn."""
    step = -(-len(readings) // MOST_SAMPLES) or 1
    kept = readings[::step]
    begin = _spent(kept[0]) if kept else None
    return tuple(
        PartSample(
            offset_ns=one.at_ns - load.begun_ns,
            cpu_ns=_difference(begin, _spent(one)),
            memory_bytes=one.rss_bytes if one.group_bytes is None else one.group_bytes,
        )
        for one in kept
    )


def _spent(one: Reading) -> int | None:
    """The CPU time that all readings of a part have."""
    if one.user_ns is None or one.system_ns is None:
        return one.total_ns
    return one.user_ns + one.system_ns


def _curve(
    intervals: Iterable[Interval], begun_ns: int, counter: Callable[[Interval], int]
) -> Curve:
    known = sorted(intervals, key=lambda one: one.start_ns)
    if not known:
        return Curve((), ())
    at_ns = (known[0].start_ns + begun_ns, *(one.end_ns + begun_ns for one in known))
    values = accumulate(map(counter, known), initial=0)
    return Curve(at_ns, tuple(map(float, values)))


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before

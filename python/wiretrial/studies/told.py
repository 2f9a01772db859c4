"""From a driver's lines and the server's readings to the parts of a trial's record.

Pure: knows repetitions, instants and readings; must not know how they came about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from wiretrial.results import hdr
from wiretrial.results.model import Bottleneck, Judgement, ProcessSample, Window
from wiretrial.results.observation import Observation
from wiretrial.snapshot import Connections, Generator, Interval, Summary
from wiretrial.studies import observed, sent
from wiretrial.studies.bottleneck import percent
from wiretrial.studies.observed import Origin
from wiretrial.subjects.driver import Repetition
from wiretrial.subjects.observe import Seen

RENEWED = "renewed"
"""Connections that ended while they were to be kept, whoever ended them."""


@dataclass(frozen=True)
class Told:
    """What a driver told, as the record has it."""

    library: str
    first_error: str | None
    intervals: tuple[Interval, ...]
    summary: Summary
    window: Window
    samples: tuple[ProcessSample, ...]
    observation: Observation | None

    @classmethod
    def of(
        cls,
        repetitions: Sequence[Repetition],
        instants: Sequence[int],
        seen: Seen,
        origin: Origin,
        warmup: int,
    ) -> Self:
        """`instants`: when each repetition's line came; `origin`: the driver's start."""
        began_ns = origin.begun_ns
        spans = _spans(repetitions, [instant - began_ns for instant in instants])
        intervals = tuple(
            _interval(one, *span) for one, span in zip(repetitions, spans, strict=True)
        )
        window = sent.window(intervals, f"iterations, after {warmup:,} unrecorded ones")
        return cls(
            library=repetitions[0].library,
            first_error=next((one.first_error for one in repetitions if one.errors), None),
            intervals=intervals,
            summary=_summary(repetitions, intervals),
            window=window,
            samples=_samples(seen, instants, began_ns),
            observation=observed.observation(seen, window, origin) if seen.readings else None,
        )

    def judgement(self, server_died: str | None) -> Judgement:
        """Whether it may be published, and where most of a round trip goes."""
        client, server = self._client_share(), self._server_share()
        rest = max(0.0, 1 - client - (server or 0.0))
        known = "unknown" if server is None else percent(server)
        evidence = (
            f"of a round trip's time the client was on a CPU for {percent(client)}, the server for"
            f" {known}"
        )
        where: dict[Bottleneck, float] = {"client": client, "server": server or 0.0}
        who: Bottleneck = max(where, key=where.__getitem__)
        if rest > where[who]:
            who = "waiting"
        return sent.judgement(who, evidence, server_died, self._problems())

    def _problems(self) -> Iterator[str]:
        counters = self.summary.counters
        if failed := counters.errors.get(sent.FAILED, 0):
            of = f"{failed:,} of {counters.sent:,} iterations failed"
            yield f"{of}, the first: {self.first_error}"

    def _client_share(self) -> float:
        used = self.summary.generator
        timed = sum(interval.end_ns - interval.start_ns for interval in self.intervals)
        return (used.cpu_user_ns + used.cpu_system_ns) / max(timed, 1)

    def _server_share(self) -> float | None:
        if len(self.samples) < 2:
            return None
        first, last = self.samples[0], self.samples[-1]
        used = last.cpu_user_ns + last.cpu_system_ns - first.cpu_user_ns - first.cpu_system_ns
        # Too short to be told apart is not the same as none.
        return used / max(last.offset_ns - first.offset_ns, 1) or None


def _spans(repetitions: Sequence[Repetition], ends: Sequence[int]) -> list[tuple[int, int]]:
    """From when to when each lasted: its own clock says how long, its line when it was over.

    Lines of a driver that says them all at its end come too late: no two repetitions overlap.
    """
    spans: list[tuple[int, int]] = []
    latest = ends[-1]
    for one, end in zip(reversed(repetitions), reversed(ends), strict=True):
        end = min(end, latest)
        latest = end - one.wall_ns
        spans.append((latest, end))
    return spans[::-1]


def _interval(one: Repetition, start_ns: int, end_ns: int) -> Interval:
    return sent.interval(
        one.repetition,
        (start_ns, end_ns),
        ok=one.iterations - one.errors,
        failed=one.errors,
        opened=_opened(one),
        round_trips=one.histogram,
        generator=_used([one]),
    )


def _used(repetitions: Sequence[Repetition]) -> Generator:
    """The driver's own CPU."""
    user = sum(one.cpu_user_ns for one in repetitions)
    system = sum(one.cpu_system_ns for one in repetitions)
    return Generator(
        cpu_user_ns=user,
        cpu_system_ns=system,
        loop_utilisation=(user + system) / sum(one.wall_ns for one in repetitions),
    )


def _opened(one: Repetition) -> int:
    """New connections: a kept one that stood before is told with each repetition."""
    return max(0, (one.connections or 0) - (one.mode == "kept"))


def _summary(repetitions: Sequence[Repetition], intervals: Sequence[Interval]) -> Summary:
    opened = sum(interval.connections.opened for interval in intervals)
    kept = repetitions[0].mode == "kept"
    return sent.summary(
        intervals,
        Connections(
            attempted=opened + kept,
            opened=opened + kept,
            closed={RENEWED: opened} if kept and opened else {},
        ),
        {"service_time": hdr.merge(one.histogram for one in repetitions).text},
        _used(repetitions),
    )


def _samples(seen: Seen, instants: Sequence[int], began_ns: int) -> tuple[ProcessSample, ...]:
    """From the first line on: before it, the server also met connections and warm-up.

    Of a driver with one line, or one that says them all at once, every reading must do.
    """
    apart = any(one < other for one, other in pairwise(instants))
    since = instants[0] if apart else began_ns
    return observed.samples((one for one in seen.readings if one.at_ns >= since), began_ns)

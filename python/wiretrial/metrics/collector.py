"""Sums up what a trial's snapshots tell, and gives all of its metrics about once a second.

Pure: snapshots in, batches out. Knows what a snapshot says and which metric that is; must not know
where metrics go. Counters count from the trial's begin, as the labels of each trial are its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from wiretrial import redaction
from wiretrial.metrics import families
from wiretrial.metrics.families import Batch, Distribution, Family, Kind, Labels, Value
from wiretrial.results import added, hdr, quantiles
from wiretrial.results.hdr import Hdr
from wiretrial.snapshot import (
    Bytes,
    Connections,
    Counters,
    Generator,
    Interval,
    Snapshot,
    Start,
    Summary,
)

STEP_NS: Final = 1_000_000_000
"""Between two batches."""
_BOUNDS_NS: Final = np.array([round(bound * 1e9) for bound in families.BOUNDS_S])


@dataclass(frozen=True)
class Trial:
    """What tells a trial's metrics from those of others."""

    study: str
    scenario: str
    trial: str
    subject: str

    def labels(self) -> Labels:
        """As labels of every metric. URLs lose their secrets."""
        told = {
            "scenario": redaction.text(self.scenario),
            "study": self.study,
            "subject": redaction.text(self.subject),
            "trial": self.trial,
        }
        return tuple(told.items())


@dataclass
class _Sums:
    """Everything since the trial began."""

    counters: Counters = field(default_factory=Counters)
    connections: Connections = field(default_factory=Connections)
    bytes: Bytes = field(default_factory=Bytes)
    generator: Generator = field(default_factory=Generator)
    times: dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]] = field(default_factory=dict)
    """Of each histogram, how many values each bucket has."""
    times_s: dict[str, float] = field(default_factory=dict)


class Collector:
    """The metrics of one trial."""

    def __init__(self, trial: Trial) -> None:
        self._labels = trial.labels()
        self._began_ns: int | None = None
        """Unix time of the engine's start; None: it has not told."""
        self._sums = _Sums()
        self._pending: list[Interval] = []
        self._server_ns: tuple[int, int] | None = None
        """CPU time of the server at the begin, and as it was read last."""
        self._agents: Mapping[str, Interval] = {}
        self._last: Batch | None = None
        self._seen: dict[tuple[Family, Labels], Value | Distribution] = {}
        """Every series that has begun, as it was told last."""

    def see(
        self,
        snapshot: Snapshot,
        server_ns: int | None = None,
        agents: Mapping[str, Interval] | None = None,
    ) -> Iterator[Batch]:
        """Takes in a snapshot; gives what is due.

        `server_ns`: CPU time of the server up to now, where it is watched. `agents`: what each
        agent of a fleet told last.
        """
        if server_ns is not None:
            first = self._server_ns[0] if self._server_ns else server_ns
            self._server_ns = first, server_ns
        self._agents = agents or {}
        if isinstance(snapshot, Start):
            # What primed a server is over by then, and counts for nothing.
            yield from self.end()
            self._begin(snapshot)
            yield from self._batches(0, {}, is_measuring=False)
        elif isinstance(snapshot, Interval) and self._began_ns is not None:
            self._pending.append(snapshot)
            if snapshot.end_ns - self._pending[0].start_ns >= STEP_NS:
                yield from self._step()
        elif isinstance(snapshot, Summary):
            yield from self.end()

    def end(self) -> Iterator[Batch]:
        """What is left, and that no more follows."""
        if self._pending:
            yield from self._step()
        if self._last is not None:
            # A series that ends is shown to its end; without this for five minutes beyond.
            yield Batch(
                at_ns=self._last.at_ns + 1_000_000,
                began_ns=self._last.began_ns,
                points=tuple(map(_ended, self._seen.values())),
            )
        self._last = None
        self._seen = {}

    def _begin(self, start: Start) -> None:
        self._began_ns = start.started_unix_ns
        self._sums = _Sums()
        self._pending = []
        self._server_ns = None

    def _step(self) -> Iterator[Batch]:
        """What stands at the end of the intervals that are pending."""
        pending, self._pending = self._pending, []
        sums = self._sums
        sums.counters = added.in_turn([sums.counters, *(one.counters for one in pending)])
        sums.connections = added.in_turn([sums.connections, *(one.connections for one in pending)])
        sums.bytes = added.in_turn([sums.bytes, *(one.bytes for one in pending)])
        sums.generator = added.in_turn([sums.generator, *(one.generator for one in pending)])
        merged: dict[str, Hdr] = {}
        for name in families.TIMES:
            texts = [text for one in pending if (text := one.histograms.get(name))]
            if texts:
                merged[name] = hdr.merge(texts)
                self._count(name, merged[name])
        last = pending[-1]
        busy = [one.generator.loop_utilisation for one in pending]
        yield from self._batches(
            last.end_ns,
            merged,
            is_measuring=last.phase == "measure",
            busy=sum(busy) / len(busy),
        )

    def _count(self, name: str, times: Hdr) -> None:
        buckets = self._sums.times.setdefault(name, np.zeros(len(_BOUNDS_NS) + 1, dtype=np.int64))
        values = np.array([value for value, _ in times.values], dtype=np.int64)
        counts = np.array([count for _, count in times.values], dtype=np.int64)
        # A value on a bound belongs to the bucket below it, as `le` says.
        np.add.at(buckets, np.searchsorted(_BOUNDS_NS, values, side="left"), counts)
        spent_s = times.mean * times.count / 1e9
        self._sums.times_s[name] = self._sums.times_s.get(name, 0.0) + spent_s

    def _batches(
        self, offset_ns: int, times: Mapping[str, Hdr], *, is_measuring: bool, busy: float = 0.0
    ) -> Iterator[Batch]:
        assert self._began_ns is not None
        points: tuple[Value | Distribution, ...] = (
            *self._counted(),
            *self._standing(is_measuring=is_measuring, busy=busy),
            *self._distributions(),
            *self._quantiles(times),
            *self._told_of_agents(),
        )
        new = [one for one in points if (one.family, one.labels) not in self._seen]
        if self._last is not None and (zeros := tuple(_zeros(new))):
            # A counter that begins above 0 is taken to have stood there: its growth would be lost.
            yield Batch(self._last.at_ns, self._began_ns, zeros)
        self._seen.update({(one.family, one.labels): one for one in points})
        self._last = Batch(self._began_ns + offset_ns, self._began_ns, points)
        yield self._last

    def _counted(self) -> Iterator[Value]:
        sums = self._sums
        yield self._value(families.SENT, sums.counters.sent)
        yield self._value(families.OK, sums.counters.ok)
        yield from self._by_class(families.FAILED, sums.counters.errors)
        yield self._value(families.OPENED, sums.connections.opened)
        yield from self._by_class(families.REFUSED, sums.connections.failed)
        yield from self._by_class(families.CLOSED, sums.connections.closed)
        yield self._value(families.BYTES_SENT, sums.bytes.sent)
        yield self._value(families.BYTES_RECEIVED, sums.bytes.received)
        for mode, spent_ns in (
            ("system", sums.generator.cpu_system_ns),
            ("user", sums.generator.cpu_user_ns),
        ):
            yield self._value(families.GENERATOR_CPU, spent_ns / 1e9, mode=mode)
        if self._server_ns is not None:
            first, last = self._server_ns
            yield self._value(families.SERVER_CPU, (last - first) / 1e9)

    def _standing(self, *, is_measuring: bool, busy: float) -> Iterator[Value]:
        sums = self._sums
        yield self._value(families.IN_FLIGHT, sums.counters.in_flight)
        yield self._value(families.WAITING, sums.counters.waiting)
        yield self._value(families.OPEN, sums.connections.open)
        yield self._value(families.GENERATOR_BUSY, busy)
        yield self._value(families.MEASURING, float(is_measuring))

    def _distributions(self) -> Iterator[Distribution]:
        for name, buckets in self._sums.times.items():
            yield Distribution(
                families.TIMES[name],
                self._labels,
                tuple(int(count) for count in buckets),
                self._sums.times_s[name],
            )

    def _quantiles(self, times: Mapping[str, Hdr]) -> Iterator[Value]:
        """Those of the last step for which enough values came."""
        for name, family in families.QUANTILES_OF.items():
            if (found := times.get(name)) is None:
                continue
            for q in families.QUANTILES:
                if (value := quantiles.told(found, q)) is not None:
                    yield self._value(family, value / 1e9, quantile=f"{q:g}")

    def _told_of_agents(self) -> Iterator[Value]:
        for name, last in self._agents.items():
            length_ns = max(1, last.end_ns - last.start_ns)
            rate = last.counters.ok * 1e9 / length_ns
            yield self._value(families.AGENT_RATE, rate, agent=name)
            yield self._value(families.AGENT_OPEN, last.connections.open, agent=name)
            yield self._value(families.AGENT_BUSY, last.generator.loop_utilisation, agent=name)

    def _by_class(self, family: Family, counts: Mapping[str, int]) -> Iterator[Value]:
        for name, count in sorted(counts.items()):
            yield self._value(family, count, **{"class": name})

    def _value(self, family: Family, value: float, **labels: str) -> Value:
        return Value(family, tuple(sorted((*self._labels, *labels.items()))), float(value))


def _zeros(points: Iterable[Value | Distribution]) -> Iterator[Value | Distribution]:
    """The counters among them, and the histograms, before anything was counted."""
    for one in points:
        if isinstance(one, Distribution):
            yield Distribution(one.family, one.labels, (0,) * len(one.counts), 0.0)
        elif one.family.kind is Kind.COUNTER:
            yield Value(one.family, one.labels, 0.0)


def _ended(point: Value | Distribution) -> Value | Distribution:
    if isinstance(point, Value):
        return Value(point.family, point.labels, None)
    return Distribution(point.family, point.labels, point.counts, point.sum_s, ends=True)

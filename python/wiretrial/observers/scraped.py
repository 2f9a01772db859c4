"""From scraped series to the readings of a host or of containers: pure.

Knows the metrics of node_exporter and of cAdvisor, and what of them is a counter; must not know
how they were asked for. Instants are Unix times of the Prometheus server until `ours` makes them
instants of our clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from wiretrial.observers import scrapes
from wiretrial.observers.scrapes import Counter, Point, Series
from wiretrial.observers.watch import HostCpu, HostReading, Part, Reading

HOST_CPU: Final = "node_cpu_seconds_total"
HOST_BOOT: Final = "node_boot_time_seconds"
HOST_MEMORY: Final = "node_memory_MemTotal_bytes"
HOST_AVAILABLE: Final = "node_memory_MemAvailable_bytes"
HOST_METRICS: Final = (HOST_CPU, HOST_BOOT, HOST_MEMORY, HOST_AVAILABLE)
_MODES: Final[dict[str, tuple[str, ...]]] = {
    "user_ns": ("user", "nice"),
    "system_ns": ("system",),
    "irq_ns": ("irq",),
    "softirq_ns": ("softirq",),
    "steal_ns": ("steal",),
    "idle_ns": ("idle", "iowait"),
}
"""Of each field of `HostCpu`, the modes of node_exporter that it holds."""

CPU: Final = "container_cpu_usage_seconds_total"
_COUNTERS: Final[dict[str, tuple[str, float]]] = {
    "total_ns": (CPU, 1e9),
    "user_ns": ("container_cpu_user_seconds_total", 1e9),
    "system_ns": ("container_cpu_system_seconds_total", 1e9),
    "throttled_ns": ("container_cpu_cfs_throttled_seconds_total", 1e9),
    "throttled_periods": ("container_cpu_cfs_throttled_periods_total", 1),
    "periods": ("container_cpu_cfs_periods_total", 1),
    "oom_kills": ("container_oom_events_total", 1),
}
"""Of each field of `Reading` that is a counter, the metric of cAdvisor, and what one of it is."""
_GAUGES: Final[dict[str, str]] = {
    "group_bytes": "container_memory_usage_bytes",
    "processes": "container_processes",
    "threads": "container_threads",
}
_LIMIT: Final = "container_spec_memory_limit_bytes"
_QUOTA, _PERIOD = "container_spec_cpu_quota", "container_spec_cpu_period"
CONTAINER_METRICS: Final = (
    *(metric for metric, _ in _COUNTERS.values()),
    *_GAUGES.values(),
    *(_LIMIT, _QUOTA, _PERIOD),
)
METRIC: Final = "__name__"
_IDENTITY: Final = ("id", "namespace", "pod", "container", "name")
_SOURCE: Final = ("job", "instance")
DURATION: Final = "scrape_duration_seconds"
"""Prometheus writes it for each target; a sample has the instant at which the scrape began."""
RESOLUTION_NS: Final = 10_000_000
"""Of user and system time on control groups of version 1: the kernel's ticks."""
GONE_AFTER: Final = 2.5
"""Intervals: a series without a sample for longer has ended."""

Ours = Callable[[float], int]
"""An instant of our clock, in nanoseconds, from a Unix time of the server's."""


@dataclass(frozen=True)
class Target:
    """What a Prometheus scraped: a host or a container, by the labels that tell it from others."""

    labels: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, series: Series, names: Iterable[str]) -> Target:
        """Whose series it is."""
        return cls(tuple((name, series.label(name)) for name in names if series.label(name)))

    def __str__(self) -> str:
        return ", ".join(f'{name}="{value}"' for name, value in self.labels)


def sources(series: Iterable[Series], metric: str) -> list[Target]:
    """Which targets a metric was scraped from."""
    told = (one for one in series if one.label(METRIC) == metric)
    return sorted({Target.of(one, _SOURCE) for one in told}, key=str)


def containers(series: Iterable[Series]) -> dict[Target, list[Target]]:
    """The containers whose CPU time is told, and by which targets that were scraped."""
    found: dict[Target, set[Target]] = {}
    for one in series:
        if one.label(METRIC) == CPU:
            found.setdefault(Target.of(one, _IDENTITY), set()).add(Target.of(one, _SOURCE))
    return {key: sorted(value, key=str) for key, value in found.items()}


def instants(series: Iterable[Series], metric: str) -> list[float]:
    """When samples of a metric were taken, each instant once."""
    return sorted(
        {point.at_s for one in series if one.label(METRIC) == metric for point in one.points}
    )


def host_readings(series: Sequence[Series], ours: Ours) -> tuple[HostReading, ...]:
    """A reading for each scrape of a host's CPU time."""
    modes: dict[str, list[Counter]] = {}
    for one in series:
        if one.label(METRIC) == HOST_CPU:
            modes.setdefault(one.label("mode"), []).append(Counter.of(one.points))

    def gauge(metric: str, at_s: float) -> float | None:
        found = (one.points for one in series if one.label(METRIC) == metric)
        return scrapes.last(next(found, ()), at_s)

    def used(at_s: float) -> int | None:
        total, available = gauge(HOST_MEMORY, at_s), gauge(HOST_AVAILABLE, at_s)
        return None if total is None or available is None else round(total - available)

    def cpu(at_s: float) -> HostCpu:
        return HostCpu(
            **{
                name: _scaled(_sum(found, at_s), 1e9)
                for name, held in _MODES.items()
                if (found := [one for mode in held for one in modes.get(mode, ())])
            }
        )

    return tuple(
        HostReading(
            at_ns=ours(at_s),
            cpu=cpu(at_s),
            used_bytes=used(at_s),
        )
        for at_s in instants(series, HOST_CPU)
    )


def cpus(series: Iterable[Series]) -> int | None:
    """How many CPUs a host has; None: it tells of none."""
    return len({one.label("cpu") for one in series if one.label(METRIC) == HOST_CPU}) or None


def booted_s(series: Iterable[Series]) -> float | None:
    """When a host was started, Unix time; None: it does not tell."""
    told = [one.points[-1].value for one in series if one.label(METRIC) == HOST_BOOT]
    return told[0] if told else None


def part(name: str, address: str, series: Sequence[Series], ours: Ours) -> Part:
    """The containers together, as one part of an application."""
    every = [_Container.of(own) for own in _by_container(series)]
    times = _common([one.counters["total_ns"].points for one in every])
    gap = _gap_s([one.counters["total_ns"].points for one in every])
    resets = sum(len(one.counters["total_ns"].resets) for one in every)
    lacks = [
        f"{metric}: this Prometheus has none"
        for name_, (metric, _) in _COUNTERS.items()
        if name_ in ("user_ns", "system_ns") and not any(name_ in one.counters for one in every)
    ]
    if resets:
        lacks.append(
            f"CPU time around {'a restart' if resets == 1 else f'{resets} restarts'}: what was used"
            " between the last scrape and it is not known"
        )
    return Part(
        name=name,
        address=address,
        readings=tuple(_reading(every, at_s, gap, ours) for at_s in times),
        lacks=tuple(lacks),
        cpu_resolution_ns=RESOLUTION_NS,
    )


@dataclass(frozen=True)
class _Container:
    """One container: its counters by the field of `Reading`, its gauges by metric."""

    key: str
    counters: Mapping[str, Counter] = field(default_factory=dict)
    gauges: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, series: Sequence[Series]) -> _Container:
        counters: dict[str, Counter] = {}
        for name, (metric, _) in _COUNTERS.items():
            if points := _added(one for one in series if one.label(METRIC) == metric):
                counters[name] = Counter.of(points)
        gauges = {
            one.label(METRIC): one.points
            for one in series
            if one.label(METRIC) in (*_GAUGES.values(), _LIMIT, _QUOTA, _PERIOD)
        }
        return cls(str(Target.of(series[0], (*_IDENTITY, *_SOURCE))), counters, gauges)

    def life(self, at_s: float, gap_s: float) -> str | None:
        """What a restart changes; None where it does not run at that instant."""
        own = self.counters["total_ns"]
        if not own.points[0].at_s <= at_s <= own.points[-1].at_s + GONE_AFTER * gap_s:
            return None
        return f"{self.key}#{sum(reset <= at_s for reset in own.resets)}"

    def count(self, name: str, at_s: float, begun_s: float) -> float | None:
        """A counter at an instant. Before its birth it is 0, after its end what it was last."""
        counter = self.counters.get(name)
        if counter is None:
            return None
        first, last = counter.points[0], counter.points[-1]
        if at_s > last.at_s:
            return last.value
        if at_s < first.at_s:
            return 0.0 if first.at_s > begun_s else first.value
        return counter.at(at_s)


def _by_container(series: Iterable[Series]) -> Iterator[list[Series]]:
    found: dict[Target, list[Series]] = {}
    for one in series:
        found.setdefault(Target.of(one, (*_IDENTITY, *_SOURCE)), []).append(one)
    for own in found.values():
        if any(one.label(METRIC) == CPU and one.points for one in own):
            yield own


def _added(series: Iterable[Series]) -> tuple[Point, ...]:
    """The series of all CPUs as one; where there is one of all of them already, that."""
    every = list(series)
    whole = [one for one in every if one.label("cpu") == "total"] or every
    found: dict[float, float] = {}
    for one in whole:
        for point in one.points:
            found[point.at_s] = found.get(point.at_s, 0.0) + point.value
    return tuple(Point(at, found[at]) for at in sorted(found))


def _common(every: Sequence[Sequence[Point]]) -> list[float]:
    """The instants at which something is known of all that run then."""
    if not every:
        return []
    times = sorted({point.at_s for points in every for point in points})
    gap = _gap_s(every)
    newest = times[-1]
    # Of those that still run, one was scraped a little earlier than the other.
    alive = [points[-1].at_s for points in every if points[-1].at_s >= newest - GONE_AFTER * gap]
    oldest = times[0]
    old = [points[0].at_s for points in every if points[0].at_s <= oldest + GONE_AFTER * gap]
    return [at for at in times if max(old) <= at <= min(alive)]


def _gap_s(every: Iterable[Sequence[Point]]) -> float:
    """How far apart the samples of each usually are; of those of which there are two."""
    return max((scrapes.interval_s(points) or 0.0 for points in every), default=0.0)


def _reading(every: Sequence[_Container], at_s: float, gap_s: float, ours: Ours) -> Reading:
    firsts = [one.counters["total_ns"].points[0].at_s for one in every]
    begun_s = min(firsts) + GONE_AFTER * gap_s
    counted: dict[str, Any] = {
        name: _scaled(_known(one.count(name, at_s, begun_s) for one in every), factor)
        for name, (_, factor) in _COUNTERS.items()
    }
    alive = [one for one in every if one.life(at_s, gap_s) is not None]

    def gauge(metric: str) -> float | None:
        return _known(scrapes.last(one.gauges.get(metric, ()), at_s) for one in alive)

    measured: dict[str, Any] = {name: _scaled(gauge(metric), 1) for name, metric in _GAUGES.items()}
    limit, quota, period = gauge(_LIMIT), gauge(_QUOTA), gauge(_PERIOD)
    return Reading(
        at_ns=ours(at_s),
        **counted,
        **measured,
        # Of several, each has the same period.
        quota_cpus=quota / (period / len(alive)) if quota and period else None,
        # 0, or 2^63 less a page: it has none.
        limit_bytes=round(limit) if limit and limit < 2**60 else None,
        life="; ".join(sorted(filter(None, (one.life(at_s, gap_s) for one in every)))),
    )


def _known(values: Iterable[float | None]) -> float | None:
    """The sum; None where one of them is unknown, or there is none."""
    found = list(values)
    known = [one for one in found if one is not None]
    return sum(known) if known and len(known) == len(found) else None


def _sum(counters: Sequence[Counter], at_s: float) -> float | None:
    return _known(one.at(at_s) for one in counters)


def _scaled(value: float | None, factor: float) -> int | None:
    return None if value is None else round(value * factor)

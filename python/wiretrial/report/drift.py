"""What drifted over a long run: throughput, times, the server's memory and CPU.

Knows a trial's intervals and samples; must not know how a slope is estimated. The window that
counts is cut into as many steps as can be told apart, each of which has one figure per quantity.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from wiretrial import words
from wiretrial.report import units
from wiretrial.report.measures import Measured
from wiretrial.report.units import Unit
from wiretrial.results import hdr, quantiles
from wiretrial.results.model import Trial
from wiretrial.snapshot import Interval
from wiretrial.stats import drift
from wiretrial.stats.drift import Point, Slope

LONG_NS = 600 * 10**9
"""A run of this length is told of even if nobody asks."""
STEPS = 40
MEMORY = "server memory"
MEMORY_MATERIAL = 0.02
"""It hardly scatters, and what leaks does not stop."""
MINUTE, HOUR = ("min", 60.0), ("h", 3600.0)
PER_HOUR_NS = 3 * 3600 * 10**9
"""Of longer runs slopes are told per hour."""


@dataclass(frozen=True)
class Quantity:
    """One that was followed. `slope` is per second, in base units; None: it did not drift."""

    name: str
    units: tuple[Unit, ...]
    slope: Slope | None
    length_ns: int
    """For how long."""

    @property
    def told(self) -> str:
        """`server memory grew 1.20 MB/min (0.900 to 1.50)`."""
        assert self.slope is not None
        per, seconds = MINUTE if self.length_ns < PER_HOUR_NS else HOUR
        value = abs(self.slope.value) * seconds
        low, high = sorted(abs(end) * seconds for end in (self.slope.low, self.slope.high))
        unit = units.fitting(self.units, (value,))
        by = unit.figure(value)
        by += f" {unit.name} per {per}" if unit.short.endswith("/s") else f" {unit.short}/{per}"
        way = "grew" if self.slope.value > 0 else "fell"
        return f"{self.name} {way} by {by} ({unit.figure(low)} to {unit.figure(high)})"


@dataclass(frozen=True)
class Drift:
    """What was followed."""

    quantities: tuple[Quantity, ...]

    @property
    def drifted(self) -> tuple[Quantity, ...]:
        """Those that did."""
        return tuple(one for one in self.quantities if one.slope is not None)

    @property
    def sentence(self) -> str:
        """`Drift: server memory grew by 1.20 MB/min (0.900 to 1.50) throughout.`"""
        if self.drifted:
            told = units.listed(one.told for one in self.drifted)
            return f"Drift: {told} throughout."
        names = units.listed(one.name for one in self.quantities)
        return f"No drift over {units.length(self.quantities[0].length_ns)}: {names}."


def of(trial: Trial) -> Drift | None:
    """What drifted; None where the run was short and nobody asked, or nothing can be followed."""
    length_ns = trial.window.end_ns - trial.window.start_ns
    is_asked = trial.scenario.is_soak or length_ns >= LONG_NS
    if not is_asked or trial.plan.load.stages or trial.driven:
        return None
    steps = _steps(Measured(trial).counted)
    found = tuple(_quantities(trial, steps, length_ns))
    return Drift(found) if found else None


def _steps(inside: Sequence[Interval]) -> list[Sequence[Interval]]:
    """As many of equal length as there are intervals for."""
    each = max(1, len(inside) // STEPS)
    steps = [inside[at : at + each] for at in range(0, len(inside), each)]
    return [step for step in steps if len(step) == each]


def _quantities(
    trial: Trial, steps: Sequence[Sequence[Interval]], length_ns: int
) -> Iterator[Quantity]:
    what = words.of_target(trial.plan.target)
    from_due = Measured(trial).from_due
    series = (
        ("throughput", units.rates(what), _throughput(steps)),
        ("p99", units.TIMES, _p99(steps, "response_time" if from_due else "service_time")),
        (MEMORY, units.BYTES, _memory(trial, steps)),
        (f"server CPU per {what.one}", units.TIMES, _cpu(trial, steps)),
    )
    for name, kinds, points in series:
        # Of what is known of only some of the time nothing is told.
        if len(points) >= max(drift.FEWEST, 0.8 * len(steps)):
            material = MEMORY_MATERIAL if name == MEMORY else drift.MATERIAL
            yield Quantity(name, kinds, drift.drift(points, material), length_ns)


def _throughput(steps: Sequence[Sequence[Interval]]) -> list[Point]:
    return [
        (_middle_s(step), sum(one.counters.ok for one in step) * 1e9 / length)
        for step in steps
        if (length := sum(one.end_ns - one.start_ns for one in step))
    ]


def _p99(steps: Sequence[Sequence[Interval]], kind: str) -> list[Point]:
    found = []
    for step in steps:
        times = hdr.merge(one.histograms[kind] for one in step if kind in one.histograms)
        if (value := quantiles.told(times, 0.99)) is not None:
            found.append((_middle_s(step), float(value)))
    return found


def _memory(trial: Trial, steps: Sequence[Sequence[Interval]]) -> list[Point]:
    found = []
    for step in steps:
        start, end = step[0].start_ns, step[-1].end_ns
        own = [s.rss_bytes for s in trial.subject_samples if start <= s.offset_ns < end]
        if own:
            found.append((_middle_s(step), sum(own) / len(own)))
    return found


def _cpu(trial: Trial, steps: Sequence[Sequence[Interval]]) -> list[Point]:
    """CPU time per reply between the first samples of each two steps."""
    samples = trial.subject_samples
    offsets = [one.offset_ns for one in samples]
    starts = (bisect_right(offsets, step[0].start_ns) for step in steps)
    chosen = [samples[at] for at in dict.fromkeys(starts) if at < len(samples)]
    ends = [one.end_ns for one in trial.intervals]
    replies = [0, *accumulate(one.counters.ok for one in trial.intervals)]

    def answered(at_ns: int) -> float:
        """Replies until then, as if those of an interval came evenly."""
        place = bisect_right(ends, at_ns)
        if place == len(ends):
            return replies[-1]
        one = trial.intervals[place]
        share = max(at_ns - one.start_ns, 0) / max(one.end_ns - one.start_ns, 1)
        return replies[place] + share * one.counters.ok

    found = []
    for before, after in pairwise(chosen):
        spent = after.cpu_user_ns + after.cpu_system_ns - before.cpu_user_ns - before.cpu_system_ns
        came = answered(after.offset_ns) - answered(before.offset_ns)
        if came > 0 and spent >= 0:
            found.append(((before.offset_ns + after.offset_ns) / 2e9, spent / came))
    return found


def _middle_s(step: Sequence[Interval]) -> float:
    return (step[0].start_ns + step[-1].end_ns) / 2e9

"""Routes over the time of a run: which of them are shown, and the line of each.

Knows a trial's intervals by route; must not know how a line is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wiretrial.report import moments
from wiretrial.report.by_route import P50, P99, Time
from wiretrial.report.measures import Measured
from wiretrial.report.routes import Route
from wiretrial.results import hdr, quantiles
from wiretrial.results.hdr import Hdr
from wiretrial.results.model import Trial
from wiretrial.snapshot import Interval

MOST_ROUTES = 6
"""More lines can't be told apart."""
STEPS = 60
FEWEST_STEPS = 5
"""A line of fewer quantiles shows no course."""
_QUANTILES: dict[Time, float] = {"p99": P99, "p50": P50}

Point = tuple[float, float]
"""Seconds since the first message, and a value in base units."""


@dataclass(frozen=True)
class RouteLine:
    """One route. `rates`: verified replies per second; `times`: its quantile, nanoseconds."""

    name: str
    rates: tuple[Point, ...]
    times: tuple[Point, ...]
    """Empty where too few replies came."""


@dataclass(frozen=True)
class RouteCourse:
    """The slowest routes of a run, the slowest first."""

    lines: tuple[RouteLine, ...]
    left_out: int
    """Routes that are not shown."""
    time: Time
    """The quantile of `times`: the p99 where each line has enough replies for it."""


def of_trial(trial: Trial) -> RouteCourse | None:
    """None where the run was too short, or had a single route."""
    found = Measured(trial).routed.routes
    if len(found) < 2 or len(moments.inside(trial)) < moments.FEWEST:
        return None
    shown = sorted(found, key=_slowness, reverse=True)[:MOST_ROUTES]
    time = time_of(shown)
    names = [route.name for route in shown]
    return RouteCourse(lines(trial, names, time, STEPS), len(found) - len(shown), time)


def time_of(shown: Iterable[Route]) -> Time:
    """The p99 where each of these has enough replies for some steps, else the p50."""
    counts = (route.times.count for route in shown if route.times.count)
    return "p99" if min(counts, default=0) >= FEWEST_STEPS * quantiles.needed(P99) else "p50"


def lines(trial: Trial, names: Sequence[str], time: Time, steps: int) -> tuple[RouteLine, ...]:
    """Those of these routes that the trial has, in this order."""
    known, inside = trial.start.traffic, moments.inside(trial)
    if known is None or len(inside) < moments.FEWEST:
        return ()
    kind = "response_time" if Measured(trial).from_due else "service_time"
    begin_ns, found = trial.summary.first_send_ns, []
    for name in names:
        if name in known.routes:
            index = known.routes.index(name)
            rates = _rates(inside, index, begin_ns, steps)
            times = _times(inside, index, begin_ns, steps, kind, _QUANTILES[time])
            found.append(RouteLine(name, rates, times))
    return tuple(found)


def _slowness(route: Route) -> int:
    for q in (P99, P50):
        if value := quantiles.told(route.times, q):
            return value
    return 0


def _rates(inside: Sequence[Interval], index: int, begin_ns: int, steps: int) -> tuple[Point, ...]:
    found = []
    for part in moments.joined(inside, steps):
        ok = sum(one.traffic.routes[index].ok for one in part if one.traffic)
        length = max(sum(one.end_ns - one.start_ns for one in part), 1)
        found.append((_middle_s(part, begin_ns), ok * 1e9 / length))
    return tuple(found)


def _times(
    inside: Sequence[Interval], index: int, begin_ns: int, steps: int, kind: str, q: float
) -> tuple[Point, ...]:
    """A quantile per step; each step is as long as the quantile needs."""
    replies = sum(one.traffic.routes[index].ok for one in inside if one.traffic)
    steps = min(steps, replies // quantiles.needed(q))
    if steps < FEWEST_STEPS:
        return ()
    found = []
    for part in moments.joined(inside, steps):
        of_each = (one.traffic.routes[index].histograms.get(kind) for one in part if one.traffic)
        times: Hdr = hdr.merge(text for text in of_each if text)
        if value := quantiles.told(times, q):
            found.append((_middle_s(part, begin_ns), float(value)))
    return tuple(found)


def _middle_s(part: Sequence[Interval], begin_ns: int) -> float:
    start = max(part[0].start_ns - begin_ns, 0)
    return (start + part[-1].end_ns - begin_ns) / 2e9

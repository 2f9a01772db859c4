"""Routes, and flows of sessions, over the trials of a scenario; and where two scenarios differ.

Knows trials and estimates; must not know how any of it is shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from wiretrial.report.measures import Measured
from wiretrial.report.routes import Flow, Route
from wiretrial.results import quantiles
from wiretrial.stats.compare import Comparison, Verdict, compare, holm, verdict
from wiretrial.stats.summary import Estimate, summarise

Time = Literal["p99", "p50"]
"""What routes are compared by: the p99 where each of them has enough replies for one."""
P50, P99 = 0.5, 0.99

_Part = TypeVar("_Part", Route, Flow)
_Figure = Callable[[Measured, _Part], float | None]


@dataclass(frozen=True)
class Result:
    """One route, or one flow of sessions, over the trials of a scenario.

    `figures` by name and block, `estimates` by name, in base units: those of usable trials. `sent`
    and `failed` are of all trials, warm-up included.
    """

    name: str
    figures: Mapping[str, Mapping[int, float]]
    estimates: Mapping[str, Estimate]
    sent: int
    failed: int

    def median(self, figure: str) -> float | None:
        """The figure's median; None where a trial cannot tell it."""
        estimate = self.estimates.get(figure)
        return None if estimate is None else estimate.median


@dataclass(frozen=True)
class Apart:
    """How many times the p99 (or p50) of `base` a scenario has on one route."""

    figure: Time
    route: str
    scenario: str
    base: str
    comparison: Comparison
    verdict: Verdict

    @property
    def is_shown(self) -> bool:
        """Whether one of both is shown to be faster."""
        return self.verdict in ("A faster", "B faster")


def routes(runs: Sequence[Measured]) -> tuple[Result, ...]:
    """Each route over the trials of one scenario, in the order of the plan."""
    parts = {run.trial.block: run.routed.routes for run in runs}
    return _results(
        runs,
        parts,
        _ROUTE,
        lambda route: (route.sent_in_all, route.failed),
    )


def flows(runs: Sequence[Measured]) -> tuple[Result, ...]:
    """Each flow of sessions in the same way."""
    parts = {run.trial.block: run.routed.flows for run in runs}
    return _results(
        runs,
        parts,
        _FLOW,
        lambda flow: (flow.begun, sum(flow.failed.values())),
    )


def time_of(scenarios: Iterable[Sequence[Result]]) -> Time:
    """What the routes of these scenarios are told apart by."""
    every = (route for found in scenarios for route in found)
    return "p99" if all("p99" in route.estimates for route in every) else "p50"


def slowest(found: Sequence[Result], time: Time) -> Result | None:
    """The route that takes longest; None of a single one, or where none can be told."""
    known = [route for route in found if route.median(time) is not None]
    if len(found) < 2 or not known:
        return None
    return max(known, key=lambda route: route.median(time) or 0.0)


def first_to_see(found: Sequence[Result]) -> list[Result]:
    """Those that failed first, then the slowest."""
    time = time_of([found])
    return sorted(found, key=lambda one: (-bool(one.failed), -(one.median(time) or 0.0)))


def apart(
    base: str, own: Sequence[Result], others: Mapping[str, Sequence[Result]]
) -> tuple[Apart, ...]:
    """Each other scenario against `base`, route by route; Holm's family is all of them."""
    by_name = {route.name: route for route in own}
    time = time_of([own, *others.values()])
    compared = [
        (route.name, scenario, found)
        for scenario, theirs in others.items()
        for route in theirs
        if route.name in by_name and (found := _against(route, by_name[route.name], time))
    ]
    adjusted = holm([found.p for _, _, found in compared])
    return tuple(
        Apart(time, name, scenario, base, found, verdict(found, p, higher_is_better=False))
        for (name, scenario, found), p in zip(compared, adjusted, strict=True)
    )


def furthest(found: Sequence[Apart]) -> Apart | None:
    """The greatest difference that is shown."""
    shown = [one for one in found if one.is_shown]
    return max(shown, key=lambda one: abs(math.log(one.comparison.ratio)), default=None)


def _against(one: Result, other: Result, time: Time) -> Comparison | None:
    left, right = one.figures[time], other.figures[time]
    blocks = sorted(left.keys() & right.keys())
    if len(blocks) < 2:
        return None
    return compare([left[block] for block in blocks], [right[block] for block in blocks])


def _results(
    runs: Sequence[Measured],
    parts: Mapping[int, Sequence[_Part]],
    taken: Mapping[str, _Figure[_Part]],
    counted: Callable[[_Part], tuple[int, int]],
) -> tuple[Result, ...]:
    known = [run for run in runs if parts[run.trial.block]]
    if not known:
        return ()
    found = []
    for index, first in enumerate(parts[known[0].trial.block]):
        own = [(run, parts[run.trial.block][index]) for run in known]
        usable = [(run, part) for run, part in own if run.is_usable]
        figures = {
            name: {run.trial.block: value for run, part in usable if (value := of(run, part))}
            for name, of in taken.items()
        }
        counts = [counted(part) for _, part in own]
        found.append(
            Result(
                name=first.name,
                figures=figures,
                estimates={
                    name: summarise(list(values.values()))
                    for name, values in figures.items()
                    if values and len(values) == len(usable)
                },
                sent=sum(sent for sent, _ in counts),
                failed=sum(failed for _, failed in counts),
            )
        )
    return tuple(found)


def _waited(run: Measured, route: Route, q: float) -> float | None:
    """A quantile of the route's times. A failed request counts as slower than any reply."""
    # Of a rate that was not reached, they grow for as long as the trial lasts.
    if run.is_overloaded or quantiles.told(route.times, q) is None:
        return None
    return quantiles.of_all(route.times, route.failed_inside, q)


_ROUTE: Mapping[str, _Figure[Route]] = {
    "share": lambda _, route: route.share,
    "rate": lambda _, route: route.rate,
    "p50": lambda run, route: _waited(run, route, P50),
    "p99": lambda run, route: _waited(run, route, P99),
    "blocked": lambda _, route: quantiles.told(route.blocked, P99),
    "bytes": lambda _, route: route.bytes_received / route.ok if route.ok else None,
}
_FLOW: Mapping[str, _Figure[Flow]] = {
    "rate": lambda run, flow: flow.done * 1e9 / run.counted_ns if run.counted_ns else None,
    "p50": lambda _, flow: quantiles.told(flow.iterations, P50),
    "p99": lambda _, flow: quantiles.told(flow.iterations, P99),
    "waited": lambda _, flow: quantiles.told(flow.waits, P99),
}

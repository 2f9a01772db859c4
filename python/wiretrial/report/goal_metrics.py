"""The goals of traffic files as figures of a report: of the whole run, of a route, of a flow.

Knows what each goal is about; must not know how a figure is held against its bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wiretrial.goals import QUANTILES, Goal
from wiretrial.report import units
from wiretrial.report.measures import Measured
from wiretrial.report.metrics import Metric
from wiretrial.report.routes import Flow, Route
from wiretrial.results import hdr, quantiles
from wiretrial.results.hdr import Hdr

GROWS = "it grows with the run: the offered rate was not reached"


def metric(goal: Goal) -> Metric:
    """The goal's figure, taken from a trial."""
    whose, name = _Whose(goal), goal.name
    if goal.figure == "errors":
        return Metric(name, name, (units.PERCENT,), whose.failed_share)
    if goal.figure == "throughput":
        return Metric(name, name, units.RATES, whose.rate, higher_is_better=True, bound="at least")
    return Metric(name, name, units.TIMES, whose.time, withheld=whose.withheld)


def counted(goal: Goal) -> Callable[[Measured], tuple[int, int]]:
    """How many requests that the goal is about failed, of how many, in the whole run."""
    return _Whose(goal).counts


def all_failures(run: Measured) -> tuple[int, int]:
    """The same of everything that the run sent."""
    counters = run.trial.summary.counters
    return sum(counters.errors.values()), counters.sent


@dataclass(frozen=True)
class _Whose:
    """What the goal is about, in a trial."""

    goal: Goal

    def rate(self, run: Measured) -> float | None:
        if self.goal.of is None:
            return run.throughput
        route = self._route(run)
        return route.rate if route else None

    def failed_share(self, run: Measured) -> float | None:
        failed, sent = self.counts(run)
        return failed / sent if sent else None

    def counts(self, run: Measured) -> tuple[int, int]:
        if self.goal.of is None:
            return all_failures(run)
        route = self._route(run)
        return (route.failed, route.sent_in_all) if route else (0, 0)

    def time(self, run: Measured) -> float | None:
        if self.withheld(run):
            return None
        times, failed = self._times(run)
        if self._figure in QUANTILES:
            return quantiles.of_all(times, failed, QUANTILES[self._figure])
        return float(times.max) if self._figure == "max" else times.mean

    def withheld(self, run: Measured) -> str | None:
        times, failed = self._times(run)
        if run.is_overloaded:
            return GROWS
        if self._figure not in QUANTILES:
            return None if times.count else "there is no time of it"
        q = QUANTILES[self._figure]
        what = "sessions" if self._is_of_sessions else quantiles.REPLIES
        if reason := quantiles.withheld(times.count, q, what):
            return reason
        if quantiles.of_all(times, failed, q) is None:
            return quantiles.among_failed(failed, failed + times.count, q)
        return None

    @property
    def _figure(self) -> str:
        return self.goal.figure.rpartition(".")[2]

    @property
    def _is_of_sessions(self) -> bool:
        return "." in self.goal.figure

    def _times(self, run: Measured) -> tuple[Hdr, int]:
        """The times, and how many failures count as slower than any of them."""
        if self._is_of_sessions:
            flow = self._flow(run)
            waits = self.goal.figure.startswith("wait.")
            return (flow.waits if waits else flow.iterations) if flow else hdr.merge(()), 0
        if self.goal.of is None:
            return run.waiting_time, run.failed
        route = self._route(run)
        return (route.times, route.failed_inside) if route else (hdr.merge(()), 0)

    def _route(self, run: Measured) -> Route | None:
        return next((one for one in run.routed.routes if one.name == self.goal.of), None)

    def _flow(self, run: Measured) -> Flow | None:
        named = (one for one in run.routed.flows if self.goal.of in (None, one.name))
        return next(named, None)

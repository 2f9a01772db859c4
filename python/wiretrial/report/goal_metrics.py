"""The goals of traffic files and of `--goal`: what each is about, and whether a run kept it.

The one place that says how failures count towards a goal: as requests that were not answered within
any time. So a quantile that lies among them, and a maximum beside one, is longer than any bound;
and of a rate that was not reached no time is told. Knows goals and a run's figures; must not know
who asks, nor how trials are taken together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wiretrial.goals import QUANTILES, Goal
from wiretrial.report import units
from wiretrial.report.measures import Measured
from wiretrial.report.metrics import Metric
from wiretrial.report.routes import Flow, Route
from wiretrial.results import hdr, quantiles
from wiretrial.results.hdr import Hdr
from wiretrial.results.model import Trial

GROWS = "the offered rate was not reached, so it grows with the run"
MAX = "max"


@dataclass(frozen=True)
class Outcome:
    """One goal and what the run had.

    `value` None: `why` says why it is longer than any time (`is_beyond`), or cannot be told. Either
    way the goal is missed.
    """

    goal: Goal
    value: float | None
    why: str | None = None
    is_beyond: bool = False
    of_replies: float | None = None
    """The figure of right replies alone, whatever it says of the goal."""

    @property
    def is_kept(self) -> bool:
        """Whether the figure lies within the bound."""
        if self.value is None:
            return False
        match self.goal.relation:
            case "<":
                return self.value < self.goal.value
            case "<=":
                return self.value <= self.goal.value
            case ">":
                return self.value > self.goal.value
            case _:
                return self.value >= self.goal.value

    @property
    def line(self) -> str:
        """`kept: login.p99 < 50 ms (41.2 ms)`."""
        return f"{'kept' if self.is_kept else 'missed'}: {self.goal} ({self._told})"

    @property
    def found(self) -> str:
        """`login.p99 is 41.2 ms`."""
        if self.value is not None:
            return f"{self.goal.name} is {self._told}"
        return (
            f"{self.goal.name}: {self.why}" if self.is_beyond else f"{self.goal.name} {self._told}"
        )

    @property
    def _told(self) -> str:
        if self.value is not None:
            return _shown(self.goal.figure, self.value)
        return f"{self.why}" if self.is_beyond else f"cannot be told: {self.why}"


def judge(goals: Sequence[Goal], trial: Trial) -> tuple[Outcome, ...]:
    """Each goal against the run, in the order in which they stand."""
    run = Measured(trial)
    return tuple(_outcome(goal, run) for goal in goals)


def _outcome(goal: Goal, run: Measured) -> Outcome:
    whose = _Whose(goal)
    if goal.figure == "errors":
        return Outcome(goal, whose.failed_share(run), "no request of it was sent")
    if goal.figure == "throughput":
        return Outcome(goal, whose.rate(run), "nothing was measured of it")
    beyond = whose.beyond(run)
    return Outcome(
        goal,
        whose.time(run),
        whose.withheld(run),
        is_beyond=beyond is not None,
        of_replies=whose.of_replies(run),
    )


def metric(goal: Goal) -> Metric:
    """The goal's figure, taken from a trial."""
    whose, name = _Whose(goal), goal.name
    if goal.figure == "errors":
        return Metric(name, name, (units.PERCENT,), whose.failed_share)
    if goal.figure == "throughput":
        return Metric(name, name, units.RATES, whose.rate, higher_is_better=True, bound="at least")
    return Metric(name, name, units.TIMES, whose.time, withheld=whose.withheld, beyond=whose.beyond)


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
        return float(times.max) if self._figure == MAX else times.mean

    def withheld(self, run: Measured) -> str | None:
        """Why there is no time to hold against the bound; None: there is one."""
        if run.is_overloaded:
            return GROWS
        if beyond := self.beyond(run):
            return beyond
        times, _ = self._times(run)
        what = "sessions" if self._is_of_sessions else quantiles.REPLIES
        if self._figure in QUANTILES:
            return quantiles.withheld(times.count, QUANTILES[self._figure], what)
        return None if times.count else f"no {what.removesuffix('s')} of it came"

    def beyond(self, run: Measured) -> str | None:
        """Why it is longer than any time; None: it is not, or that cannot be told."""
        times, failed = self._times(run)
        if run.is_overloaded:
            return None
        if self._figure in QUANTILES:
            return quantiles.beyond(times, failed, QUANTILES[self._figure])
        if self._figure == MAX and failed:
            return f"{failed:,} of {failed + times.count:,} failed, which is longer than any time"
        return None

    def of_replies(self, run: Measured) -> float | None:
        """The figure of right replies alone."""
        times, _ = self._times(run)
        if self._figure in QUANTILES:
            return quantiles.told(times, QUANTILES[self._figure])
        if not times.count:
            return None
        return float(times.max) if self._figure == MAX else times.mean

    @property
    def _figure(self) -> str:
        return self.goal.figure.rpartition(".")[2]

    @property
    def _is_of_sessions(self) -> bool:
        return self.goal.is_of_sessions

    def _times(self, run: Measured) -> tuple[Hdr, int]:
        """The times, and how many failures count as slower than any of them."""
        if self._is_of_sessions:
            flow = self._flow(run)
            if flow is None:
                return hdr.merge(()), 0
            if self.goal.figure.startswith("wait."):
                return flow.waits, 0
            return flow.iterations, sum(flow.failed.values())
        if self.goal.is_of_blocked:
            return run.blocked_time(self.goal.of), 0
        if self.goal.of is None:
            return run.waiting_time, run.failed
        route = self._route(run)
        return (route.times, route.failed_inside) if route else (hdr.merge(()), 0)

    def _route(self, run: Measured) -> Route | None:
        return next((one for one in run.routed.routes if one.name == self.goal.of), None)

    def _flow(self, run: Measured) -> Flow | None:
        named = (one for one in run.routed.flows if self.goal.of in (None, one.name))
        return next(named, None)


def _shown(figure: str, value: float) -> str:
    if figure == "errors":
        return f"{100 * value:.3g} %"
    return f"{value:,.0f}/s" if figure == "throughput" else units.duration(value)

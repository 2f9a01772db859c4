"""Whether a run kept the goals of its traffic file.

Knows goals and a run's routes and flows; must not know how either was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wiretrial.goals import QUANTILES, Goal
from wiretrial.report import units
from wiretrial.report.measures import Measured
from wiretrial.report.routes import Routed
from wiretrial.results import quantiles
from wiretrial.results.hdr import Hdr
from wiretrial.results.model import Trial


@dataclass(frozen=True)
class Outcome:
    """One goal with what the run had; None: it cannot be told, and counts as missed."""

    goal: Goal
    value: float | None

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
        return f"{'kept' if self.is_kept else 'missed'}: {self.goal} ({self._shown})"

    @property
    def found(self) -> str:
        """`login.p99 is 41.2 ms`."""
        return f"{self.goal.name} {'' if self.value is None else 'is '}{self._shown}"

    @property
    def _shown(self) -> str:
        return "cannot be told" if self.value is None else _shown(self.goal.figure, self.value)


def judge(goals: Sequence[Goal], trial: Trial) -> tuple[Outcome, ...]:
    """Each goal against the run, in the order of the file."""
    measured = Measured(trial)
    return tuple(Outcome(goal, _value(goal, measured)) for goal in goals)


def _value(goal: Goal, measured: Measured) -> float | None:
    if goal.figure.startswith(("iteration.", "wait.")):
        return next(_of_flows(goal, measured.routed), None)
    if goal.of is None:
        return _figure(
            goal.figure, measured.waiting_time, measured.failed_share, measured.throughput
        )
    (route,) = (one for one in measured.routed.routes if one.name == goal.of)
    return _figure(goal.figure, route.times, route.failed_share, route.rate)


def _of_flows(goal: Goal, routed: Routed) -> Iterator[float | None]:
    what, _, figure = goal.figure.partition(".")
    for flow in routed.flows:
        if goal.of in (None, flow.name):
            yield _time(figure, flow.iterations if what == "iteration" else flow.waits)


def _figure(
    figure: str, times: Hdr, failed: float | None, throughput: float | None
) -> float | None:
    if figure == "errors":
        return failed
    return throughput if figure == "throughput" else _time(figure, times)


def _time(figure: str, times: Hdr) -> float | None:
    if not times.count:
        return None
    if figure in QUANTILES:
        return quantiles.told(times, QUANTILES[figure])
    return float(times.max) if figure == "max" else times.mean


def _shown(figure: str, value: float) -> str:
    if figure == "errors":
        return f"{100 * value:.3g} %"
    return f"{value:,.0f}/s" if figure == "throughput" else units.duration(value)

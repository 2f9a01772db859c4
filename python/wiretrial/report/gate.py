"""A gate: stated bounds, held against a result and, where they are relative, against a baseline.

Knows thresholds as people write them and the figures that they are about; must not know how a
decision is printed. Every scenario of the result is held against every threshold that fits it.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from wiretrial import quantities, suggest, words
from wiretrial.errors import UsageProblem
from wiretrial.report import gate_figures as figures
from wiretrial.report import goal_metrics, metrics, units
from wiretrial.report.measures import Measured
from wiretrial.report.metrics import Metric
from wiretrial.report.versus import ALONE
from wiretrial.results.absent import Missing
from wiretrial.results.model import Scenario, Trial
from wiretrial.stats import bounds
from wiretrial.stats.bounds import Bound
from wiretrial.stats.gate import (
    Decision,
    bounded,
    of_one,
    of_pairs,
    of_ratio,
    of_shares,
    of_values,
)

NAMES: dict[str, Metric] = {
    "throughput": metrics.THROUGHPUT,
    "server.cpu": metrics.SERVER,
    "server.user": metrics.SERVER_USER,
    "server.system": metrics.SERVER_SYSTEM,
    "generator.cpu": metrics.GENERATOR,
    "bytes.application": metrics.APPLICATION_BYTES,
    "bytes.tcp": metrics.TRANSPORT_BYTES,
    "connect.p50": metrics.CONNECT,
    "errors": metrics.ERRORS,
    **{
        f"{kind}.{metric.key}": metric
        for kind in ("response", "service")
        for metric in metrics.WAITING
    },
}
"""What a threshold may be about. CPU is per message; `response` is for open loops, `service` for
closed ones."""

_TIMES = {True: "response", False: "service"}
"""The times of a scenario that is an open loop, or is not."""

_FORM = re.compile(
    r"^\s*(?P<name>[a-z0-9.]+)\s*(?P<sign><=|>=)\s*(?P<bound>[^@]+?)\s*(@\s*(?P<only>.+?)\s*)?$"
)
BASELINE = "the baseline"
GOAL = "goal"
"""The name of a bound that a traffic file states."""
EXAMPLE = "'throughput >= 0.95x' or 'response.p99 <= 2ms'"


@dataclass(frozen=True)
class Threshold:
    """One bound. `relative`: of the baseline's value. `only`: scenarios that it is about."""

    text: str
    name: str
    metric: Metric
    at_least: bool
    bound: float
    relative: bool
    only: str | None
    counted: Callable[[Measured], tuple[int, int]] | None = None
    """Of a share of failures: how many failed, of how many; None: it is no share."""

    def fits(self, scenario: str, *, is_open_loop: bool) -> bool:
        """Whether it is about this scenario."""
        kind, _, _ = self.name.partition(".")
        return self.names(scenario) and kind != _TIMES[not is_open_loop]

    def names(self, scenario: str) -> bool:
        """Whether its pattern does."""
        return self.only is None or fnmatchcase(scenario, self.only)


@dataclass(frozen=True)
class Row:
    """One threshold on one scenario. `decision` is None where there is nothing to decide on."""

    scenario: str
    threshold: Threshold
    decision: Decision | None
    text: str
    is_missing: bool = False
    """The scenario was asked for and has no figure: the gate fails."""
    is_broken: bool = False
    """It has none that is as short as any bound: too many messages failed."""

    @property
    def outcome(self) -> str:
        """`kept`, `broken`, `missing` or `cannot tell`."""
        if self.is_missing or self.is_broken:
            return "missing" if self.is_missing else "broken"
        return self.decision.outcome if self.decision else "cannot tell"


def parse(text: str) -> Threshold:
    """The threshold that a person wrote."""
    found = _FORM.match(text)
    if not found:
        raise UsageProblem(f"--threshold {text!r} is not a bound", f"write it as {EXAMPLE}")
    name = found["name"]
    if name not in NAMES:
        raise UsageProblem(
            f"--threshold {text!r}: there is no metric {name!r}",
            suggest.remedy(name, sorted(NAMES)),
        )
    metric, bound = NAMES[name], found["bound"]
    relative = bound.endswith("x")
    if metric is metrics.ERRORS and (relative or found["sign"] == ">="):
        raise UsageProblem(
            f"--threshold {text!r}: errors have an upper bound, which is a share",
            "write it as 'errors <= 0.1%'",
        )
    return Threshold(
        text=text.strip(),
        name=name,
        metric=metric,
        at_least=found["sign"] == ">=",
        bound=_ratio(text, bound[:-1]) if relative else _absolute(metric, bound),
        relative=relative,
        only=found["only"],
        counted=goal_metrics.all_failures if metric is metrics.ERRORS else None,
    )


def of_goals(scenarios: Iterable[Scenario]) -> list[Threshold]:
    """The goals of traffic files as bounds, each on the scenario that it was stated for."""
    found = []
    for scenario in scenarios:
        for goal in scenario.goals if scenario.twin_of is None else ():
            is_share = goal.figure == "errors"
            if is_share and goal.is_floor:
                raise UsageProblem(
                    f"{scenario.name}: goal {goal}", 'write an upper bound: errors = "< 0.1%"'
                )
            found.append(
                Threshold(
                    text=str(goal),
                    name=GOAL,
                    metric=goal_metrics.metric(goal),
                    at_least=goal.is_floor,
                    bound=goal.value,
                    relative=False,
                    only=glob.escape(scenario.name),
                    counted=goal_metrics.counted(goal) if is_share else None,
                )
            )
    return found


@dataclass(frozen=True)
class _Other:
    """What a relative bound is relative to. `is_paired`: it shares blocks with what is held."""

    name: str
    runs: Sequence[Measured]
    is_paired: bool = False


def decide(
    trials: Sequence[Trial],
    baseline: Sequence[Trial],
    thresholds: Sequence[Threshold],
    missing: Sequence[Missing] = (),
    against: str | None = None,
    *,
    is_run: bool = False,
) -> list[Row]:
    """Every scenario against every threshold that fits it.

    `missing`: scenarios that were asked for and have no trial. Those whose trials are all unusable
    are found here. `against`: the scenario of the same result that relative bounds are relative to,
    instead of the same scenario of `baseline`. `is_run`: the result is one run by itself, and
    bounds that are not relative are about that run.
    """
    if against is not None:
        return _against(against, figures.by_scenario(trials), thresholds, missing)
    if not baseline and any(threshold.relative for threshold in thresholds):
        relative = next(t for t in thresholds if t.relative)
        raise UsageProblem(
            f"--threshold {relative.text!r} needs something to compare with",
            "name a result (--baseline), or a scenario of this one (--against)",
        )
    new, old = figures.by_scenario(trials), figures.by_scenario(baseline)
    rows = [
        row
        for scenario, runs in new.items()
        for threshold in thresholds
        if threshold.fits(scenario, is_open_loop=runs[0].is_open_loop)
        for row in _row(
            scenario, runs, _Other(BASELINE, old.get(scenario, [])), threshold, is_run=is_run
        )
    ]
    return _complete(rows, new, thresholds, missing)


def _against(
    name: str,
    new: Mapping[str, Sequence[Measured]],
    thresholds: Sequence[Threshold],
    missing: Sequence[Missing],
) -> list[Row]:
    """Every other scenario against `name`, which is itself held against absolute bounds only."""
    reasons = {one.scenario: one.why for one in missing}
    if name not in new and name not in reasons:
        raise UsageProblem(
            f"--against {name}: there is no such scenario",
            suggest.remedy(name, (*new, *reasons), f"use one of {units.listed((*new, *reasons))}"),
        )
    other = _Other(name, new.get(name, ()), is_paired=True)
    if not any(run.is_usable for run in other.runs) and any(_failures(other.runs)):
        reasons[name] = next(_failures(other.runs))
    rows = []
    for scenario, runs in new.items():
        for threshold in thresholds:
            if not threshold.fits(scenario, is_open_loop=runs[0].is_open_loop):
                continue
            if threshold.relative and scenario == name:
                continue
            if threshold.relative and name in reasons:
                text = f"{name}, which it is held against, has no figure: {reasons[name]}"
                rows.append(Row(scenario, threshold, None, text, is_missing=True))
            else:
                rows += _row(scenario, runs, other, threshold)
    return _complete(rows, new, thresholds, missing)


def _complete(
    rows: Sequence[Row],
    new: Mapping[str, Sequence[Measured]],
    thresholds: Sequence[Threshold],
    missing: Sequence[Missing],
) -> list[Row]:
    """The rows with those of missing scenarios; a threshold that is about none is refused."""
    rows = [
        *rows,
        *(
            _lacking(one.scenario, threshold, one.why)
            for one in missing
            for threshold in thresholds
            if threshold.fits(one.scenario, is_open_loop=one.is_open_loop)
        ),
    ]
    known = {name: runs[0].is_open_loop for name, runs in new.items()}
    known |= {one.scenario: one.is_open_loop for one in missing}
    for threshold in thresholds:
        if not any(row.threshold is threshold for row in rows):
            raise _about_none(threshold, known)
    return rows


def _about_none(threshold: Threshold, known: Mapping[str, bool]) -> UsageProblem:
    """What is there instead. `known`: each scenario, and whether it is an open loop."""
    named = [name for name in known if threshold.names(name)]
    others = [name for name in named if not threshold.fits(name, is_open_loop=known[name])]
    if not others:
        return UsageProblem(
            f"--threshold {threshold.text!r} matches no scenario",
            f"there are {units.listed(known)}",
        )
    is_open_loop = known[others[0]]
    kind, _, quantile = threshold.name.partition(".")
    one, many = (
        ("an open loop", "open loops") if is_open_loop else ("a closed loop", "closed loops")
    )
    loops = one if len(others) == 1 else many
    return UsageProblem(
        f"--threshold {threshold.text!r}: there are no {kind} times of {units.listed(others)},"
        f" {loops}",
        f"write {_TIMES[is_open_loop]}.{quantile}",
    )


def _row(
    scenario: str,
    runs: Sequence[Measured],
    other: _Other,
    threshold: Threshold,
    *,
    is_run: bool = False,
) -> Iterator[Row]:
    if threshold.counted:
        # Those of trials that they made invalid count too.
        yield _of_errors(scenario, runs, threshold, threshold.counted)
        return
    if not any(run.is_usable for run in runs):
        yield _unusable(scenario, runs, threshold)
        return
    metric = threshold.metric
    if not threshold.at_least and (reason := figures.beyond(runs, metric)):
        yield Row(scenario, threshold, None, reason, is_broken=True)
        return
    for told, whose in ((runs, ""), (other.runs if threshold.relative else (), f"{other.name}: ")):
        if reason := figures.withheld(told, metric):
            yield Row(scenario, threshold, None, whose + reason)
            return
    values, before = figures.values(runs, metric), figures.values(other.runs, metric)
    kind = figures.bound(runs, metric)
    if not values:
        yield Row(scenario, threshold, None, "no usable trial has this figure")
        return
    if not threshold.relative:
        told_values = list(values.values())
        decision = (
            of_one(told_values[0], threshold.bound, at_least=threshold.at_least)
            if is_run
            else of_values(
                told_values,
                threshold.bound,
                at_least=threshold.at_least,
                occasions=figures.occasions(values),
            )
        )
        decision = bounded(decision, kind, at_least=threshold.at_least)
        # The reader knows the bound: it is the figure that must be easy to read.
        what = words.of_all(run.trial.scenario.protocol for run in runs)
        unit = metric.unit((decision.value,), what)
        yield Row(scenario, threshold, decision, _told(decision, unit, kind, is_run=is_run))
        return
    blocks = sorted(values.keys() & before.keys())
    if other.is_paired and not blocks:
        text = f"no block has a usable trial of both it and {other.name}"
        yield Row(scenario, threshold, None, text)
        return
    if not before:
        yield Row(scenario, threshold, None, "the baseline has no usable trial of it")
        return
    if other.is_paired:
        sides = [values[block] for block in blocks], [before[block] for block in blocks]
        decision = of_pairs(
            *sides,
            threshold.bound,
            at_least=threshold.at_least,
            occasions=figures.occasions(blocks),
        )
    else:
        sides = list(values.values()), list(before.values())
        decision = of_ratio(
            *sides,
            threshold.bound,
            at_least=threshold.at_least,
            occasions=(figures.occasions(values), figures.occasions(before)),
        )
    kind = bounds.ratio(kind, figures.bound(other.runs, metric))
    decision = bounded(decision, kind, at_least=threshold.at_least)
    yield Row(scenario, threshold, decision, _told(decision, None, kind, other.name))


def _of_errors(
    scenario: str,
    runs: Sequence[Measured],
    threshold: Threshold,
    counted: Callable[[Measured], tuple[int, int]],
) -> Row:
    what = words.of_all(run.trial.scenario.protocol for run in runs)
    by_occasion: dict[int, list[tuple[int, int]]] = {}
    for run in runs:
        by_occasion.setdefault(run.trial.occasion, []).append(counted(run))
    each = [(sum(f for f, _ in part), sum(s for _, s in part)) for part in by_occasion.values()]
    failed, sent = sum(f for f, _ in each), sum(s for _, s in each)
    if not sent:
        return _lacking(scenario, threshold, f"no {what.one} was sent")
    decision = of_shares([part for part in each if part[1]], threshold.bound)
    text = f"{failed:,} of {sent:,} {what.many} failed"
    if failed:
        text += f", {_percents(decision)}"
    if decision.outcome == "cannot tell":
        text += f"; more {what.many} would tell"
    return Row(scenario, threshold, decision, text)


def _percents(decision: Decision) -> str:
    shares = (decision.value, decision.low or 0.0, decision.high or 0.0)
    value, low, high = map(units.PERCENT.figure, shares)
    return f"{value} % ({low} to {high})"


def _unusable(scenario: str, runs: Sequence[Measured], threshold: Threshold) -> Row:
    """Where the server failed in a trial it has no figure; a disturbed machine says nothing of it.

    The steps of a search go beyond the limit on purpose.
    """
    is_step = runs[0].trial.scenario.search is not None
    for why in () if is_step else _failures(runs):
        return _lacking(scenario, threshold, why)
    return Row(scenario, threshold, None, _without_use(runs[0]))


def _failures(runs: Sequence[Measured]) -> Iterator[str]:
    """In what the server failed, trial by trial."""
    return (_without_use(run) for run in runs if _has_failed(run.trial))


def _without_use(run: Measured) -> str:
    return f"no trial of it is usable: {run.trial.judgement.evidence}"


def _has_failed(trial: Trial) -> bool:
    counters = trial.summary.counters
    failed = any(counters.errors.values()) or not counters.ok
    return failed or trial.judgement.verdict == "stalled"


def _lacking(scenario: str, threshold: Threshold, why: str) -> Row:
    text = f"it was asked for and has no figure: {why}"
    return Row(scenario, threshold, None, text, is_missing=True)


def _told(
    decision: Decision,
    unit: units.Unit | None,
    kind: Bound,
    other: str = BASELINE,
    *,
    is_run: bool = False,
) -> str:
    """The value with its interval, and what would help where it cannot be told."""

    def figure(value: float) -> str:
        return units.significant(value) if unit is None else unit.figure(value)

    name = f"times {other}" if unit is None else unit.name
    text = f"{'' if kind == 'exact' else f'{kind} '}{figure(decision.value)} {name}"
    if decision.low is not None and decision.high is not None:
        text += f" ({figure(decision.low)} to {figure(decision.high)})"
    elif is_run:
        text += ", in this one run"
    if decision.outcome != "cannot tell":
        return text
    if kind != "exact":
        return f"{text}; the load generator was the limit, use more of its threads"
    if decision.low is None:
        return f"{text}; {ALONE}"
    if decision.needed is None:
        return f"{text}; more {decision.unit} would hardly tell"
    return f"{text}; about {decision.needed} {decision.unit} would tell"


def _ratio(text: str, bound: str) -> float:
    try:
        value = float(bound)
    except ValueError:
        value = 0.0
    if value <= 0:
        raise UsageProblem(f"--threshold {text!r}: {bound!r} is not a factor", f"write {EXAMPLE}")
    return value


def _absolute(metric: Metric, bound: str) -> float:
    """The bound in the metric's base unit: nanoseconds, bytes, or messages per second."""
    if metric is metrics.ERRORS:
        return quantities.share(bound, "--threshold")
    if metric is metrics.THROUGHPUT:
        return quantities.rate(bound, "--threshold")
    if metric in (metrics.APPLICATION_BYTES, metrics.TRANSPORT_BYTES):
        return float(quantities.size_bytes(bound, "--threshold"))
    return float(quantities.duration_ns(bound, "--threshold", 1))

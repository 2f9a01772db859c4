"""Rows and results: each trial's figures, and each scenario over its trials.

Knows measured trials and estimates; must not know what a scenario is compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from wiretrial import words
from wiretrial.report import by_route, metrics
from wiretrial.report.by_route import Result
from wiretrial.report.curves import CurvePoint, curve
from wiretrial.report.measures import Measured
from wiretrial.report.metrics import METRICS, Metric
from wiretrial.results import offered
from wiretrial.results.model import USABLE, Bottleneck, Trial, Verdict
from wiretrial.stats import bounds
from wiretrial.stats.bounds import Bound
from wiretrial.stats.summary import Estimate, summarise
from wiretrial.words import Noun


@dataclass(frozen=True)
class TrialRow:
    """One trial in a picture or a table. `figures` by metric key, base units."""

    block: int
    position: int
    verdict: Verdict
    bottleneck: Bottleneck
    evidence: str
    figures: Mapping[str, float]
    drifts: bool = False
    """Whether it never settled, so that its figures are of something that changed."""
    occasion: int = 1
    """On which of the study's occasions it was measured."""

    @property
    def is_usable(self) -> bool:
        """Whether it enters the estimates; a client-bound rate does, as a lower bound."""
        return self.verdict in USABLE

    @property
    def is_marked(self) -> bool:
        """Whether a reader must be told that it is not simply valid."""
        return self.verdict != "valid"


@dataclass(frozen=True)
class ScenarioResult:
    """One scenario over its trials. `estimates` by metric key, base units."""

    name: str
    group: str
    protocol: str
    subject: str
    version: str
    is_open_loop: bool
    from_due: bool
    """Times are response times then, else service times."""
    ranked_by: Metric
    colour: int
    """Its label's place in the palette: the same through the whole report."""
    trials: tuple[TrialRow, ...]
    estimates: Mapping[str, Estimate]
    at_least: bool
    curve: tuple[CurvePoint, ...]
    bottlenecks: Mapping[str, int]
    what: Noun
    """What the whole report's scenarios send: requests where all of them are HTTP."""
    due: Noun
    """What is due at its rate, if it has one: these, or sessions of them."""
    label: str
    """What tells it from the others of its group."""
    levels: Mapping[str, int | float | str]
    """Where it stands on each factor of its study."""
    twin_of: str | None
    language: str
    is_driven: bool
    """Whether it is a client library, measured by its driver."""
    baseline: str | None = None
    """The scenario that it was declared to be compared with."""
    is_overloaded: bool = False
    """Whether a trial of it did not reach its rate, so that its response times are not ranked."""
    floor_ns: float | None = None
    """What it takes at least by arithmetic."""
    floor_formula: str | None = None
    offered: float | None = None
    """Messages per second that there would be if no reply took any time."""
    wanted: int | None = None
    """No more trials than so many were wanted of it; None: as many as of the others."""
    together: int = 1
    """How many such trials ran at the same time, because they mostly wait."""
    server_cpus: int | None = None
    """On how many CPUs its server was pinned; None where it was not."""
    routes: tuple[Result, ...] = ()
    """Each route, where many were asked."""
    flows: tuple[Result, ...] = ()
    """Each flow of their sessions."""

    @property
    def published(self) -> float | None:
        """Events per second that its receivers hear, whatever they do; None: none are published."""
        rate = self.levels.get("publish")
        return rate if isinstance(rate, int | float) else None

    @property
    def usable(self) -> int:
        """How many trials the estimates rest on."""
        return sum(row.is_usable for row in self.trials)

    @property
    def occasions(self) -> int:
        """On how many occasions those were measured."""
        return len({row.occasion for row in self.trials if row.is_usable})

    @property
    def drifting(self) -> int:
        """How many of its trials never settled."""
        return sum(row.drifts for row in self.trials)

    def bound_of(self, metric: Metric) -> Bound:
        """What the metric's figure is: a bound where the generator was the limit."""
        return metric.bound if self.at_least else "exact"

    def bound(self, metric: Metric) -> str:
        """The sign that stands before the metric's figure where it is a bound; else empty."""
        return bounds.SIGNS[self.bound_of(metric)]

    @property
    def is_declared(self) -> bool:
        """Whether few usable trials are no accident: no more were wanted, or the server stalls."""
        lost = sum(row.verdict == "stalled" for row in self.trials)
        return bool(lost) or (self.wanted is not None and self.usable >= self.wanted)

    def median(self, metric: Metric) -> float | None:
        """The metric's median, None where it cannot be told."""
        estimate = self.estimates.get(metric.key)
        return None if estimate is None else estimate.median


def scenario_results(
    trials: Sequence[Trial],
    order: Sequence[str],
    colours: Mapping[str, int],
    common_rate: Collection[str],
) -> tuple[ScenarioResult, ...]:
    """Each scenario over its trials: those that `order` names first, the rest by name."""
    by_name: dict[str, list[Measured]] = {}
    for trial in trials:
        by_name.setdefault(trial.scenario.name, []).append(Measured(trial))
    place = {name: i for i, name in enumerate(order)}
    names = sorted(by_name, key=lambda name: (place.get(name, len(place)), name))
    what = words.of_all(trial.scenario.protocol for trial in trials)
    return tuple(_scenario(by_name[name], colours, name in common_rate, what) for name in names)


def _scenario(
    measured: Sequence[Measured],
    colours: Mapping[str, int],
    is_at_common_rate: bool,
    what: Noun,
) -> ScenarioResult:
    runs = sorted(measured, key=lambda m: (m.trial.block, m.trial.position))
    usable = [run for run in runs if run.is_usable]
    scenario, subject = runs[0].trial.scenario, runs[0].trial.subject
    return ScenarioResult(
        name=scenario.name,
        group=scenario.group,
        protocol=scenario.protocol,
        subject=scenario.subject,
        version="" if subject is None else subject.version,
        is_open_loop=runs[0].is_open_loop,
        from_due=runs[0].from_due,
        ranked_by=metrics.BY_KEY[scenario.ranked_by]
        if scenario.ranked_by
        else metrics.ranked_metric(
            is_open_loop=runs[0].is_open_loop,
            is_at_common_rate=is_at_common_rate,
            is_timed=bool({"requests", "requests_each"} & scenario.levels.keys()),
            is_driven=runs[0].is_driven,
        ),
        colour=colours[scenario.name],
        trials=tuple(_row(run) for run in runs),
        estimates=_estimates(usable),
        at_least=_is_limited(usable),
        is_overloaded=any(run.is_overloaded for run in usable),
        curve=curve(usable),
        bottlenecks=dict(Counter(run.trial.judgement.bottleneck for run in runs).most_common()),
        what=what,
        due=offered.noun(runs[0].trial, what),
        label=scenario.label or scenario.name,
        levels=scenario.levels,
        twin_of=scenario.twin_of,
        baseline=scenario.baseline,
        floor_ns=scenario.floor_ns,
        floor_formula=scenario.floor_formula,
        wanted=scenario.trials,
        together=scenario.together,
        offered=runs[0].offered,
        server_cpus=runs[0].server_cpu_count,
        language="" if subject is None else subject.language,
        routes=by_route.routes(runs),
        flows=by_route.flows(runs),
        is_driven=runs[0].is_driven,
    )


def _row(measured: Measured) -> TrialRow:
    trial = measured.trial
    figures = {metric.key: metric.of(measured) for metric in METRICS}
    return TrialRow(
        block=trial.block,
        position=trial.position,
        verdict=trial.judgement.verdict,
        bottleneck=trial.judgement.bottleneck,
        evidence=trial.judgement.evidence,
        figures={key: value for key, value in figures.items() if value is not None},
        drifts=trial.kept_drifting,
        occasion=trial.occasion,
    )


def _is_limited(usable: Sequence[Measured]) -> bool:
    """Whether the generator was the limit in a trial."""
    return any(run.trial.judgement.verdict == "client-bound" for run in usable)


def _estimates(usable: Sequence[Measured]) -> dict[str, Estimate]:
    """An estimate per metric that every usable trial can tell."""
    found: dict[str, Estimate] = {}
    for metric in METRICS:
        values = [value for run in usable if (value := metric.of(run)) is not None]
        if values and len(values) == len(usable):
            bound = metric.bound if _is_limited(usable) else "exact"
            occasions = [run.trial.occasion for run in usable]
            told = summarise(values, occasions=occasions, most=metric.most)
            found[metric.key] = replace(told, bound=bound)
    return found

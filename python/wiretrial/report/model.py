"""A report as plain data: estimates, comparisons, ranks, sentences, warnings, facts.

Knows trials and statistics; must not know HTML, charts or terminals. `build` is the only door.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from wiretrial import warnings
from wiretrial.report import contest, facts, sentences, units
from wiretrial.report.contest import OUTSIDE, Contest
from wiretrial.report.measures import Measured
from wiretrial.report.metrics import FEWEST_BEYOND, METRICS, Metric
from wiretrial.results.model import Bottleneck, Trial
from wiretrial.results.model import Verdict as TrialVerdict
from wiretrial.stats.summary import Estimate, summarise

CURVE = (0.5, *(round(1 - 10 ** -(tenths / 10), 8) for tenths in range(4, 41)))


@dataclass(frozen=True)
class TrialRow:
    """One trial in a picture or a table. `figures` by metric key, base units."""

    block: int
    position: int
    verdict: TrialVerdict
    bottleneck: Bottleneck
    evidence: str
    figures: Mapping[str, float]

    @property
    def is_usable(self) -> bool:
        """Whether it enters the estimates; a client-bound rate does, as a lower bound."""
        return self.verdict in ("valid", "client-bound")

    @property
    def is_marked(self) -> bool:
        """Whether a reader must be told that it is not simply valid."""
        return self.verdict != "valid"


@dataclass(frozen=True)
class CurvePoint:
    """One quantile over trials: the median and the range."""

    q: float
    median: float
    low: float
    high: float


@dataclass(frozen=True)
class ScenarioResult:
    """One scenario over its trials. `estimates` by metric key, base units."""

    name: str
    group: str
    protocol: str
    subject: str
    version: str
    is_open_loop: bool
    colour: int
    trials: tuple[TrialRow, ...]
    estimates: Mapping[str, Estimate]
    at_least: bool
    curve: tuple[CurvePoint, ...]
    bottlenecks: Mapping[str, int]

    @property
    def usable(self) -> int:
        """How many trials the estimates rest on."""
        return sum(row.is_usable for row in self.trials)

    def median(self, metric: Metric) -> float | None:
        """The metric's median, None where it cannot be told."""
        estimate = self.estimates.get(metric.key)
        return None if estimate is None else estimate.median


@dataclass(frozen=True)
class Group:
    """Scenarios that are compared with each other."""

    title: str
    is_outside: bool
    scenarios: tuple[ScenarioResult, ...]
    contest: Contest

    @property
    def ranked(self) -> tuple[ScenarioResult, ...]:
        """The scenarios, best first; those without a figure last."""
        by_name = {scenario.name: scenario for scenario in self.scenarios}
        order = [by_name[name] for name in self.contest.ranking.order]
        return (*order, *(s for s in self.scenarios if s.name not in self.contest.ranking.order))


@dataclass(frozen=True)
class WarningRow:
    """One warning, said once. `trials`: how many gave cause; 0 where it is about the study."""

    code: str
    message: str
    advice: str
    trials: int
    scenarios: tuple[str, ...]

    @property
    def where(self) -> str:
        """`2 trials: A and B`, empty where it is about the study."""
        if not self.trials:
            return ""
        first, rest = self.scenarios[:2], len(self.scenarios) - 2
        names = units.listed((*first, f"{rest} more") if rest > 0 else first)
        return f"{units.plural(self.trials, 'trial')}: {names}"


@dataclass(frozen=True)
class ReportModel:
    """Everything that a report shows."""

    title: str
    question: str
    command: str
    verdict_sentences: tuple[str, ...]
    groups: tuple[Group, ...]
    bottlenecks: Mapping[str, int]
    warnings: tuple[WarningRow, ...]
    facts: tuple[facts.Section, ...]
    trials: tuple[Trial, ...]
    group_notes: Mapping[str, str] = field(default_factory=dict)
    """What to say with a group, by its title, where the verdict leaves it out."""

    @property
    def scenarios(self) -> tuple[ScenarioResult, ...]:
        """All scenarios, group by group."""
        return tuple(scenario for group in self.groups for scenario in group.scenarios)

    @property
    def marked(self) -> tuple[tuple[ScenarioResult, TrialRow], ...]:
        """The trials that are not simply valid."""
        return tuple((s, row) for s in self.scenarios for row in s.trials if row.is_marked)


def build(
    trials: Sequence[Trial],
    *,
    question: str,
    title: str,
    command: str,
    verdict_sentences: Sequence[str] | None = None,
    order: Sequence[str] = (),
    baselines: Sequence[str] = (),
) -> ReportModel:
    """The report over `trials`; raises ValueError if there are none.

    `command` runs the study again. `verdict_sentences` replace the automatic ones, which then stand
    with their groups; who was the limit is said in any case. `order` names
    scenarios in the order in which groups and colours follow; the rest follow by name. `baselines`
    name scenarios that their group's sentences compare with, instead of with the best.
    """
    if not trials:
        raise ValueError("a report needs at least one trial")
    scenarios = _scenarios(trials, order)
    groups = _groups(scenarios)
    bottlenecks = Counter(row.bottleneck for s in scenarios for row in s.trials)
    notes: dict[str, str] = {}
    if verdict_sentences is None:
        verdict_sentences = sentences.verdict(groups, baselines)
    else:
        verdict_sentences = (*verdict_sentences, sentences.bottleneck_sentence(groups))
        notes = sentences.group_notes(groups, baselines)
    return ReportModel(
        title=title,
        question=question,
        command=command,
        verdict_sentences=tuple(verdict_sentences),
        groups=groups,
        bottlenecks=dict(bottlenecks.most_common()),
        warnings=_warnings(trials, scenarios),
        facts=facts.sections(trials, command),
        trials=tuple(trials),
        group_notes=notes,
    )


def _scenarios(trials: Sequence[Trial], order: Sequence[str]) -> tuple[ScenarioResult, ...]:
    by_name: dict[str, list[Measured]] = {}
    for trial in trials:
        by_name.setdefault(trial.scenario.name, []).append(Measured(trial))
    place = {name: i for i, name in enumerate(order)}
    names = sorted(by_name, key=lambda name: (place.get(name, len(place)), name))
    return tuple(_scenario(by_name[name], colour) for colour, name in enumerate(names))


def _scenario(measured: Sequence[Measured], colour: int) -> ScenarioResult:
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
        colour=colour,
        trials=tuple(_row(run) for run in runs),
        estimates=_estimates(usable),
        at_least=any(run.trial.judgement.verdict == "client-bound" for run in usable),
        curve=_curve(usable),
        bottlenecks=dict(Counter(run.trial.judgement.bottleneck for run in runs).most_common()),
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
    )


def _estimates(usable: Sequence[Measured]) -> dict[str, Estimate]:
    """An estimate per metric that every usable trial can tell."""
    found: dict[str, Estimate] = {}
    for metric in METRICS:
        values = [value for run in usable if (value := metric.of(run)) is not None]
        if values and len(values) == len(usable):
            found[metric.key] = summarise(values)
    return found


def _curve(usable: Sequence[Measured]) -> tuple[CurvePoint, ...]:
    """Quantiles from the median on, as far as every trial has ten messages beyond."""
    if not usable:
        return ()
    fewest = min(run.waiting_time.count for run in usable)
    points: list[CurvePoint] = []
    for q in CURVE:
        if fewest * (1 - q) < FEWEST_BEYOND - 1e-6:
            break
        values = sorted(run.waiting_time.quantile(q) for run in usable)
        points.append(CurvePoint(q, median(values), values[0], values[-1]))
    return tuple(points)


def _groups(scenarios: Sequence[ScenarioResult]) -> tuple[Group, ...]:
    """Groups in the order of their first scenario, the one outside the verdict last.

    Open and closed loops are never ranked against each other: a group with both becomes two.
    """
    loops: dict[str, set[bool]] = {}
    for scenario in scenarios:
        loops.setdefault(scenario.group, set()).add(scenario.is_open_loop)
    members: dict[tuple[str, str], list[ScenarioResult]] = {}
    for scenario in scenarios:
        loop = "open loop" if scenario.is_open_loop else "closed loop"
        mixed = len(loops[scenario.group]) > 1
        members.setdefault((scenario.group, loop if mixed else ""), []).append(scenario)
    family = contest.run([tuple(group) for group in members.values()])
    groups = [
        Group(
            title=f"{name}, {loop}" if loop else name,
            is_outside=name == OUTSIDE,
            scenarios=tuple(group),
            contest=found,
        )
        for ((name, loop), group), found in zip(members.items(), family, strict=True)
    ]
    return tuple(sorted(groups, key=lambda group: group.is_outside))


def _warnings(
    trials: Sequence[Trial], scenarios: Sequence[ScenarioResult]
) -> tuple[WarningRow, ...]:
    """Every warning once per code and message, with the number of its trials.

    Where figures differ from trial to trial, the first message stands for all.
    """
    found: dict[str, list[tuple[str, str, str]]] = {}
    for trial in trials:
        known = {warning.code: warning for warning in (*warnings.of_trial(trial), *trial.warnings)}
        for warning in known.values():
            entry = (warning.message, warning.advice, trial.scenario.name)
            found.setdefault(warning.code, []).append(entry)
    rows = [_warning_row(code, entries) for code, entries in found.items()]
    for warning in warnings.of_study({s.name: s.usable for s in scenarios}):
        rows.append(WarningRow(warning.code, warning.message, warning.advice, 0, ()))
    gravest = [code.value for code in warnings.Code]
    return tuple(
        sorted(rows, key=lambda r: gravest.index(r.code) if r.code in gravest else len(gravest))
    )


def _warning_row(code: str, entries: Sequence[tuple[str, str, str]]) -> WarningRow:
    message, advice, _ = entries[0]
    names = tuple(dict.fromkeys(name for _, _, name in entries))
    return WarningRow(code, message, advice, len(entries), names)

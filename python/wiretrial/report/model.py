"""A report as plain data: estimates, comparisons, ranks, sentences, warnings, facts.

Knows trials and statistics; must not know HTML, charts or terminals. `build` is the only door.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from wiretrial import warnings
from wiretrial.report import (
    break_even,
    contest,
    facts,
    labels,
    metrics,
    palette,
    pooled,
    sentences,
    units,
)
from wiretrial.report.claims import ClaimRow, judge
from wiretrial.report.contest import OUTSIDE, Contest, Pair
from wiretrial.report.curves import CurvePoint, curve
from wiretrial.report.families import Family, families
from wiretrial.report.knees import Knee, Objective, knees
from wiretrial.report.measures import Measured
from wiretrial.report.metrics import METRICS, Metric
from wiretrial.results.absent import Absent, merged
from wiretrial.results.adoption import Adopted
from wiretrial.results.claims import Claim
from wiretrial.results.model import USABLE, Bottleneck, Trial
from wiretrial.results.model import Verdict as TrialVerdict
from wiretrial.stats import bounds
from wiretrial.stats.bounds import Bound
from wiretrial.stats.summary import Estimate, summarise


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
    ranked_by: Metric
    colour: int
    """Its label's place in the palette: the same through the whole report."""
    trials: tuple[TrialRow, ...]
    estimates: Mapping[str, Estimate]
    at_least: bool
    curve: tuple[CurvePoint, ...]
    bottlenecks: Mapping[str, int]
    label: str
    """What tells it from the others of its group."""
    levels: Mapping[str, int | float | str]
    """Where it stands on each factor of its study."""
    twin_of: str | None
    language: str
    is_driven: bool
    """Whether it is a client library, measured by its driver."""
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

    @property
    def usable(self) -> int:
        """How many trials the estimates rest on."""
        return sum(row.is_usable for row in self.trials)

    def bound_of(self, metric: Metric) -> Bound:
        """What the metric's figure is: a bound where the generator was the limit."""
        return metrics.BOUNDS.get(metric.key, "exact") if self.at_least else "exact"

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


@dataclass(frozen=True)
class Group:
    """Scenarios that are compared with each other."""

    title: str
    is_outside: bool
    scenarios: tuple[ScenarioResult, ...]
    contest: Contest

    @property
    def has_labels(self) -> bool:
        """Whether each scenario has a label of its own."""
        return len({scenario.label for scenario in self.scenarios}) == len(self.scenarios)

    @cached_property
    def called(self) -> Mapping[str, str]:
        """What to call each scenario where the group's title stands above."""
        return {s.name: s.label if self.has_labels else s.name for s in self.scenarios}

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
    document: str = ""
    """The study as JSON: with it the page can be run again."""
    claims: tuple[ClaimRow, ...] = ()
    """What others published, against what was found here."""
    twins: tuple[Pair, ...] = ()
    """A/A pairs: a scenario measured twice, which must come out as no difference."""
    families: tuple[Family, ...] = ()
    """The groups again, those of one workload together."""
    knees: tuple[Knee, ...] = ()
    """Searches for the highest sustained rate."""
    absent: tuple[Absent, ...] = ()
    """Subjects that could not be measured."""
    adopted: tuple[Adopted, ...] = ()
    """What each subject is like to adopt."""
    baselines: tuple[str, ...] = ()
    """Scenarios that the others of their group are compared with."""
    is_run: bool = False
    """It is of one run by itself, as `load` makes it: nothing is estimated or ranked."""

    @property
    def scenarios(self) -> tuple[ScenarioResult, ...]:
        """All scenarios, group by group."""
        return tuple(scenario for group in self.groups for scenario in group.scenarios)

    @property
    def marked(self) -> tuple[tuple[ScenarioResult, TrialRow], ...]:
        """The trials that are not simply valid. A search goes beyond the limit on purpose."""
        return tuple((s, row) for s in self.scenarios for row in s.trials if row.is_marked)

    @property
    def bottleneck_sentence(self) -> str:
        """Who limited how many trials."""
        return sentences.bottleneck_sentence(self.groups, self.knees)

    @property
    def artefact_sentences(self) -> tuple[str, ...]:
        """Known artefacts in the round trips of client libraries: they are what was measured."""
        if not all(scenario.is_driven for scenario in self.scenarios):
            return ()
        return sentences.artefacts(self.warnings)

    @cached_property
    def places(self) -> tuple[break_even.Place, ...]:
        """Where sockets and HTTP were measured with their set-up, and where they cross."""
        order = {scenario.name: place for place, scenario in enumerate(self.scenarios)}
        return break_even.places(
            sorted(self.trials, key=lambda one: order.get(one.scenario.name, len(order)))
        )

    @property
    def round_trip_sentences(self) -> tuple[str, ...]:
        """Client libraries by the other of their two rankings: the verdict is about CPU."""
        return sentences.round_trips(self.families, self.baselines)

    @property
    def muted_sentences(self) -> tuple[str, ...]:
        """What is of less weight: other rankings, who was the limit, whether twins agree."""
        left_out = filter(None, [labels.sentence(self.trials)])
        limit = self.verdict_sentences[-1]
        return (*self.round_trip_sentences, limit, *self.twin_sentences, *left_out)

    @property
    def all_sentences(self) -> tuple[str, ...]:
        """What was found, in words, the most important first; the muted ones are the last."""
        return (
            # Who asks for HTTP or a socket asks this first; one place of several is enough.
            *(place.paragraph for place in self.places[:1]),
            *self.verdict_sentences[:-1],
            *self.artefact_sentences,
            *self.muted_sentences,
        )

    @property
    def twin_sentences(self) -> tuple[str, ...]:
        """What the A/A pairs say about the study itself."""
        return tuple(sentences.twin(pair) for pair in self.twins)


def build(
    trials: Sequence[Trial],
    *,
    question: str,
    title: str,
    command: str,
    verdict_sentences: Sequence[str] | None = None,
    order: Sequence[str] = (),
    baselines: Sequence[str] = (),
    document: str = "",
    claims: Sequence[Claim] = (),
    chart: str | None = None,
    common_rate: Collection[str] = (),
    objectives: Mapping[str, Objective] | None = None,
    absent: Sequence[Absent] = (),
    adopted: Sequence[Adopted] = (),
    is_run: bool = False,
) -> ReportModel:
    """The report over `trials`; raises ValueError if there are none.

    `command` runs the study again. `verdict_sentences` replace the automatic ones, which then stand
    with their groups; who was the limit is said in any case. `order` names
    scenarios in the order in which groups and colours follow; the rest follow by name. `baselines`
    name scenarios that their group's sentences compare with, instead of with the best. `document`
    is the study itself, which the page carries. `claims` are what others published. `chart` is the
    factor that pictures show along their axis. `common_rate` names the scenarios whose rate was
    chosen so that all sustain it. `objectives` name the searches for the highest sustained rate.
    `absent` could not be measured. `adopted` tells what each subject is like to adopt. `is_run`:
    the only trial is a run by itself, and its sentences are all there are.
    """
    if not trials:
        raise ValueError("a report needs at least one trial")
    trials = labels.shortened(trials)
    plain = [trial for trial in trials if trial.scenario.search is None]
    colours = palette.places(trials, order)
    scenarios = _scenarios(plain, order, colours, common_rate)
    groups = _groups([scenario for scenario in scenarios if scenario.twin_of is None])
    together = pooled.told(families(groups, chart))
    searched = knees(trials, objectives or {}, colours)
    twins = contest.twins(scenarios)
    notes: dict[str, str] = {}
    if verdict_sentences is None:
        verdict_sentences = sentences.verdict(together, baselines, searched)
    elif not is_run:
        verdict_sentences = (*verdict_sentences, sentences.bottleneck_sentence(groups, searched))
        notes = sentences.group_notes(groups, baselines)
    return ReportModel(
        title=title,
        question=question,
        command=command,
        verdict_sentences=tuple(verdict_sentences),
        groups=groups,
        bottlenecks=dict(Counter(r.bottleneck for s in scenarios for r in s.trials).most_common()),
        warnings=_of_run(trials) if is_run else _warnings(trials, scenarios, twins),
        facts=facts.sections(trials, command),
        trials=tuple(trials),
        group_notes=notes,
        document=document,
        claims=judge(claims, scenarios, facts.machine_words(trials[0].machine.facts)),
        twins=twins,
        families=together,
        knees=searched,
        absent=merged(absent),
        adopted=tuple(adopted),
        baselines=tuple(baselines),
        is_run=is_run,
    )


def _scenarios(
    trials: Sequence[Trial],
    order: Sequence[str],
    colours: Mapping[str, int],
    common_rate: Collection[str],
) -> tuple[ScenarioResult, ...]:
    by_name: dict[str, list[Measured]] = {}
    for trial in trials:
        by_name.setdefault(trial.scenario.name, []).append(Measured(trial))
    place = {name: i for i, name in enumerate(order)}
    names = sorted(by_name, key=lambda name: (place.get(name, len(place)), name))
    return tuple(_scenario(by_name[name], colours, name in common_rate) for name in names)


def _scenario(
    measured: Sequence[Measured], colours: Mapping[str, int], is_at_common_rate: bool
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
        label=scenario.label or scenario.name,
        levels=scenario.levels,
        twin_of=scenario.twin_of,
        floor_ns=scenario.floor_ns,
        floor_formula=scenario.floor_formula,
        wanted=scenario.trials,
        together=scenario.together,
        offered=runs[0].offered,
        language="" if subject is None else subject.language,
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
            bound = metrics.BOUNDS.get(metric.key, "exact") if _is_limited(usable) else "exact"
            found[metric.key] = replace(summarise(values), bound=bound)
    return found


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
    trials: Sequence[Trial], scenarios: Sequence[ScenarioResult], twins: Sequence[Pair]
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
    differing = [sentences.twin_warning(pair) for pair in twins if pair.winner is not None]
    usable = {s.name: s.usable for s in scenarios if not s.is_declared}
    for warning in (*differing, *warnings.of_study(usable)):
        rows.append(WarningRow(warning.code, warning.message, warning.advice, 0, ()))
    gravest = [code.value for code in warnings.Code]
    return tuple(
        sorted(rows, key=lambda r: gravest.index(r.code) if r.code in gravest else len(gravest))
    )


def _of_run(trials: Sequence[Trial]) -> tuple[WarningRow, ...]:
    """Those of one run: where they are from is no question."""
    return tuple(replace(row, trials=0, scenarios=()) for row in _warnings(trials, (), ()))


def _warning_row(code: str, entries: Sequence[tuple[str, str, str]]) -> WarningRow:
    message, advice, _ = entries[0]
    names = tuple(dict.fromkeys(name for _, _, name in entries))
    return WarningRow(code, message, advice, len(entries), names)

"""A report as plain data: estimates, comparisons, ranks, sentences, warnings, facts.

Knows trials and statistics; must not know HTML, charts or terminals. `build` is the only door.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from wiretrial import words
from wiretrial.report import (
    alerts,
    break_even,
    contest,
    facts,
    labels,
    palette,
    pooled,
    sentences,
)
from wiretrial.report.alerts import WarningRow
from wiretrial.report.claims import ClaimRow, judge
from wiretrial.report.contest import Pair
from wiretrial.report.families import Family, Group, families, grouped
from wiretrial.report.knees import Knee, Objective, knees
from wiretrial.report.scenarios import ScenarioResult, TrialRow, scenario_results
from wiretrial.results.absent import Absent, merged
from wiretrial.results.adoption import Adopted
from wiretrial.results.claims import Claim
from wiretrial.results.model import Trial
from wiretrial.words import Noun


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
    answer: tuple[str, ...] = ()
    """The study's own short sentences, which come before all others."""
    is_run: bool = False
    """It is of one run by itself, as `load` makes it: nothing is estimated or ranked."""

    @property
    def what(self) -> Noun:
        """What was sent: requests where all of it was HTTP."""
        return words.of_all(trial.scenario.protocol for trial in self.trials)

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
        return alerts.artefacts(self.warnings)

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
    answer: Sequence[str] = (),
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
    `absent` could not be measured. `adopted` tells what each subject is like to adopt. `answer` are
    the study's own short sentences. `is_run`:
    the only trial is a run by itself, and its sentences are all there are.
    """
    if not trials:
        raise ValueError("a report needs at least one trial")
    trials = labels.shortened(trials)
    plain = [trial for trial in trials if trial.scenario.search is None]
    colours = palette.places(trials, order)
    scenarios = scenario_results(plain, order, colours, common_rate)
    groups = grouped([scenario for scenario in scenarios if scenario.twin_of is None])
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
        warnings=alerts.of_run(trials) if is_run else alerts.raised(trials, scenarios, twins),
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
        answer=tuple(answer),
        is_run=is_run,
    )

"""A report as plain data: estimates, comparisons, ranks, sentences, warnings, facts.

Knows trials and statistics; must not know HTML, charts or terminals. `build` is the only door.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from wiretrial import words
from wiretrial.report import (
    alerts,
    break_even,
    browsed,
    capacities,
    contest,
    facts,
    findings,
    labels,
    palette,
    phrases,
    pooled,
)
from wiretrial.report.alerts import WarningRow
from wiretrial.report.capacities import Capacity
from wiretrial.report.claims import ClaimRow, judge
from wiretrial.report.contest import Pair
from wiretrial.report.families import Family, Group, families, grouped
from wiretrial.report.finding import Finding, Kind
from wiretrial.report.knees import Knee, Objective, knees
from wiretrial.report.scenarios import ScenarioResult, TrialRow, scenario_results
from wiretrial.results.absent import Absent, merged
from wiretrial.results.adoption import Adopted
from wiretrial.results.claims import Claim
from wiretrial.results.model import Trial
from wiretrial.results.searches import Searched
from wiretrial.results.starts import Start
from wiretrial.words import Noun


@dataclass(frozen=True)
class ReportModel:
    """Everything that a report shows."""

    title: str
    question: str
    command: str
    groups: tuple[Group, ...]
    bottlenecks: Mapping[str, int]
    warnings: tuple[WarningRow, ...]
    facts: tuple[facts.Section, ...]
    trials: tuple[Trial, ...]
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
    starts: tuple[Start, ...] = ()
    """Starts of servers that were timed."""
    baselines: tuple[str, ...] = ()
    """Scenarios that the others of their group are compared with."""
    own: tuple[str, ...] = ()
    """The study's own sentences, in the place of what was found by workload."""
    answer: tuple[str, ...] = ()
    """The same in short sentences, which come before all others."""
    beside: tuple[str, ...] = ()
    """Sentences that stand after what was found by workload."""
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

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All that was found, the most important first."""
        return findings.of_report(
            self.families,
            self.knees,
            baselines=self.baselines,
            places=self.places,
            twins=self.twins,
            what=self.what,
        )

    @cached_property
    def by_workload(self) -> tuple[Finding, ...]:
        """Who leads each workload, whatever the study compares it with."""
        return findings.by_workload(self.families, self.what)

    @property
    def limit(self) -> Finding:
        """What limited how many trials."""
        return next(finding for finding in self.findings if finding.kind == "bottleneck")

    @property
    def bottleneck_sentence(self) -> str:
        """That in full."""
        return phrases.say(self.limit, whole=True)

    @property
    def verdict_sentences(self) -> tuple[str, ...]:
        """A paragraph per workload, or the study's own; then what limited the trials."""
        if self.is_run:
            return self.own
        return (*(self.own or self._told()), self.bottleneck_sentence)

    @cached_property
    def group_notes(self) -> Mapping[str, str]:
        """What to say with a group, by its title, where the study's own verdict leaves it out."""
        if self.is_run or not self.own:
            return {}
        counted = [group for group in self.groups if not group.is_outside]
        return {
            group.title: phrases.note(
                [
                    replace(finding, what=self.what)
                    for family in families([group], None)
                    for finding in findings.of_family(family, self.baselines, group.title)
                ]
            )
            for group in counted
        }

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

    @cached_property
    def capacities(self) -> tuple[Capacity, ...]:
        """What lower levels predict, where there are any, against what was measured."""
        return capacities.of_trials(self.trials, self.knees)

    @cached_property
    def browsed(self) -> tuple[browsed.Place, ...]:
        """Where a browser sent, with its ways side by side."""
        return browsed.places(self.groups, self.trials)

    @property
    def trials_measured(self) -> int:
        """How many trials there were: of a search it may be that not all steps are kept."""
        there = sum(trial.scenario.search is not None for trial in self.trials)
        steps = sum(len(one.steps) for knee in self.knees for one in knee.each)
        return len(self.trials) + max(steps - there, 0)

    @property
    def muted_sentences(self) -> tuple[str, ...]:
        """What is of less weight: what the limit was, whether twins agree, what names leave out."""
        left_out = filter(None, [labels.sentence(self.trials)])
        limit = self.verdict_sentences[-1]
        return (limit, *self.twin_sentences, *left_out)

    @property
    def all_sentences(self) -> tuple[str, ...]:
        """What was found, in words, the most important first; the muted ones are the last."""
        return (
            *self._told("break-even"),
            *self.verdict_sentences[:-1],
            *self.beside,
            *self.artefact_sentences,
            *self.muted_sentences,
        )

    @property
    def twin_sentences(self) -> tuple[str, ...]:
        """What the A/A pairs say about the study itself."""
        return tuple(phrases.say(one) for one in self.findings if one.kind == "twins")

    def _told(self, kind: Kind | None = None) -> tuple[str, ...]:
        """Paragraphs of one kind of finding; without it, of all about workloads and searches."""
        apart: tuple[Kind, ...] = ("break-even", "bottleneck", "twins")
        return phrases.paragraphs(
            [one for one in self.findings if (one.kind == kind if kind else one.kind not in apart)]
        )


def build(
    trials: Sequence[Trial],
    *,
    question: str,
    title: str,
    command: str,
    own: Sequence[str] = (),
    order: Sequence[str] = (),
    baselines: Sequence[str] = (),
    taken_together: Collection[str] = (),
    document: str = "",
    claims: Sequence[Claim] = (),
    chart: str | None = None,
    common_rate: Collection[str] = (),
    objectives: Mapping[str, Objective] | None = None,
    absent: Sequence[Absent] = (),
    adopted: Sequence[Adopted] = (),
    starts: Sequence[Start] = (),
    searched: Sequence[Searched] = (),
    answer: Sequence[str] = (),
    is_run: bool = False,
) -> ReportModel:
    """The report over `trials`; raises ValueError if there are none.

    `command` runs the study again. `own` sentences replace the automatic ones, which then stand
    with their groups; what limited the trials is said in any case. `order` names
    scenarios in the order in which groups and colours follow; the rest follow by name. `baselines`
    name scenarios that their group's sentences compare with, instead of with the best, and
    `taken_together` workloads of which that is done over all levels at once. `document` is the
    study itself, which the page carries. `claims` are what others published. `chart` is the factor
    that pictures show along their axis. `common_rate` names the scenarios whose rate was
    chosen so that all sustain it. `objectives` name the searches for the highest sustained rate.
    `absent` could not be measured. `adopted` tells what each subject is like to adopt, and `starts`
    how long servers took to start. `searched` are searches of which not all trials are there.
    `answer` are the study's own short sentences. `is_run`: the only
    trial is a run by itself, and its sentences are all there are.
    """
    if not trials:
        raise ValueError("a report needs at least one trial")
    trials = labels.shortened(trials)
    # A step of a search, and a level below a top, stand beside what is measured and are no rows.
    plain = [t for t in trials if t.scenario.search is None and t.scenario.level_of is None]
    colours = palette.places(trials, order)
    scenarios = scenario_results(plain, order, colours, common_rate)
    groups = grouped([s for s in scenarios if s.twin_of is None], baselines)
    together = pooled.told(families(groups, chart), baselines, taken_together)
    found = knees(trials, objectives or {}, colours, searched)
    scatter = groups[0].contest.scatter if groups else {}
    twins = contest.twins(scenarios, scatter)
    return ReportModel(
        title=title,
        question=question,
        command=command,
        groups=groups,
        bottlenecks=dict(Counter(r.bottleneck for s in scenarios for r in s.trials).most_common()),
        warnings=alerts.of_run(trials) if is_run else alerts.raised(trials, scenarios, twins),
        facts=facts.sections(trials, command),
        trials=tuple(trials),
        document=document,
        claims=judge(claims, scenarios, facts.machines_words(trials), scatter),
        twins=twins,
        families=together,
        knees=found,
        absent=merged(absent),
        adopted=tuple(adopted),
        starts=tuple(starts),
        baselines=tuple(baselines),
        own=tuple(own),
        answer=tuple(answer),
        is_run=is_run,
    )

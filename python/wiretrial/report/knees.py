"""Searches for the highest sustained rate: what each found, replayed step by step.

Knows trials at offered rates, rows of those that are not kept, and the rules of the search; must
not know how a knee is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from wiretrial import words
from wiretrial.report import units
from wiretrial.results import offered, searches
from wiretrial.results.model import Trial, Verdict
from wiretrial.results.searches import Searched
from wiretrial.stats.knee import Observation, Refusal, Search, backlog_growth, refusal
from wiretrial.stats.summary import summarise
from wiretrial.words import Noun


@dataclass(frozen=True)
class Objective:
    """What a search was asked for: the response time to keep, and the rates to look at."""

    quantile: float
    response_ns: float
    first: float
    ceiling: float
    tolerance: float
    floor: float = 1.0
    """No rate below it was looked at."""
    name: str | None = None
    """What the time is called, where the quantile does not say it: `login.p99`."""

    @property
    def time(self) -> str:
        """`p99`."""
        return self.name or f"p{100 * self.quantile:g}"

    @property
    def words(self) -> str:
        """`p99 within 5 ms`."""
        return f"{self.time} within {self.limit}"

    def search(self) -> Search:
        """The search at its begin."""
        return Search(self.first, self.ceiling, self.tolerance, floor=self.floor)

    @property
    def limit(self) -> str:
        """`5 ms`."""
        unit = units.fitting(units.TIMES, (self.response_ns,))
        return f"{units.trimmed(self.response_ns / unit.size)} {unit.short}"


@dataclass(frozen=True)
class Step:
    """One trial of a search. `refusal` is None where the rate was sustained."""

    offered: float
    achieved: float
    response_ns: float | None
    refusal: Refusal | None
    verdict: Verdict
    bottleneck: str
    evidence: str

    @property
    def outcome(self) -> str:
        """`sustained`, or why it was not."""
        return "sustained" if self.refusal is None else f"refused: {self.refusal.text}"


@dataclass(frozen=True)
class Knee:
    """One search. `sustained` is None where no rate was."""

    name: str
    label: str
    group: str
    colour: int
    objective: Objective
    steps: tuple[Step, ...]
    sustained: float | None
    refused: Step | None
    """The lowest rate above it that was not sustained."""
    has_ended: bool
    """Whether no further trial is wanted, whatever was found."""
    what: Noun
    """What its rates are of: what the whole report's scenarios send, or sessions of several."""
    occasion: int = 1
    """On which one it is; of several, on which the middle one is."""
    occasions: tuple[Knee, ...] = ()
    """The search on each occasion, where there are several; `sustained` is their median then."""

    @property
    def at_least(self) -> bool:
        """Whether the generator was the limit where the rate was refused, or nothing refused it."""
        if self.sustained is None:
            return False
        return self.refused is None or self.refused.bottleneck == "generator"

    @property
    def is_confirmed(self) -> bool:
        """Whether a rate was found on each occasion, and fresh trials have confirmed it."""
        if self.occasions:
            return all(one.is_confirmed for one in self.occasions)
        return self.has_ended and self.sustained is not None

    @property
    def is_open(self) -> bool:
        """Whether there is a rate that fresh trials still have to confirm."""
        return self.sustained is not None and not self.is_confirmed

    @property
    def figure(self) -> str:
        """The sustained rate with its bound: `≥ 84,000`."""
        if self.sustained is None:
            return "none"
        shown = f"{'≥ ' if self.at_least else ''}{units.trimmed(self.sustained)}"
        interval = " to ".join(units.trimmed(end) for end in self.interval or ())
        return f"{shown} ({interval})" if interval else shown

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the sustained rate over the occasions; None of one, or of a bound."""
        found = [one.sustained for one in self.occasions if one.sustained is not None]
        if self.at_least or len(found) < len(self.occasions) or not found:
            return None
        return summarise(found, occasions=range(len(found))).interval

    @property
    def each(self) -> tuple[Knee, ...]:
        """Those of single occasions."""
        return self.occasions or (self,)

    @property
    def why(self) -> str:
        """Why no higher rate counts."""
        if self.refused is None or self.refused.refusal is None:
            return "no higher rate was refused"
        return self.refused.refusal.text

    @property
    def ends(self) -> tuple[tuple[str, tuple[Step, ...]], ...]:
        """The trials at the knee, and those at the lowest refused rate above it, with a name."""
        rates = [(self.sustained, "the knee")]
        if self.refused is not None:
            rates.append((self.refused.offered, "above the knee"))
        found = (
            (name, tuple(step for step in self.steps if step.offered == rate))
            for rate, name in rates
            if rate is not None
        )
        return tuple((name, steps) for name, steps in found if steps)

    def response_at(self, rate: float) -> float | None:
        """The median over the trials at that rate of the quantile that the objective names."""
        known = [s.response_ns for s in self.steps if s.offered == rate and s.response_ns]
        return median(known) if known else None


def together(found: Sequence[Knee]) -> tuple[tuple[Knee, ...], ...]:
    """Searches that ask the same of different subjects, together."""
    groups: dict[tuple[str, Objective], list[Knee]] = {}
    for knee in found:
        groups.setdefault((knee.group, knee.objective), []).append(knee)
    return tuple(tuple(knees) for knees in groups.values())


def knees(
    trials: Sequence[Trial],
    objectives: Mapping[str, Objective],
    colours: Mapping[str, int],
    kept: Iterable[Searched] = (),
) -> tuple[Knee, ...]:
    """One per search that has an objective, in the order of the objectives.

    `kept`: searches that are on record; of the others all trials are there.
    """
    what = words.of_all(trial.scenario.protocol for trial in trials)
    found: dict[str, list[Knee]] = {}
    firsts = {name: own[0] for name, own in _by_search(trials).items()}
    for row in searched(trials, objectives, kept):
        first = firsts[row.place]
        own = _knee(first, row, objectives[row.scenario], colours[row.scenario], what)
        found.setdefault(row.scenario, []).append(own)
    return tuple(_over_occasions(found[name]) for name in objectives if name in found)


def searched(
    trials: Sequence[Trial], objectives: Mapping[str, Objective], kept: Iterable[Searched] = ()
) -> tuple[Searched, ...]:
    """What each search asked, on each occasion of which a trial is there.

    Those of `kept` stay as they are; of the others all trials are there.
    """
    on_record = {row.place: row for row in kept}
    return tuple(
        on_record.get(place) or _row(own, objectives[place[0]])
        for place, own in _by_search(trials).items()
        if place[0] in objectives
    )


def _by_search(trials: Sequence[Trial]) -> dict[tuple[str, int], list[Trial]]:
    """The steps of each search in their order: each occasion searches from the begin."""
    found: dict[tuple[str, int], list[Trial]] = {}
    for trial in sorted(trials, key=lambda trial: (trial.block, trial.position)):
        if trial.scenario.search is not None:
            found.setdefault((trial.scenario.search, trial.occasion), []).append(trial)
    return found


def _row(trials: Sequence[Trial], objective: Objective) -> Searched:
    steps = tuple(
        searches.step(trial, objective.quantile, backlog_growth(offered.backlog(trial)))
        for trial in trials
    )
    return Searched(
        scenario=trials[0].scenario.search or "", occasion=trials[0].occasion, steps=steps
    )


def _over_occasions(found: Sequence[Knee]) -> Knee:
    """The middle one of several, with the trials of all."""
    known = sorted((k for k in found if k.sustained is not None), key=lambda k: k.sustained or 0.0)
    first = known[len(known) // 2] if known else found[0]
    if len(found) == 1:
        return first
    return replace(
        first,
        steps=tuple(step for one in found for step in one.steps),
        sustained=median(k.sustained or 0.0 for k in known) if known else None,
        has_ended=all(one.has_ended for one in found),
        occasions=tuple(found),
    )


def _knee(first: Trial, row: Searched, objective: Objective, colour: int, what: Noun) -> Knee:
    """`first`: a trial of the search, which tells of what it is."""
    scenario = first.scenario
    steps = tuple(_step(step, objective) for step in row.steps)
    search = objective.search()
    for step in steps:
        search.see(step.offered, step.refusal is None)
    known = {step.offered for step in steps}
    # The rate below a disproved one is a guess until it is measured.
    sustained = search.low if search.low in known else None
    refused = [s for s in steps if s.refusal and (sustained is None or s.offered > sustained)]
    # Where too few messages went to tell a quantile, a rate says the least about the server.
    telling = [s for s in refused if s.response_ns is not None] or refused
    return Knee(
        name=row.scenario,
        label=scenario.label or row.scenario,
        group=scenario.group,
        colour=colour,
        objective=objective,
        steps=steps,
        sustained=sustained,
        refused=min(telling, key=lambda step: step.offered, default=None),
        what=offered.noun(first, what),
        has_ended=search.next_rate() is None,
        occasion=row.occasion,
    )


def _step(row: searches.Step, objective: Objective) -> Step:
    seen = Observation(row.offered, row.achieved, row.growth, row.response_ns)
    return Step(
        offered=row.offered,
        achieved=row.achieved,
        response_ns=row.response_ns,
        refusal=Refusal("achieved", row.evidence)
        if row.verdict == "invalid"
        else refusal(seen, objective.response_ns),
        verdict=row.verdict,
        bottleneck=row.bottleneck,
        evidence=row.evidence,
    )

"""Searches for the highest sustained rate: what each found, replayed from its trials.

Knows trials at offered rates and the rules of the search; must not know how a knee is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from statistics import median

from wiretrial import words
from wiretrial.report import units
from wiretrial.results import offered
from wiretrial.results.model import Trial, Verdict
from wiretrial.stats.knee import Observation, Refusal, Search, refusal
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
    is_confirmed: bool
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
    trials: Sequence[Trial], objectives: Mapping[str, Objective], colours: Mapping[str, int]
) -> tuple[Knee, ...]:
    """One per search that has an objective, in the order of the objectives."""
    what = words.of_all(trial.scenario.protocol for trial in trials)
    steps: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.scenario.search is not None:
            steps.setdefault(trial.scenario.search, []).append(trial)
    return tuple(
        _over_occasions(
            [_knee(name, own, objective, colours, what) for own in _by_occasion(steps[name])]
        )
        for name, objective in objectives.items()
        if name in steps
    )


def _by_occasion(trials: Sequence[Trial]) -> list[list[Trial]]:
    """Each occasion searches from the begin."""
    ordered = sorted(trials, key=lambda trial: (trial.block, trial.position))
    return [list(own) for _, own in groupby(ordered, key=attrgetter("occasion"))]


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
        is_confirmed=all(one.is_confirmed for one in found),
        occasions=tuple(found),
    )


def _knee(
    name: str,
    trials: Sequence[Trial],
    objective: Objective,
    colours: Mapping[str, int],
    what: Noun,
) -> Knee:
    scenario = trials[0].scenario
    steps = tuple(_step(trial, objective) for trial in trials)
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
        name=name,
        label=scenario.label or name,
        group=scenario.group,
        colour=colours[name],
        objective=objective,
        steps=steps,
        sustained=sustained,
        refused=min(telling, key=lambda step: step.offered, default=None),
        what=_due(trials[0], what),
        is_confirmed=search.phase == "done" and sustained is not None,
        occasion=trials[0].occasion,
    )


def _due(trial: Trial, usual: Noun) -> Noun:
    """What is due at its rate."""
    flows = trial.plan.traffic.flows if trial.plan.traffic else ()
    return words.SESSION if any(len(flow.steps) > 1 for flow in flows) else usual


def _step(trial: Trial, objective: Objective) -> Step:
    seen = Observation(
        offered=offered.rate(trial),
        achieved=offered.kept_up(trial),
        backlog=offered.backlog(trial),
        response_ns=offered.response_ns(trial, objective.quantile),
    )
    judgement = trial.judgement
    return Step(
        offered=seen.offered,
        achieved=seen.achieved,
        response_ns=seen.response_ns,
        refusal=Refusal("achieved", judgement.evidence)
        if judgement.verdict == "invalid"
        else refusal(seen, objective.response_ns),
        verdict=judgement.verdict,
        bottleneck=judgement.bottleneck,
        evidence=judgement.evidence,
    )

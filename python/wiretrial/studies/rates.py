"""Rates that earlier trials decide: a common one, and the steps of a search for the knee.

Pure: knows trials and the search's rules; must not know how a trial is run. Both follow from the
stored trials alone, so a study that is resumed goes on where it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

from wiretrial.plan import OpenLoop
from wiretrial.results import offered, searches
from wiretrial.results.model import Trial
from wiretrial.results.searches import Step
from wiretrial.stats.knee import Observation, Refusal, Search, backlog_growth, refusal
from wiretrial.studies.fields import Knee
from wiretrial.studies.spec import Case, RateFrom
from wiretrial.traffic import loads

STEPS_BESIDE = 10
"""About so many trials find both sides of a knee and confirm it, and halve the way between them as
often as its tolerance asks: an estimate for people."""
TRIES = 1.5
"""Of each such half: half of them are refused, and tried again."""


def common(wanted: RateFrom, trials: Iterable[Trial]) -> float | None:
    """The rate that all those scenarios sustain, to two digits; None where none was measured."""
    reached: dict[str, list[float]] = {}
    for trial in trials:
        tells = trial.judgement.verdict not in ("invalid", "stalled")
        if trial.scenario.name in wanted.scenarios and tells:
            reached.setdefault(trial.scenario.name, []).append(offered.carried(trial))
    return _rounded(min((median(rates) for rates in reached.values()), default=0.0) * wanted.share)


def below(top: float, share: float) -> float | None:
    """That share of what a search found, to two digits."""
    return _rounded(top * share)


def search(knee: Knee, duration_ns: int, steps: Iterable[Step], each: float = 1.0) -> Search:
    """The search as far as these steps, in their order, have brought it.

    It goes no lower than where trials of that length have too few replies to tell the quantile;
    `each`: so many replies there are for each message or session that is due.
    """
    floor = offered.least_rate(knee.quantile, duration_ns) / each
    found = Search(
        first=max(knee.first, floor),
        ceiling=max(knee.ceiling, floor),
        tolerance=knee.tolerance,
        floor=floor,
    )
    for one in steps:
        found.see(one.offered, refused(knee, one) is None)
    return found


def _rounded(rate: float) -> float | None:
    """The rate to two digits; None of none."""
    if rate <= 0:
        return None
    digit = 10.0 ** (math.floor(math.log10(rate)) - 1)
    return math.floor(rate / digit) * digit


def steps_of(knee: Knee) -> int:
    """About so many trials a search takes."""
    halves = math.log2(max(math.log(2) / math.log1p(knee.tolerance), 1.0))
    return round(STEPS_BESIDE + TRIES * halves)


def replies_each(case: Case) -> float:
    """How many replies come of what the rate counts: of a session, as many as it has requests."""
    traffic = case.traffic
    # Not each step of a conversation has one.
    return loads.requests_of(traffic) if traffic and not traffic.lines else 1.0


def step(knee: Knee, trial: Trial) -> Step:
    """What the search needs to know of one of its trials."""
    return searches.step(trial, knee.quantile, backlog_growth(offered.backlog(trial)))


def refused(knee: Knee, of: Step) -> Refusal | None:
    """Why the rate of this step was not sustained; None where it was."""
    if of.verdict == "invalid":
        return Refusal("achieved", of.evidence)
    seen = Observation(of.offered, of.achieved, of.growth, of.response_ns)
    return refusal(seen, knee.objective)


def at_rate(case: Case, rate: float) -> Case:
    """The case with its open loop at `rate`; a step of a search gets a name of its own."""
    executor = case.load.executor
    assert isinstance(executor, OpenLoop)
    scenario = case.scenario
    update = {"levels": {**scenario.levels, "rate": rate}}
    if case.knee:
        name = scenario.name
        scenario = scenario.model_copy(update={"name": f"{name} at {rate:,.0f}/s", "search": name})
    return case.model_copy(
        update={
            "scenario": scenario.model_copy(update=update),
            "load": case.load.model_copy(
                update={"executor": executor.model_copy(update={"rate": rate})}
            ),
        }
    )

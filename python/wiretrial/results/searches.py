"""What searches for the highest rate asked and were told, step by step; kept beside the trials.

Knows where the list lies and what a row holds; must not know which rates are sustained. A search is
replayed from these rows, so that a study can be kept without the trials of all steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, TypeAdapter

from wiretrial.results import offered
from wiretrial.results.model import Bottleneck, Trial, Verdict
from wiretrial.results.store import ResultsFolder

FILE = "searches.json"


class Step(BaseModel):
    """One trial of a search. Rates are messages per second, or sessions per second."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    offered: float
    achieved: float
    growth: float | None
    """By so many a second the waiting line surely grew; None: too few intervals to tell."""
    response_ns: float | None
    """The objective's quantile of the response time; None: too few messages to tell."""
    verdict: Verdict
    bottleneck: Bottleneck
    evidence: str


class Searched(BaseModel):
    """One search on one occasion."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scenario: str
    occasion: int
    steps: tuple[Step, ...]
    """In the order in which they were made."""

    @property
    def place(self) -> tuple[str, int]:
        """Which search it is."""
        return self.scenario, self.occasion


_LIST = TypeAdapter(tuple[Searched, ...])


def step(trial: Trial, quantile: float, growth: float | None) -> Step:
    """The row of a trial. `growth`: of its waiting line, as `Step` has it."""
    judgement = trial.judgement
    return Step(
        offered=offered.rate(trial),
        achieved=offered.kept_up(trial),
        growth=growth,
        response_ns=offered.response_ns(trial, quantile),
        verdict=judgement.verdict,
        bottleneck=judgement.bottleneck,
        evidence=judgement.evidence,
    )


def keep(results: ResultsFolder, found: Iterable[Searched]) -> None:
    """Writes the list, where there is any; those of later occasions have their trials."""
    if rows := tuple(found):
        results.write(FILE, _LIST.dump_json(rows, indent=1))


def read(results: ResultsFolder) -> tuple[Searched, ...]:
    """The list; empty where none was kept."""
    return results.read_list(FILE, _LIST)

"""How long a study is going to take, and how many trials fit into a budget.

Pure: sums what the study itself says; must not know how fast the machine is.
"""

from __future__ import annotations

from dataclasses import dataclass

from wiretrial.errors import UsageProblem
from wiretrial.studies import floors
from wiretrial.studies.rates import STEPS_OF_A_SEARCH
from wiretrial.studies.spec import Case, Study

START_AND_STOP_NS = 900_000_000
"""What a trial takes beside its load: starting a server, its readiness, the drain, the end."""
REQUESTS_PER_SECOND = 20_000
"""A guess, for loads whose length is given in messages and not in time."""

ROUND_TRIP_NS = {"kept": 150_000, "fresh": 2_500_000}
"""A guess, for client drivers: most are far quicker, and a few take ten times as long."""


@dataclass(frozen=True)
class Estimate:
    """Nanoseconds, installation and verification of the subjects apart."""

    block_ns: int
    """One trial of every scenario."""
    blocks_ns: int
    """All trials: some scenarios have fewer than the others."""
    searches_ns: int

    @property
    def total_ns(self) -> int:
        """All trials and searches."""
        return self.blocks_ns + self.searches_ns


def estimate(study: Study) -> Estimate:
    """What the study is going to take, as well as that can be told before it runs."""
    searches = study.stage(3)
    blocks = [case for case in study.cases if case.stage < 3]
    return Estimate(
        block_ns=sum(_trial_ns(study, case) for case in blocks),
        blocks_ns=sum(study.trials_of(case) * _trial_ns(study, case) for case in blocks),
        searches_ns=STEPS_OF_A_SEARCH * sum(_trial_ns(study, case) for case in searches),
    )


def within(study: Study, budget_ns: int) -> Study:
    """The study with as many trials as the budget holds, and no more than it asks for."""
    for trials in range(study.trials, 0, -1):
        shorter = study.model_copy(update={"trials": trials})
        if estimate(shorter).total_ns <= budget_ns:
            return shorter
    needed = estimate(study)
    least = needed.block_ns + needed.searches_ns
    raise UsageProblem(
        f"one trial of each of {len(study.cases)} scenarios takes about {words(least)},"
        f" the budget is {words(budget_ns)}",
        "raise it, use --quick, or leave scenarios out (--only)",
    )


def words(length_ns: int) -> str:
    """`1 h 12 min`, `4 min 10 s`, `35 s`."""
    seconds = round(length_ns / 1e9)
    if seconds >= 3600:
        return f"{seconds // 3600} h {seconds % 3600 // 60} min"
    if seconds >= 60:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds} s"


def _trial_ns(study: Study, case: Case) -> int:
    if case.driving:
        each = ROUND_TRIP_NS[case.driving.mode]
        return START_AND_STOP_NS + (case.driving.warmup + case.driving.messages) * each
    if case.messages is None:
        return START_AND_STOP_NS + study.duration_of(case) + study.warmup_of(case)
    floor = floors.floor_of(case)
    waiting = round(floor.ns) if floor else 0
    return START_AND_STOP_NS + case.messages * 1_000_000_000 // REQUESTS_PER_SECOND + waiting

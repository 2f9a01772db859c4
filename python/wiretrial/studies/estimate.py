"""How long a study is going to take, and how many trials fit into a budget.

Sums what the study and its subjects say; must not know how fast the machine is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from wiretrial.errors import UsageProblem
from wiretrial.observers.watching import REST_S
from wiretrial.plan import Hold, Phases
from wiretrial.studies import admission, floors, rates
from wiretrial.studies.fields import FIT
from wiretrial.studies.spec import Browsing, Case, Driving, Study
from wiretrial.subjects import registry
from wiretrial.subjects.spec import Spec

START_AND_STOP_NS = 900_000_000
"""What a trial takes beside its load: starting a server, its readiness, the drain, the end."""
FIRST_REPLY_NS = 600_000_000
"""What a server takes until its first reply, where that is timed; a guess: most take a tenth of it,
and a framework on a JVM some seconds."""
DATABASE_NS = 600_000_000
"""What a database takes to get its rows, to start and to end."""
BROWSER_START_NS = 3_000_000_000
"""A front before the server, and a browser with a new profile."""
OPENED_PER_SECOND = 15_000
"""Held connections, a guess; ended ones included."""
ASKED_PER_SECOND = 30_000
LINK_NS = 300_000_000
"""What an emulated link takes to be made and taken away."""
COPY_NS = 150_000_000
"""What each copy of a server takes to start and end."""
CONNECTIONS_OF_A_COPY = 20_000
"""A guess, where as many copies are started as descriptors ask for."""
LARGE_BYTES = 64 * 1024
LARGE_BYTE_NS = 5
"""Of a large message, there and back; a guess."""
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
    starts_ns: int = 0
    """Starts that are timed by themselves."""

    @property
    def total_ns(self) -> int:
        """All trials, searches and starts."""
        return self.blocks_ns + self.searches_ns + self.starts_ns


def estimate(study: Study, occasion: int = 1) -> Estimate:
    """What an occasion is going to take, as well as that can be told before it runs."""
    cases = [case for case in study.cases if _is_claimed(case)]
    searches = [case for case in cases if case.stage == 3]
    blocks = [case for case in cases if case.stage < 3]
    return Estimate(
        block_ns=sum(_share_ns(study, case) for case in blocks if case.is_of(occasion)),
        blocks_ns=sum(trials_in(study, case, occasion) * _share_ns(study, case) for case in blocks),
        searches_ns=sum(
            trials_in(study, case, occasion) * _share_ns(study, case) for case in searches
        ),
        starts_ns=_starts_ns(study),
    )


def trials_in(study: Study, case: Case, occasion: int = 1) -> int:
    """How many trials the case gets on an occasion, about so many of a search."""
    if case.knee:
        return rates.steps_of(case.knee) if case.is_of(occasion) else 0
    return study.trials_of(case, occasion)


def left_ns(study: Study, measured: Mapping[str, int], occasion: int = 1) -> int:
    """What the rest of an occasion takes.

    `measured`: how many trials each scenario, or search, has already there.
    """

    def missing(case: Case) -> int:
        return max(trials_in(study, case, occasion) - measured.get(case.scenario.name, 0), 0)

    # Starts are timed when all trials are over.
    return sum(missing(case) * _share_ns(study, case) for case in study.cases) + _starts_ns(study)


def within(
    study: Study,
    budget_ns: int,
    quick: Callable[[], Study] | None = None,
    setting: str = "--budget {}",
) -> Study:
    """The study with as many trials as the budget holds, and no more than it asks for.

    `quick`: the same study made smaller, which is advised where that fits. `setting`: how a larger
    budget is given.
    """
    for trials in range(study.trials, 0, -1):
        shorter = study.model_copy(update={"trials": trials})
        if estimate(shorter).total_ns <= budget_ns:
            return shorter
    least = _least_ns(study)
    fits = quick is not None and _least_ns(quick()) <= budget_ns
    ways = [*(["--quick"] if fits else []), f"{setting.format(_rounded_up(least))} or more"]
    raise UsageProblem(
        f"one trial of each of {len(study.cases)} scenarios takes about {words(least)},"
        f" the budget is {words(budget_ns)}",
        f"use {', or '.join(ways)}, or leave scenarios out (--only)",
    )


def _least_ns(study: Study) -> int:
    """One trial of everything."""
    return estimate(study.model_copy(update={"trials": 1})).total_ns


def _rounded_up(length_ns: int) -> str:
    """As a person writes it: `35s`, `2m17s`, `29m`."""
    seconds = -(-length_ns // 1_000_000_000)
    if seconds <= 60:
        return f"{seconds}s"
    return f"{seconds // 60}m{seconds % 60}s" if seconds < 600 else f"{-(-seconds // 60)}m"


def words(length_ns: int) -> str:
    """`1 h 12 min`, `4 min 10 s`, `35 s`."""
    seconds = round(length_ns / 1e9)
    if seconds >= 3600:
        return f"{seconds // 3600} h {seconds % 3600 // 60} min"
    if seconds >= 60:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds} s"


def _starts_ns(study: Study) -> int:
    """With the turn before them, which is not recorded."""
    if study.starts is None:
        return 0
    turns = study.starts.count + 1
    return turns * len(study.starts.subjects) * (START_AND_STOP_NS + FIRST_REPLY_NS)


def _share_ns(study: Study, case: Case) -> int:
    """What a trial adds to the whole: a share, where several run at the same time."""
    return _trial_ns(study, case) // case.scenario.together


def _trial_ns(study: Study, case: Case) -> int:
    match case.sending:
        case Driving() as driving:
            each = ROUND_TRIP_NS[driving.mode]
            return START_AND_STOP_NS + (driving.warmup + driving.messages) * each
        case Browsing():
            waiting = (case.messages or 1) * floors.round_trip_ns(case)
            return START_AND_STOP_NS + BROWSER_START_NS + waiting
    executor = case.load.executor
    if isinstance(executor, Hold):
        connections = case.load.connections
        each_ns = 1_000_000_000 // OPENED_PER_SECOND + 1_000_000_000 // ASKED_PER_SECOND
        copies = 1 + connections // CONNECTIONS_OF_A_COPY if case.copies == FIT else case.copies
        return START_AND_STOP_NS + copies * COPY_NS + executor.idle_ns + connections * each_ns
    if case.messages is None:
        return _beside_ns(case) + study.duration_of(case) + study.warmup_of(case)
    floor = floors.floor_of(case)
    waiting = round(floor.ns) if floor else 0
    size = case.scenario.levels.get("payload")
    carrying = size * LARGE_BYTE_NS if isinstance(size, int) and size > LARGE_BYTES else 0
    each_ns = 1_000_000_000 // REQUESTS_PER_SECOND + carrying
    return _beside_ns(case) + case.messages * each_ns + waiting


def _beside_ns(case: Case) -> int:
    """What comes before and after the load itself; each load of priming is one more."""
    round_trip_ns = floors.round_trip_ns(case)
    crossings = (1 + floors.setup_round_trips(case.spoken)) * round_trip_ns
    primings = (case.priming_ns, case.priming_at_rate_ns, case.priming_at_full_speed_ns)
    loads = 1 + sum(map(bool, primings))
    link_ns = LINK_NS if round_trip_ns else 0
    around_ns = crossings + _drain_ns(case)
    alone_ns = START_AND_STOP_NS + _behind_ns(case.scenario.subject)
    return alone_ns + case.primed_ns + link_ns + loads * around_ns


def _behind_ns(subject: str) -> int:
    """What a trial takes longer where something is behind the server: both are watched at rest."""
    spec = _spec(subject)
    if spec is None or (spec.database is None and spec.backend is None):
        return 0
    return round(REST_S * 1e9) + (DATABASE_NS if spec.database else 0)


def _is_claimed(case: Case) -> bool:
    """Whether its server says that it keeps the contract; else it is not measured."""
    spec = _spec(case.answering[0])
    return spec is None or admission.claims(case, spec)


def _spec(subject: str) -> Spec | None:
    """What the subject says of itself; None of a server of one's own, by its URL."""
    return _read(str(Path(subject).resolve()) if "/" in subject else subject)


@cache
def _read(subject: str) -> Spec | None:
    try:
        return registry.find(subject).spec
    except UsageProblem:
        return None


def _drain_ns(case: Case) -> int:
    """How long a load is awaited after its end: replies come at once, but receivers are held."""
    return Phases().drain_ns if case.publishing else 0

"""The levels of a search and beside it, of an engine that is not there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.advise.synthetic import level, limit
from wiretrial.cli.limit_levels import Levels, crowds
from wiretrial.cli.limit_waiting import Broken
from wiretrial.engine import Engine
from wiretrial.errors import (
    EngineFailed,
    FleetFailed,
    TargetNotReady,
    TargetSilent,
    WiretrialError,
)
from wiretrial.plan import Load, OpenLoop, Plan, Stop, Target
from wiretrial.results.limits import End, Level
from wiretrial.studies.limits import Settings, Step

SECOND = 1_000_000_000
SETTINGS = Settings(
    first=1000,
    ceiling=1e6,
    searches=1,
    tolerance=0.05,
    level_ns=SECOND,
    warmup_ns=0,
    within_ns=600 * SECOND,
    needed=100,
)
PLAN = Plan(
    target=Target(url="http://127.0.0.1:1/"),
    load=Load(connections=100, executor=OpenLoop(rate=1000.0)),
    stop=Stop(duration_ns=SECOND),
)


@pytest.mark.parametrize(
    ("own", "many"),
    [
        (100, [1000, 2000]),
        (300, [3000, 5000]),
        # The most once, though both factors are beyond it.
        (500, [5000]),
        (4999, [5000]),
        # No fewer than the search had.
        (5000, []),
        (9000, []),
    ],
)
def test_crowds_are_more_connections_each_number_once(own: int, many: Sequence[int]) -> None:
    assert crowds(own, (10, 20)) == many


def levels_of_none() -> Levels:
    return Levels(
        Engine(Path("none")),
        PLAN,
        wanted=None,  # type: ignore[arg-type]
        goals=(),
        shown="http://h/",
        keeps_secrets=False,
        sizes_itself=False,
    )


@pytest.mark.parametrize(
    ("error", "end", "silent_after"),
    [
        (EngineFailed("the engine was killed"), "failed", None),
        (FleetFailed("an agent was lost before the load began"), "failed", None),
        (TargetSilent("the server did not answer again"), "failed", 2000.0),
        (Broken(15), "interrupted", None),
    ],
)
def test_whatever_ends_a_search_leaves_its_levels(
    monkeypatch: pytest.MonkeyPatch, error: WiretrialError, end: End, silent_after: float | None
) -> None:
    levels = levels_of_none()

    def measure(step: Step) -> Level:
        if step.number == 3:
            raise error
        return level(step.rate)

    monkeypatch.setattr(levels, "_measure", measure)
    made = levels.climbed(SETTINGS)
    assert [one.rate for one in made.levels] == [1000.0, 2000.0]
    assert (made.end, made.silent_after) == (end, silent_after)
    assert (levels.failure, levels.signal) == (
        (None, 15) if end == "interrupted" else (error, None)
    )


def test_what_ends_a_search_before_its_first_level_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    levels = levels_of_none()

    def measure(_: Step) -> Level:
        raise TargetNotReady("no whole reply")

    monkeypatch.setattr(levels, "_measure", measure)
    with pytest.raises(TargetNotReady):
        levels.climbed(SETTINGS)


def test_what_was_measured_beside_a_search_outlives_the_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    levels = levels_of_none()

    def measure(step: Step) -> Level:
        if step.number == 3:
            raise EngineFailed("the engine was killed")
        return level(step.rate)

    monkeypatch.setattr(levels, "_measure", measure)
    found = levels.beside(SETTINGS, limit(), (0.6, 0.2, 0.8, 0.4))
    assert [one.rate for one in found] == [4800.0, 1600.0]
    assert str(levels.failure) == "the engine was killed"
    # Nothing more is tried.
    assert levels.beside(SETTINGS, limit(), (0.6,)) == ()

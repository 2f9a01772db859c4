"""The search for the highest rate, against servers with a known limit, under a simulated clock."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from wiretrial.results.limits import Level
from wiretrial.studies import limits
from wiretrial.studies.limits import BESIDE_NS, LONGEST, Settings, Step

SECOND = 1_000_000_000
USUAL = Settings(
    first=1000,
    ceiling=1e6,
    searches=3,
    tolerance=0.05,
    level_ns=5 * SECOND,
    warmup_ns=SECOND,
    within_ns=3600 * SECOND,
    needed=1000,
)


def level(step: Step, *, is_kept: bool, **changes: Any) -> Level:
    told: dict[str, Any] = {
        "reason": None if is_kept else "goal",
        "why": "" if is_kept else "p99 is 71.0 ms",
        "server_busy": 0.5,
        "generator_busy": 0.3,
        "verdict": "valid",
        "bottleneck": "rate",
        "evidence": "the rate was kept",
        **changes,
    }
    return Level(
        search=step.search,
        rate=step.rate,
        answered=step.rate,
        duration_ns=step.length_ns,
        connections=100,
        is_kept=is_kept,
        **told,
    )


@dataclass
class Server:
    """Keeps the goals up to a rate. Each level takes its time on a clock of its own."""

    settings: Settings
    limit: Callable[[int], float]
    changes: dict[str, Any] = field(default_factory=dict)
    now_ns: int = 0
    steps: list[Step] = field(default_factory=list)

    def measure(self, step: Step) -> Level:
        self.steps.append(step)
        self.now_ns += step.length_ns + self.settings.warmup_ns + BESIDE_NS
        is_kept = step.rate <= self.limit(step.number)
        return level(step, is_kept=is_kept, **({} if is_kept else self.changes))

    def climbed(self) -> list[Level]:
        return list(limits.climb(self.settings, self.measure, lambda: self.now_ns))


def server(limit: float, changes: dict[str, Any] | None = None, **settings: Any) -> Server:
    made = Settings(**{**vars(USUAL), **settings})
    return Server(made, lambda _: limit, changes or {})


@pytest.mark.parametrize("limit", [130.0, 8400.0, 99_000.0])
def test_each_search_ends_around_the_limit(limit: float) -> None:
    measured = server(limit).climbed()
    found = limits.found(USUAL, measured)
    assert [one.search for one in found] == [1, 2, 3]
    for one in found:
        assert one.is_confirmed
        assert one.kept is not None
        assert one.refused is not None
        assert one.kept <= limit < one.refused <= 1.05 * one.kept
    interval = limits.interval(found)
    assert interval is not None
    assert interval.high is not None
    assert interval.low <= limit <= interval.high


def test_later_searches_begin_at_the_last_one_on_other_rates() -> None:
    a_server = server(8400)
    measured = a_server.climbed()
    firsts = [next(one for one in measured if one.search == n).rate for n in (1, 2, 3)]
    kept = [one.kept for one in limits.found(USUAL, measured)]
    assert firsts[0] == 1000
    for first, before in zip(firsts[1:], kept, strict=False):
        assert before is not None
        assert before / 1.05 <= first <= before
    rates = [{one.rate for one in measured if one.search == n} for n in (1, 2, 3)]
    assert rates[1].isdisjoint(rates[2])
    counts = [sum(one.search == n for one in measured) for n in (1, 2, 3)]
    assert max(counts[1:]) < counts[0]


def test_a_pause_of_the_machine_does_not_keep_the_rate_low() -> None:
    a_server = server(8400)
    a_server.limit = lambda number: 0.0 if number in (2, 9) else 8400.0
    found = limits.found(USUAL, a_server.climbed())
    assert all(one.kept is not None and 8000 <= one.kept <= 8400 for one in found)


def test_a_level_at_a_low_rate_lasts_until_its_quantile_can_be_told() -> None:
    a_server = server(40, first=1000)
    a_server.climbed()
    for step in a_server.steps:
        wanted = max(5 * SECOND, math.ceil(1.1 * 1000 * SECOND / step.rate))
        assert step.length_ns == wanted <= 1.01 * LONGEST * 5 * SECOND
    assert min(step.rate for step in a_server.steps) < 41


def test_a_goal_that_is_never_kept_ends_at_the_lowest_rate() -> None:
    a_server = server(1)
    measured = a_server.climbed()
    (found,) = limits.found(USUAL, measured)
    assert (found.kept, found.is_confirmed) == (None, False)
    assert limits.interval([found]) is None
    assert measured[-1].rate == pytest.approx(USUAL.floor)
    assert a_server.now_ns < USUAL.within_ns


def test_the_time_bounds_the_search() -> None:
    for minutes in (1, 2, 4):
        a_server = server(8400, within_ns=minutes * 60 * SECOND)
        measured = a_server.climbed()
        assert measured
        assert a_server.now_ns <= minutes * 60 * SECOND
        assert a_server.now_ns + 7 * SECOND > minutes * 60 * SECOND
        lefts = [step.left_ns for step in a_server.steps]
        begun = [n * (6 * SECOND + BESIDE_NS) for n in range(len(lefts))]
        whole = minutes * 60 * SECOND
        assert all(at + left <= whole for at, left in zip(begun, lefts, strict=True))
    # What a search had found when the time was over is told, and not confirmed.
    found = limits.found(USUAL, server(8400, within_ns=60 * SECOND).climbed())
    assert [one.is_confirmed for one in found] == [False]
    assert found[0].kept is not None
    assert found[0].kept <= 8400 < (found[0].refused or 0)


def test_the_highest_rate_that_was_asked_for_can_be_kept() -> None:
    measured = server(1e9, ceiling=20_000).climbed()
    found = limits.found(Settings(**{**vars(USUAL), "ceiling": 20_000}), measured)
    assert {one.kept for one in found} == {20_000}
    assert limits.shown(measured, found) is None
    assert limits.binding(None) == "ceiling"


def test_what_binds_is_shown_above_the_figure_where_searches_differ_much() -> None:
    a_server = server(8400)
    a_server.limit = lambda _: 4200.0 if a_server.steps[-1].search == 2 else 8400.0
    measured = a_server.climbed()
    found = limits.found(USUAL, measured)
    figure, refused = limits.interval(found), limits.shown(measured, found)
    assert figure is not None
    assert refused is not None
    assert min(one.refused or 0 for one in found) < figure.value < refused.rate


@pytest.mark.parametrize(
    ("changes", "binds"),
    [
        ({}, "goal"),
        ({"reason": "achieved"}, "overload"),
        ({"reason": "backlog", "server_busy": None}, "overload"),
        ({"server_busy": 0.97}, "server"),
        ({"bottleneck": "server", "verdict": "overloaded"}, "server"),
        ({"occupied": 0.9}, "connections"),
        ({"bottleneck": "connections", "reason": "achieved"}, "connections"),
        # The generator's own limit is never told as the server's, however busy that is.
        ({"bottleneck": "generator", "verdict": "client-bound", "server_busy": 0.99}, "generator"),
    ],
)
def test_what_binds_is_seen_where_the_rate_was_refused(changes: dict[str, Any], binds: str) -> None:
    measured = server(8400, changes).climbed()
    refused = limits.shown(measured, limits.found(USUAL, measured))
    assert refused is not None
    assert 8400 < refused.rate <= 8400 * 1.05
    assert limits.binding(refused) == binds

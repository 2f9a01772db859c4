"""Other mixes of a file's routes: as few as tell them apart, each one that a user may have."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from wiretrial.plan_traffic import Back, Flow, Line, Route, Step, Traffic
from wiretrial.traffic import mixes


def traffic(*flows: tuple[int, Sequence[int]], routes: int = 3) -> Traffic:
    """Flows by weight and the routes of their steps."""
    return Traffic(
        routes=tuple(Route(name=f"r{n}", method="GET", target=()) for n in range(routes)),
        flows=tuple(
            Flow(name=f"f{n}", weight=weight, steps=tuple(Step(route=one) for one in steps))
            for n, (weight, steps) in enumerate(flows)
        ),
    )


def asked(found: Sequence[mixes.Mix]) -> list[list[int]]:
    return [[step.route for step in mix.traffic.flows[0].steps] for mix in found]


def test_one_session_is_cut_short_after_each_of_its_requests() -> None:
    found = mixes.others(traffic((1, [0, 1, 2])))
    assert sorted(asked(found)) == [[0], [0, 1]]
    assert {mix.share for mix in found} == {1.0}


def test_flows_come_alone() -> None:
    found = mixes.others(traffic((3, [0]), (1, [1]), routes=2))
    assert asked(found) == [[1]]
    # A session of the rare flow may cost four times an average one.
    assert found[0].share == pytest.approx(1 / 3)


def test_what_always_comes_together_is_not_told_apart() -> None:
    pairs = traffic((1, [0, 1, 1]), routes=2)
    assert asked(mixes.others(pairs)) == [[0]]
    step = pairs.flows[0].steps[0].model_copy(update={"back": Back(to=0, times=2)})
    twice = pairs.flows[0].model_copy(update={"steps": (step,)})
    assert mixes.others(pairs.model_copy(update={"flows": (twice,)})) == ()


def test_there_are_no_more_than_can_be_measured() -> None:
    assert len(mixes.others(traffic((1, range(40)), routes=40))) == mixes.MOST


@pytest.mark.parametrize(
    "alone",
    [
        traffic((1, [0, 0]), routes=1),
        traffic((1, [0, 1])).model_copy(
            update={"routes": (), "lines": (Line(name="l", does="open"),)}
        ),
    ],
)
def test_one_route_and_conversations_have_none(alone: Traffic) -> None:
    assert mixes.others(alone) == ()


def test_a_session_without_an_end_is_not_cut() -> None:
    endless = Step(route=1, back=Back(to=0))
    flow = Flow(name="f", steps=(Step(route=0), endless))
    assert mixes.others(traffic((1, [0]), routes=2).model_copy(update={"flows": (flow,)})) == ()

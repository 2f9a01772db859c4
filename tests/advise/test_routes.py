"""CPU by route: known costs come back over mixes, and what the mixes do not tell is not told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.advise.synthetic import COSTS, limit, resource, routed
from wiretrial.advise import answer
from wiretrial.advise.answer import Basis, Wanted
from wiretrial.advise.demand import OfRate
from wiretrial.report import advice, advice_page
from wiretrial.results.advice import Advice
from wiretrial.results.limits import Level

USUAL = tuple(routed(rate) for rate in (100.0, 200.0, 400.0, 800.0))
CUT = (routed(400.0, (1, 0, 0)), routed(400.0, (1, 1, 0)))


def advised(mixes: Sequence[Level], usual: Sequence[Level] = USUAL) -> Advice:
    measured = limit(usual, unit="sessions/s", rate=800.0, low=800.0)
    return answer.advice(Basis(measured, (), mixes), OfRate(2000.0), Wanted())


def lines(made: Advice) -> dict[str, str]:
    return dict(advice.lines(made))


def test_each_route_costs_what_it_does() -> None:
    made = advised(CUT)
    assert [route.name for route in made.routes] == list(COSTS)
    assert [route.ns for route in made.routes] == pytest.approx([1e5, 9e5, 5e4])
    assert [route.of_messages for route in made.routes] == pytest.approx([1 / 3] * 3)
    whole = sum(COSTS.values())
    assert [one.of_cpu for one in made.routes] == pytest.approx([c / whole for c in COSTS.values()])
    assert made.by_cpu[0].name == "add"
    assert lines(made)["Worst route"] == (
        "add: 33 % of the requests, 86 % of the CPU time (900 µs each)"
    )


def test_the_page_has_a_row_per_route_with_its_interval() -> None:
    page = advice_page.render(advised(CUT))
    assert "What each route costs" in page
    assert page.index(">add<") < page.index(">login<") < page.index(">list<")


def test_each_server_has_its_own_costs() -> None:
    def with_database(one: Level) -> Level:
        adds = one.routes[1].rate
        db = resource(0.0, "db", cpus=0.01 + 400e-6 * adds, of_cpus=1.0)
        return one.model_copy(update={"resources": (*one.resources, db)})

    made = advised([with_database(one) for one in CUT], [with_database(one) for one in USUAL])
    costs = [[cost.ns for cost in route.costs] for route in made.routes]
    assert costs[1] == pytest.approx([9e5, 4e5])
    assert costs[0][1] == pytest.approx(0.0, abs=1.0)


def test_a_mix_that_missed_a_goal_counts_and_one_that_was_not_answered_does_not() -> None:
    missed = CUT[0].model_copy(update={"is_kept": False, "reason": "goal"})
    assert advised((missed, CUT[1])).routes[1].ns == pytest.approx(9e5)
    lost = CUT[0].model_copy(update={"is_kept": False, "reason": "achieved"})
    assert advised((lost, CUT[1])).routes == ()


@pytest.mark.parametrize(
    ("mixes", "says"),
    [
        ((), "can't be told: no other mix of them was measured"),
        (CUT[:1], "can't be told: the mixes are too alike"),
    ],
)
def test_too_few_mixes_tell_no_route(mixes: Sequence[Level], says: str) -> None:
    made = advised(mixes)
    assert made.routes == ()
    assert lines(made)["Worst route"] == says


def test_a_single_message_has_no_routes() -> None:
    made = answer.advice(Basis(limit()), OfRate(2000.0), Wanted())
    assert (made.routes, made.routes_lack) == ((), None)
    assert "Worst route" not in lines(made)

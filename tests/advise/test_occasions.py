"""Several occasions: their interval is over days, and what is not the same search is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.advise.synthetic import limit
from wiretrial.advise import answer, occasions
from wiretrial.advise.answer import Basis, Wanted
from wiretrial.advise.demand import OfRate
from wiretrial.errors import UsageProblem
from wiretrial.report import advice
from wiretrial.results.advice import Advice, Together
from wiretrial.results.limits import Found, Limit
from wiretrial.stats import student
from wiretrial.stats.limit import between


def day(number: int, rate: float, **changes: Any) -> Limit:
    told = {"low": 0.98 * rate, "high": 1.02 * rate, "rate": rate, **changes}
    return limit(started_at=f"2026-01-0{number}T00:00:00Z", **told)


def over(*limits: Limit) -> Limit:
    return occasions.together([Basis(one) for one in limits]).limit


def test_three_days_have_an_interval_of_their_own() -> None:
    rates = (8000.0, 8400.0, 9000.0)
    found = over(*(day(number, rate) for number, rate in enumerate(rates, 1)))
    logs = [math.log(rate) for rate in rates]
    middle = sum(logs) / 3
    deviation = math.sqrt(sum((one - middle) ** 2 for one in logs) / 2)
    reach = student.quantile(0.975, 2) * deviation / math.sqrt(3)
    assert found.rate == pytest.approx(math.exp(middle))
    assert found.low == pytest.approx(math.exp(middle - reach))
    assert found.high == pytest.approx(1.02 * math.exp(middle + reach))
    assert len(found.levels) == 12
    assert [one.search for one in found.searches] == [1, 2, 3]


def test_of_several_instances_the_day_on_which_they_gained_least_counts() -> None:
    def two(rate: float) -> Together:
        return Together(instances=2, limit=limit(rate=rate), is_spread=True)

    found = occasions.together(
        [
            Basis(day(1, 8000.0), together=[two(14_400.0)], pinned=(0, 1)),
            Basis(day(2, 9000.0), together=[two(14_400.0)]),
            Basis(day(3, 8500.0), division_lacks="the machine was small"),
        ]
    )
    (several,) = found.together
    assert found.limit.rate is not None
    # 1.8 times one on the first day, 1.6 times on the second.
    assert several.limit.rate == pytest.approx(1.6 * found.limit.rate)
    assert (found.division_lacks, found.pinned) == ("the machine was small", (0, 1))


def test_the_ends_of_what_several_carried_go_with_their_rate() -> None:
    two = Together(instances=2, limit=limit(rate=16_000.0, low=15_200.0, high=16_800.0))
    found = occasions.together([Basis(day(1, 8000.0), together=[two]), Basis(day(2, 8000.0))])
    alike = found.together[0].limit
    assert (alike.rate, alike.low, alike.high) == pytest.approx((16_000.0, 15_200.0, 16_800.0))
    found = occasions.together([Basis(day(1, 8000.0), together=[two]), Basis(day(2, 18_000.0))])
    other = found.together[0].limit
    assert found.limit.rate == pytest.approx(12_000.0)
    assert (other.rate, other.low, other.high) == pytest.approx((24_000.0, 22_800.0, 25_200.0))


def found(search: int, rate: float) -> Found:
    return Found(search=search, kept=rate, refused=1.05 * rate, is_confirmed=True)


def gained(number: int, times: float, searches: int = 2) -> Basis:
    """A day on which two carried so many times one."""
    many = [found(search + 1, 8000.0 * times) for search in range(searches)]
    one = [found(search + 1, 8000.0) for search in range(searches)]
    two = limit(rate=8000.0 * times, searches=tuple(many))
    together = [Together(instances=2, limit=two)]
    return Basis(day(number, 8000.0, searches=tuple(one)), together=together)


def test_how_many_times_one_alone_they_carry_is_over_the_days() -> None:
    (several,) = occasions.together([gained(1, 1.7), gained(2, 1.9)]).together
    assert several.times == pytest.approx((1.7 / 1.05, 1.9 * 1.05))
    days = [gained(number, times, 1) for number, times in enumerate((1.7, 1.8, 1.9), 1)]
    (several,) = occasions.together(days).together
    over = between([1.7, 1.8, 1.9], [1.7, 1.8, 1.9])
    assert over.high is not None
    assert several.times == pytest.approx((over.low / 1.05, over.high * 1.05))


def test_the_day_on_which_they_gained_least_lies_in_the_interval() -> None:
    few = [gained(number, 1.8, 1) for number in range(1, 9)]
    (several,) = occasions.together([*few, gained(9, 1.2, 1)]).together
    assert several.times is not None
    assert several.times[0] == pytest.approx(1.2)


def test_days_without_both_tell_no_interval() -> None:
    (several,) = occasions.together([gained(1, 1.7), Basis(day(2, 8000.0))]).together
    assert several.times is None
    (several,) = occasions.together([gained(1, 1.7), gained(2, 1.9, 1)]).together
    assert several.times is None


def test_the_command_that_confirms_has_the_cpus_of_its_own_occasion() -> None:
    command = "wiretrial advise http://h/ --rate 9"
    low = Basis(day(2, 8000.0, command=f"{command} -c 8"), pinned=(2, 3))
    found = occasions.together([Basis(day(1, 9000.0, command=command), pinned=(0, 1)), low])
    made = answer.advice(found, OfRate(8000.0), Wanted())
    assert made.command.startswith("taskset -c 2,3 wiretrial limit http://h/ -c 8 ")


def test_two_days_reach_from_end_to_end() -> None:
    found = over(day(1, 8000.0), day(2, 9000.0))
    assert [found.low, found.high] == pytest.approx([7840.0, 9180.0])
    bound = over(day(1, 8000.0), day(2, 9000.0, is_at_least=True, high=None))
    assert (bound.is_at_least, bound.high) == (True, None)


def told(made: Advice) -> str:
    return dict(advice.lines(made))["Capacity"]


def test_the_answer_says_how_far_they_are_apart() -> None:
    basis = occasions.together([Basis(day(1, 8000.0)), Basis(day(2, 9000.0))])
    made = answer.advice(basis, OfRate(20_000.0), Wanted())
    assert told(made).endswith("2 searches over 2 occasions, 12 % apart")
    assert told(answer.advice(Basis(day(1, 8000.0)), OfRate(1.0), Wanted())).endswith(
        "1 search on one day"
    )
    with pytest.raises(UsageProblem, match="is of several occasions already"):
        occasions.together([Basis(made.limit, rates=made.occasions), Basis(day(3, 8000.0))])


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (day(1, 8000.0), "the same occasion twice"),
        (day(2, 8000.0, goals=("p99 < 1s",)), "number 2, was held against p99 < 1s"),
        (day(2, 8000.0, unit="sessions/s"), "in sessions/s, and the first"),
        (day(2, 8000.0).model_copy(update={"rate": None}), "no rate of it kept its goals"),
    ],
)
def test_what_is_another_search_is_refused(other: Limit, says: str) -> None:
    with pytest.raises(UsageProblem, match=says):
        over(day(1, 8000.0), other)

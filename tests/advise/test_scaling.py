"""Several instances together: known laws come back, and far beyond them nothing is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.advise.synthetic import limit
from wiretrial.advise import answer
from wiretrial.advise.answer import Basis, Wanted
from wiretrial.advise.demand import OfRate
from wiretrial.errors import MeasurementInvalid, UsageProblem, WiretrialError
from wiretrial.report import advice
from wiretrial.results.advice import Advice
from wiretrial.results.limits import Limit

ONE = 8400.0


def together(number: int, contention: float, coherency: float = 0.0, **changes: Any) -> Limit:
    waits = 1 + contention * (number - 1) + coherency * number * (number - 1)
    rate = ONE * number / waits
    return limit(target=f"http://proxy{number}/", rate=rate, low=rate, high=rate, **changes)


def advised(sizes: Mapping[int, Limit], rate: float = 20_000.0, **wanted: Any) -> Advice:
    one = limit(low=ONE, high=ONE)
    return answer.advice(Basis(one), OfRate(rate), Wanted(sizes=sizes, **wanted))


def test_two_instances_tell_what_does_not_divide() -> None:
    made = advised({2: together(2, 0.1)})
    scaling = made.scaling
    assert scaling is not None
    assert scaling.contention.value == pytest.approx(0.1)
    # Three carry 21,000 by this law; 2.4 alone ones would be three, too.
    assert made.instances == 3
    assert scaling.at(3) == pytest.approx(21_000)
    assert advised({2: together(2, 0.1)}, rate=21_500.0).instances == 4
    assert dict(advice.lines(made))["Divides"] == (
        "2 carried 15,300 requests/s, 1.82 times one. Contention 10 %: each of 3 carries 83 % of"
        " what one does alone. Nothing is told beyond 4"
    )
    assert "anything shared" not in dict(advice.lines(made))["Void if"]


def test_the_law_comes_back_from_four_sizes() -> None:
    made = advised({n: together(n, 0.05, 0.002) for n in (2, 4, 8)})
    scaling = made.scaling
    assert scaling is not None
    assert scaling.unit == pytest.approx(ONE)
    assert scaling.contention.value == pytest.approx(0.05, abs=1e-5)
    assert scaling.coherency.value == pytest.approx(0.002, abs=1e-6)
    assert scaling.contention.low == pytest.approx(0.05, abs=1e-4)
    assert "coherency 0.2 % (0.2 to 0.2)" in dict(advice.lines(made))["Divides"]


def test_the_lower_end_of_one_counts_for_all() -> None:
    made = answer.advice(
        Basis(limit(low=ONE / 2, high=2 * ONE)),
        OfRate(15_000.0),
        Wanted(sizes={2: together(2, 0.0), 4: together(4, 0.0)}),
    )
    assert made.instances == 4


def test_growth_is_of_what_all_carry_together() -> None:
    made = advised({2: together(2, 0.1)}, growth=0.05)
    assert made.growth is not None
    assert made.growth.months == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("sizes", "rate", "error", "says"),
    [
        ({2: together(2, 0.1)}, 30_000.0, MeasurementInvalid, "more than 4 instances, and 2 were"),
        (
            {n: together(n, 0.05, 0.05) for n in (2, 4, 8)},
            1e6,
            MeasurementInvalid,
            "they carry most together when they are 4",
        ),
        (
            {2: together(2, 0.1, goals=("p99 < 1s",))},
            1.0,
            UsageProblem,
            "was held against p99 < 1s",
        ),
        ({2: together(2, 0.1, unit="sessions/s")}, 1.0, UsageProblem, "in sessions/s, and one"),
        ({2: together(2, 0.1, is_at_least=True)}, 1.0, UsageProblem, "--size 2 is a lower bound"),
        ({2: limit(rate=None)}, 1.0, UsageProblem, "no rate of it kept its goals"),
    ],
)
def test_what_can_not_be_told_is_refused(
    sizes: Mapping[int, Limit], rate: float, error: type[WiretrialError], says: str
) -> None:
    with pytest.raises(error, match=says):
        advised(sizes, rate)

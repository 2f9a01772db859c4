"""The interval of several searches, against limits that are known."""

from __future__ import annotations

import math
import random
from statistics import geometric_mean, stdev

import pytest

from wiretrial.stats import student
from wiretrial.stats.knee import Search
from wiretrial.stats.limit import Ends, between, times, times_over


def test_one_search_says_what_it_kept_and_refused() -> None:
    found = between([8000.0], [8400.0])
    assert (found.value, found.low, found.high) == (8000.0, 8000.0, 8400.0)


def test_several_searches_that_agree_leave_the_resolution() -> None:
    found = between([8000.0, 8000.0, 8000.0], [8400.0, 8400.0, 8400.0])
    assert found.value == pytest.approx(8000)
    assert found.low == pytest.approx(8000)
    assert found.high == pytest.approx(8400)


def test_the_scatter_of_searches_widens_it() -> None:
    kept, refused = [7600.0, 8000.0, 8400.0], [7980.0, 8400.0, 8820.0]
    found = between(kept, refused)
    assert found.high is not None
    assert found.low < min(kept)
    assert found.high > max(refused)


def test_without_a_refused_rate_there_is_no_upper_end() -> None:
    assert between([8000.0, 9000.0], [8400.0, None]).high is None
    with pytest.raises(ValueError, match="at least one"):
        between([], [])


def searched(*kept: float, wide: float = 1.05) -> Ends:
    return Ends(kept, [wide * rate for rate in kept])


def test_searches_that_agree_leave_the_resolution_of_a_ratio() -> None:
    found = times(searched(18_000, 18_000), searched(10_000, 10_000, 10_000))
    assert found is not None
    assert [found.low, found.high] == pytest.approx([1.8 / 1.05, 1.8 * 1.05])


def test_the_scatter_of_both_widens_their_ratio() -> None:
    many, one = [17_000.0, 18_000.0, 19_000.0], [9_800.0, 10_000.0, 10_300.0]
    found = times(searched(*many), searched(*one))
    assert found is not None
    variances = [
        stdev([math.log(rate) for rate in rates]) ** 2 / len(rates) for rates in (many, one)
    ]
    degrees = sum(variances) ** 2 / sum(each**2 / 2 for each in variances)
    reach = math.exp(student.quantile(0.975, degrees) * math.sqrt(sum(variances)))
    middle = geometric_mean(many) / geometric_mean(one)
    assert [found.low, found.high] == pytest.approx([middle / 1.05 / reach, middle * 1.05 * reach])


@pytest.mark.parametrize("many", [searched(), searched(18_000)])
def test_one_search_tells_no_scatter_of_a_ratio(many: Ends) -> None:
    one = searched(10_000, 10_000)
    assert times(many, one) is None
    assert times(one, many) is None


def test_over_days_each_is_one_value() -> None:
    days = [(searched(gained * 10_000), searched(10_000)) for gained in (1.7, 1.8, 1.9)]
    found = times_over(days)
    over = between([1.7, 1.8, 1.9], [1.7, 1.8, 1.9])
    assert found is not None
    assert over.high is not None
    assert [found.low, found.high] == pytest.approx([over.low / 1.05, over.high * 1.05])
    assert times_over([*days, (searched(), searched(10_000))]) is None


def test_two_days_reach_from_end_to_end_of_their_ratios() -> None:
    one = searched(10_000, 10_000)
    days = [(searched(rate, rate), one) for rate in (17_000.0, 19_000.0)]
    found = times_over(days)
    assert found is not None
    assert [found.low, found.high] == pytest.approx([1.7 / 1.05, 1.9 * 1.05])
    assert times_over([*days[:1], (searched(19_000), one)]) is None


def test_the_interval_of_a_ratio_holds_it() -> None:
    """Both waver by 3 % from search to search; one is 1.8 times the other."""
    held = 0
    draw = random.Random(11)

    def found(middle: float) -> Ends:
        limits = [middle * math.exp(draw.gauss(0, 0.03)) for _ in range(3)]
        kept = [limit / draw.uniform(1, 1.05) for limit in limits]
        return searched(*kept)

    for _ in range(400):
        told = times(found(9000.0), found(5000.0))
        assert told is not None
        held += told.low <= 1.8 <= told.high
    assert held >= 0.95 * 400


def test_the_interval_holds_the_limit() -> None:
    """The limit wavers by 3 % from search to search around a median of 5,000."""
    held = 0
    draw = random.Random(7)
    for _ in range(400):
        kept, refused = [], list[float | None]()
        for _ in range(3):
            limit = 5000 * math.exp(draw.gauss(0, 0.03))
            search = Search(first=5000 * draw.uniform(0.9, 1.1), ceiling=1e6, stride=1.3)
            while (rate := search.next_rate()) is not None:
                search.see(rate, rate <= limit)
            assert search.low is not None
            kept.append(search.low)
            refused.append(search.high)
        found = between(kept, refused)
        assert found.high is not None
        held += found.low <= 5000 <= found.high
    assert held >= 380

"""The interval of several searches, against limits that are known."""

from __future__ import annotations

import math
import random

import pytest

from wiretrial.stats.knee import Search
from wiretrial.stats.limit import between


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

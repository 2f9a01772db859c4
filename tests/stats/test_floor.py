"""Floors: known answers, those of the published table among them."""

from __future__ import annotations

import pytest

from wiretrial.stats.floor import Demand, floor

MS = 1_000_000


@pytest.mark.parametrize(
    ("each", "threads", "work_ms", "path_ms", "seconds", "bound"),
    [
        (200, 28, 200, 0, 40, "pool"),
        (200, 4, 200, 0, 100, "pool"),
        (1000, 28, 200, 0, 200, "pool"),
        (1000, 4, 200, 0, 500, "pool"),
        (1000, 28, 0, 104, 104, "path"),
        (1000, 4, 0, 52, 52, "path"),
        (200, 28, 200, 104, 60.8, "path"),
        (200, 4, 200, 104, 100, "pool"),
        (1000, 28, 200, 104, 304, "path"),
        (1000, 4, 200, 104, 500, "pool"),
        (200, 10, 200, 0, 40, "pool"),
        (200, 9, 200, 0, 400 / 9, "pool"),
        (200, 1, 200, 10_000, 2040, "path"),
    ],
)
def test_ten_producers_take_so_long_at_least(
    each: int, threads: int, work_ms: int, path_ms: int, seconds: float, bound: str
) -> None:
    found = floor(Demand(each, 10, threads, work_ms * MS, path_ms * MS))
    assert found is not None
    assert found.ns == pytest.approx(seconds * 1e9)
    assert found.bound == bound


def test_without_work_and_without_a_path_there_is_no_floor() -> None:
    assert floor(Demand(1000, 10, 4, 0)) is None


def test_the_formula_is_told_in_figures() -> None:
    pool = floor(Demand(200, 10, 4, 200 * MS, 104 * MS))
    path = floor(Demand(200, 10, 28, 200 * MS, 104 * MS))
    assert pool is not None
    assert path is not None
    assert pool.formula == "200 x 200 ms x 10 / 4"
    assert path.formula == "200 x (200 ms + 104 ms)"


def test_one_producer_never_gains_by_threads() -> None:
    one, many = (floor(Demand(50, 1, threads, 20 * MS)) for threads in (1, 28))
    assert one == many

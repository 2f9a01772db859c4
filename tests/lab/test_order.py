"""The order of trials: a permutation per block, from a recorded seed."""

from __future__ import annotations

from collections import Counter

from wiretrial.studies.order import slots

NAMES = ("a", "b", "c", "d")


def test_each_block_is_a_permutation() -> None:
    drawn = list(slots(NAMES, 50, seed=7))
    for block in range(50):
        mine = [slot for slot in drawn if slot.block == block]
        assert sorted(slot.scenario for slot in mine) == list(NAMES)
        assert [slot.position for slot in mine] == [0, 1, 2, 3]


def test_the_seed_decides_and_more_blocks_change_none() -> None:
    five, ten = list(slots(NAMES, 5, seed=7)), list(slots(NAMES, 10, seed=7))
    assert ten[: len(five)] == five
    assert list(slots(NAMES, 5, seed=8)) != five


def test_every_scenario_comes_first_about_as_often() -> None:
    first = Counter(slot.scenario for slot in slots(NAMES, 4000, seed=1) if slot.position == 0)
    # 1000 each; five standard deviations of a binomial are 137.
    assert all(abs(count - 1000) < 137 for count in first.values())

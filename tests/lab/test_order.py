"""The order of trials: in each block groups and their scenarios are drawn, from a recorded seed."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from wiretrial.studies.order import Slot, slots

GROUPS = (("a", "b", "c"), ("d",), ("e", "f"))
NAMES = ("a", "b", "c", "d", "e", "f")
GROUP_OF = {name: number for number, group in enumerate(GROUPS) for name in group}


def drawn(blocks: int, seed: int) -> list[Slot]:
    return list(slots(GROUPS, range(blocks), seed))


def test_each_block_is_a_permutation() -> None:
    found = drawn(50, seed=7)
    for block in range(50):
        mine = [slot for slot in found if slot.block == block]
        assert sorted(slot.scenario for slot in mine) == list(NAMES)
        assert [slot.position for slot in mine] == [0, 1, 2, 3, 4, 5]


def test_those_that_are_compared_stand_next_to_each_other() -> None:
    for _, block in groupby(drawn(50, seed=7), key=lambda slot: slot.block):
        runs = [number for number, _ in groupby(GROUP_OF[slot.scenario] for slot in block)]
        assert sorted(runs) == [0, 1, 2]


def test_the_seed_decides_and_more_blocks_change_none() -> None:
    five, ten = drawn(5, seed=7), drawn(10, seed=7)
    assert ten[: len(five)] == five
    assert list(slots(GROUPS, range(5, 10), seed=7)) == ten[len(five) :]
    assert drawn(5, seed=8) != five


def test_every_group_and_every_scenario_of_it_comes_first_about_as_often() -> None:
    found = drawn(3000, seed=1)
    first = Counter(GROUP_OF[slot.scenario] for slot in found if slot.position == 0)
    # 1000 each; five standard deviations of a binomial are 129.
    assert all(abs(count - 1000) < 129 for count in first.values())
    inside: Counter[str] = Counter()
    for _, run in groupby(found, key=lambda slot: (slot.block, GROUP_OF[slot.scenario])):
        inside[next(run).scenario] += 1
    assert all(abs(inside[name] - 1000) < 129 for name in GROUPS[0])
    # 1500 each.
    assert all(abs(inside[name] - 1500) < 137 for name in GROUPS[2])

"""The order of trials: in each block the groups in random order, and in each group its scenarios.

Pure. Drift of the machine then hits all scenarios alike, no scenario always follows another, and
those that are compared stand next to each other, because what drifts slowly cancels only between
neighbours. The order comes from a recorded seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Slot:
    """One trial's place in a study."""

    block: int
    position: int
    scenario: str
    order_seed: int
    occasion: int = 1


def slots(groups: Sequence[Sequence[str]], blocks: range, seed: int) -> Iterator[Slot]:
    """Every trial of these blocks, in the order in which they are to run.

    `groups`: the scenarios that are compared with each other.
    """
    for block in blocks:
        # A seed of its own: block k is the same in a study of five blocks and of ten.
        order_seed = random.Random(f"{seed}/{block}").getrandbits(32)
        drawn = random.Random(order_seed)
        order = [drawn.sample(group, len(group)) for group in drawn.sample(groups, len(groups))]
        for position, scenario in enumerate(name for group in order for name in group):
            yield Slot(block=block, position=position, scenario=scenario, order_seed=order_seed)

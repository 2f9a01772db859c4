"""The order of trials: one random permutation of all scenarios per block, from a recorded seed.

Pure. Drift of the machine then hits all scenarios alike, and no scenario always follows another.
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


def slots(scenarios: Sequence[str], blocks: int, seed: int) -> Iterator[Slot]:
    """Every trial of a study, in the order in which it is to run."""
    for block in range(blocks):
        # A seed of its own: block k is the same in a study of five blocks and of ten.
        order_seed = random.Random(f"{seed}/{block}").getrandbits(32)
        order = list(scenarios)
        random.Random(order_seed).shuffle(order)
        for position, scenario in enumerate(order):
            yield Slot(block=block, position=position, scenario=scenario, order_seed=order_seed)

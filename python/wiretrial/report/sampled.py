"""Whether packing much would take far too much room, told from a part of it.

Knows sizes only; must not know what is packed, or how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

One = TypeVar("One")

SAMPLED = 8
"""One in so many is packed first, where that is at least `FEWEST` of them."""
FEWEST = 20
FAR = 2.0
"""A sample tells only of what is so many times too much: in whole, what is alike is packed once."""


def is_far_over(whole: Sequence[One], size: Callable[[Sequence[One]], int], most: int) -> bool:
    """Whether that takes more than twice `most` bytes, by `size` of a sample of it."""
    sample = whole[::SAMPLED]
    return len(sample) >= FEWEST and SAMPLED * size(sample) > FAR * most

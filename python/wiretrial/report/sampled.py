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


def within(whole: Sequence[One], pack: Callable[[Sequence[One]], bytes], most: int) -> bytes | None:
    """What `pack` makes of all of them; None: that is more than `most` bytes."""
    if is_far_over(whole, lambda some: len(pack(some)), most):
        return None
    packed = pack(whole)
    return packed if len(packed) <= most else None


def is_far_over(whole: Sequence[One], size: Callable[[Sequence[One]], int], most: int) -> bool:
    """Whether that takes more than twice `most` bytes, by `size` of a sample of it."""
    sample = whole[::SAMPLED]
    return len(sample) >= FEWEST and SAMPLED * size(sample) > FAR * most

"""Ranks that share a place unless a difference is shown.

A rank is one more than the number of scenarios shown to be better (the partial order of the tests,
never of the point estimates). Brackets join neighbours of which no two are shown to differ, as the
compact letter display does (Piepho 2004). Somebody of whom it cannot be told who is better has no
rank, and no bracket begins or ends there.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True)
class Ranking(Generic[Item]):
    """`order`: best first. `ranks`: one for each who has one. `brackets`: first and last index."""

    order: tuple[Item, ...]
    ranks: Mapping[Item, int]
    brackets: tuple[tuple[int, int], ...]


def rank(
    order: Sequence[Item],
    better: Collection[tuple[Item, Item]],
    unranked: Collection[Item] = frozenset(),
) -> Ranking[Item]:
    """Ranks `order` (best estimate first) by `better`: pairs (winner, loser) that are shown.

    Who is `unranked` has no rank, but counts for those that it is shown to beat.
    """
    shown = frozenset(better)
    at = [index for index, item in enumerate(order) if item not in unranked]
    placed = [order[index] for index in at]
    ranks = {item: 1 + sum((other, item) in shown for other in order) for item in placed}
    brackets = tuple((at[first], at[last]) for first, last in _brackets(placed, shown))
    return Ranking(tuple(order), ranks, brackets)


def _brackets(order: Sequence[Item], shown: frozenset[tuple[Item, Item]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and not any(
            _differ(order[last + 1], order[inside], shown) for inside in range(first, last + 1)
        ):
            last += 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def _differ(one: Item, other: Item, shown: frozenset[tuple[Item, Item]]) -> bool:
    return (one, other) in shown or (other, one) in shown

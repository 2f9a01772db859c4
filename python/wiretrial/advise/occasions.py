"""One basis of several: the same search on other days or machines.

An interval over the searches of one day says nothing of another day. From three occasions on it is
Student's over the occasions; of two it reaches from the lower end of one to the upper end of the
other. Pure: knows what was measured; must not know where it was kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.advise import scaling
from wiretrial.advise.answer import Basis
from wiretrial.errors import UsageProblem
from wiretrial.results.advice import Together
from wiretrial.results.limits import Found, Level, Limit
from wiretrial.stats.limit import between, times_over
from wiretrial.stats.occasions import ENOUGH


def together(bases: Sequence[Basis]) -> Basis:
    """All of them as one. Raises where they were not asked the same, or are the same."""
    first, *others = bases
    if not others:
        return first
    for number, basis in enumerate(bases, 1):
        if basis.rates:
            raise UsageProblem(
                f"--from, number {number}, is of several occasions already",
                "name each occasion by itself",
            )
    _require_alike([basis.limit for basis in bases])
    limit = _limit([basis.limit for basis in bases], _lowest(bases).limit)
    return Basis(
        limit=limit,
        beside=[level for basis in bases for level in basis.beside],
        mixes=[level for basis in bases for level in basis.mixes],
        crowded=[level for basis in bases for level in basis.crowded],
        rates=tuple(basis.limit.rate or 0.0 for basis in bases),
        together=_together(bases, limit.rate),
        # Of the occasion whose command it is: its machine has them.
        pinned=_lowest(bases).pinned,
        division_lacks=next((one.division_lacks for one in bases if one.division_lacks), None),
    )


def _together(bases: Sequence[Basis], rate: float | None) -> tuple[Together, ...]:
    """Of each number of instances the occasion on which they gained least, at the rate of all.

    How many times one alone they carried is over the occasions, where each of them has both.
    """
    least: dict[int, tuple[float, Together]] = {}
    for basis in bases:
        for many in basis.together:
            gained = (many.limit.rate or 0.0) / (basis.limit.rate or 1.0)
            if many.instances not in least or gained < least[many.instances][0]:
                least[many.instances] = gained, many
    return tuple(
        many.model_copy(
            update={
                "limit": _at(many.limit, gained * (rate or 0.0)),
                "times": _times(bases, many.instances, gained),
            }
        )
        for gained, many in least.values()
    )


def _times(bases: Sequence[Basis], number: int, gained: float) -> tuple[float, float] | None:
    """Where it lies over the occasions how many times one alone so many carry.

    It reaches to what they gained least, which is the figure that counts.
    """
    days = [
        (scaling.ends(many.limit), scaling.ends(basis.limit))
        for basis in bases
        for many in basis.together
        if many.instances == number
    ]
    found = times_over(days) if len(days) == len(bases) else None
    return None if found is None else (min(found.low, gained), max(found.high, gained))


def _at(limit: Limit, rate: float) -> Limit:
    """The same at another rate, with the ends of its interval as far from it."""
    times = rate / limit.rate if limit.rate else 0.0
    ends = {
        name: None if end is None else end * times
        for name, end in (("low", limit.low), ("high", limit.high))
    }
    return limit.model_copy(update={"rate": rate, **ends})


def _lowest(bases: Sequence[Basis]) -> Basis:
    return min(bases, key=lambda basis: basis.limit.rate or 0.0)


def _require_alike(limits: Sequence[Limit]) -> None:
    first = limits[0]
    for number, limit in enumerate(limits, 1):
        if limit.rate is None:
            raise UsageProblem(
                f"--from, number {number}: no rate of it kept its goals", "leave it out"
            )
        if (limit.unit, limit.goals) != (first.unit, first.goals):
            raise UsageProblem(
                f"--from, number {number}, was held against {', '.join(limit.goals) or 'no goal'},"
                f" in {limit.unit}, and the first against {', '.join(first.goals) or 'no goal'}, in"
                f" {first.unit}",
                "occasions are the same search on other days or machines",
            )
    begun = [limit.started_at for limit in limits]
    if len(set(begun)) < len(begun):
        raise UsageProblem("--from names the same occasion twice", "name each of them once")


def _limit(limits: Sequence[Limit], lowest: Limit) -> Limit:
    """Levels and searches of all, numbered on, and the interval over the occasions.

    All else is that of the lowest.
    """
    rates = [limit.rate for limit in limits if limit.rate is not None]
    highs = [limit.high for limit in limits]
    over = between(rates, highs)
    low, high = over.low, over.high
    if len(limits) < ENOUGH:
        low = min(limit.low or limit.rate or 0.0 for limit in limits)
        known = [one for one in highs if one is not None]
        high = max(known) if len(known) == len(highs) else None
    at_least = any(limit.is_at_least for limit in limits)
    levels: list[Level] = []
    searches: list[Found] = []
    for limit in limits:
        after = len(searches)
        levels += [one.model_copy(update={"search": one.search + after}) for one in limit.levels]
        searches += [
            one.model_copy(update={"search": one.search + after}) for one in limit.searches
        ]
    return lowest.model_copy(
        update={
            "rate": over.value,
            "low": low,
            "high": None if at_least else high,
            "is_at_least": at_least,
            "levels": tuple(levels),
            "searches": tuple(searches),
        }
    )

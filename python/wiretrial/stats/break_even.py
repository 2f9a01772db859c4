"""After how many messages per connection one way of talking becomes cheaper than another.

With a set-up cost and a cost per message on each side, both ways cost the same after
n = (set-up B - set-up A) / (message A - message B) messages. The interval of that ratio of two
means is Fieller's (1954, *Some problems in interval estimation*). Where the denominator may be
zero, his set is no interval: it is two rays, or every number, and the break-even cannot be told.

A machine that is half as fast doubles every cost and leaves the break-even where it is. Over
several occasions the differences are therefore taken in units of that occasion's cost per message;
in nanoseconds the slowest machine would decide, and the machines would count as scatter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from wiretrial.stats import student
from wiretrial.stats.occasions import units

CONFIDENCE = 0.95

Outcome = Literal["break-even", "until", "always A", "always B", "cannot be told"]


@dataclass(frozen=True)
class Cost:
    """One way of talking in one block, in any unit of cost (time, CPU, bytes)."""

    setup: float
    message: float


@dataclass(frozen=True)
class BreakEven:
    """Where B becomes the cheaper one.

    `messages` is the number after which both cost the same, and lies between `low` and `high`.
    `until`: the other way round, B is the cheaper one up to there. `always A`, `always B`: one is
    no dearer in either part, and that is shown. `cannot be told`: the difference per message can't
    be told from none. The last three have no number.
    """

    outcome: Outcome
    messages: float | None
    low: float | None
    high: float | None


def find(a: Sequence[Cost], b: Sequence[Cost], *, occasions: Sequence[int] = ()) -> BreakEven:
    """The break-even of A, cheap to set up, and B, cheap per message; a[i], b[i] share a block.

    `occasions`: on which one block i was measured; left out: all on the same. Of several, each
    counts as one value, the mean of its blocks, as in `stats.compare`, in units of what a message
    costs on it.
    """
    if len(a) != len(b):
        raise ValueError(f"pairs need equal numbers, not {len(a)} and {len(b)}")
    if len(a) < 2:
        raise ValueError("an interval needs two blocks or more")
    scales = _scales(a, b, occasions)
    dearer = _scaled([y.setup - x.setup for x, y in zip(a, b, strict=True)], occasions, scales)
    saved = _scaled([x.message - y.message for x, y in zip(a, b, strict=True)], occasions, scales)
    top, bottom = fmean(dearer), fmean(saved)
    # What a message saves must not be chance: a loss in each would eat up any cheaper set-up.
    is_lasting = _is_shown(saved) or not any(saved)
    if top <= 0 <= bottom and is_lasting and (_is_shown(dearer) or _is_shown(saved)):
        return BreakEven("always B", None, None, None)
    if bottom <= 0 <= top and _is_shown(saved):
        return BreakEven("always A", None, None, None)
    if top * bottom <= 0:
        return BreakEven("cannot be told", None, None, None)
    interval = _fieller(dearer, saved)
    if interval is None:
        return BreakEven("cannot be told", None, None, None)
    outcome: Outcome = "break-even" if top > 0 else "until"
    return BreakEven(outcome, top / bottom, max(interval[0], 0.0), interval[1])


def _scales(a: Sequence[Cost], b: Sequence[Cost], occasions: Sequence[int]) -> list[float]:
    """What a message costs on each of several occasions, A and B together; else 1."""
    together = [x.message + y.message for x, y in zip(a, b, strict=True)]
    found = units(together, occasions)
    # A cost of nothing or less is noise, and no unit.
    if len(set(occasions)) < 2 or min(found) <= 0:
        return [1.0] * len(found)
    return found


def _scaled(
    values: Sequence[float], occasions: Sequence[int], scales: Sequence[float]
) -> list[float]:
    return [one / scale for one, scale in zip(units(values, occasions), scales, strict=True)]


def means(
    a: Sequence[Cost], b: Sequence[Cost], *, occasions: Sequence[int] = ()
) -> tuple[Cost, Cost]:
    """What A and B cost on average, so that their lines cross at the break-even.

    Over several occasions each counts in its own unit, and the result is in the geometric mean of
    these units.
    """
    scales = _scales(a, b, occasions)
    typical = math.exp(fmean(map(math.log, scales)))
    found = []
    for side in (a, b):
        setup = _scaled([one.setup for one in side], occasions, scales)
        message = _scaled([one.message for one in side], occasions, scales)
        found.append(Cost(typical * fmean(setup), typical * fmean(message)))
    return found[0], found[1]


def _is_shown(differences: Sequence[float]) -> bool:
    """Whether Student's interval of the mean difference leaves zero out."""
    n = len(differences)
    t = student.quantile((1 + CONFIDENCE) / 2, n - 1)
    error = math.sqrt(_covariance(differences, differences) / n)
    return abs(fmean(differences)) > t * error


def _fieller(
    numerators: Sequence[float], denominators: Sequence[float]
) -> tuple[float, float] | None:
    """The interval of the ratio of the two means; None where the denominator may be zero."""
    n = len(numerators)
    t = student.quantile((1 + CONFIDENCE) / 2, n - 1)
    top, bottom = fmean(numerators), fmean(denominators)
    v_top = _covariance(numerators, numerators) / n
    v_bottom = _covariance(denominators, denominators) / n
    v_both = _covariance(numerators, denominators) / n
    a = bottom**2 - t**2 * v_bottom
    b = top * bottom - t**2 * v_both
    c = top**2 - t**2 * v_top
    if a <= 0:
        return None
    # The estimate solves the inequality, so there are roots; rounding alone can deny it.
    root = math.sqrt(max(b**2 - a * c, 0.0))
    return (b - root) / a, (b + root) / a


def _covariance(x: Sequence[float], y: Sequence[float]) -> float:
    mean_x, mean_y = fmean(x), fmean(y)
    products = ((p - mean_x) * (q - mean_y) for p, q in zip(x, y, strict=True))
    return math.fsum(products) / (len(x) - 1)

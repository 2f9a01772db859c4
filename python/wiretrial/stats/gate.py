"""Is a bound kept? Yes, no, or the data cannot tell, and then how many trials would.

A bound holds where the whole 95 % interval is on its side, and is broken where none of it is. Two
runs of another day share no blocks, so their ratio has Welch's interval (1947) on the logarithms;
that of two scenarios of one run is paired by block (`stats.compare`). Trials of several occasions
are not independent: each occasion counts as one value then, as in a contrast.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Literal

from wiretrial.stats import student
from wiretrial.stats.bounds import Bound, inverse
from wiretrial.stats.compare import compare, welch
from wiretrial.stats.occasions import units

Outcome = Literal["kept", "broken", "cannot tell"]
Unit = Literal["trials", "occasions"]
"""What counts as one value."""

CONFIDENCE = 0.95
MOST_TRIALS = 1000
"""No more trials than this are recommended: the true value is then as good as at the bound."""


@dataclass(frozen=True)
class Decision:
    """A value (or ratio) with its interval, held against a bound.

    `needed`: how many trials, or occasions, on each side would likely decide, where these cannot;
    None where no number would, or none is needed.
    """

    outcome: Outcome
    value: float
    low: float | None
    high: float | None
    needed: int | None
    unit: Unit = "trials"


def of_values(
    values: Sequence[float], bound: float, *, at_least: bool, occasions: Sequence[int] = ()
) -> Decision:
    """Holds positive values against a positive bound.

    `occasions`, here and below: on which one each value was measured; left out: all on the same.
    """
    logs = units(_logs(values), occasions)
    value = math.exp(fmean(logs))
    if len(logs) < 2:
        return _decide(value, None, None, bound, at_least, 0.0)
    spread = stdev(logs)
    reach = student.quantile((1 + CONFIDENCE) / 2, len(logs) - 1) * spread / math.sqrt(len(logs))
    low, high = value * math.exp(-reach), value * math.exp(reach)
    return _decide(value, low, high, bound, at_least, spread, _unit(occasions))


def of_share(count: int, total: int, bound: float) -> Decision:
    """Holds the share of `count` in `total` against an upper bound, as if each came by itself.

    The interval is exact (Clopper and Pearson 1934). A bound of 0 is kept where there was none.
    """
    if not 0 <= count <= total or not total:
        raise ValueError("a share is of something")
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(count, total - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, total - count, 1 - tail)) if count < total else 1.0
    outcome: Outcome = "cannot tell"
    if high <= bound or not (count or bound):
        outcome = "kept"
    elif low > bound:
        outcome = "broken"
    return Decision(outcome, count / total, low, high, None)


def of_shares(parts: Sequence[tuple[int, int]], bound: float) -> Decision:
    """Holds the shares of several occasions, each (count, total), against an upper bound.

    What fails on one day fails together, so the counts of all days are not one count: the bound is
    kept or broken where each day by itself says so. The interval reaches over all of theirs. A
    bound of 0 is broken by any failure.
    """
    if len(parts) == 1 or not bound:
        return of_share(sum(count for count, _ in parts), sum(total for _, total in parts), bound)
    each = [of_share(count, total, bound) for count, total in parts]
    value = sum(count for count, _ in parts) / sum(total for _, total in parts)
    low = min(one.low or 0.0 for one in each)
    high = max(1.0 if one.high is None else one.high for one in each)
    outcomes = {one.outcome for one in each}
    outcome: Outcome = outcomes.pop() if len(outcomes) == 1 else "cannot tell"
    return Decision(outcome, value, low, high, None, "occasions")


def of_one(value: float, bound: float, *, at_least: bool) -> Decision:
    """Holds the value of one run against a bound on that run. It says nothing of another run."""
    keeps = value >= bound if at_least else value <= bound
    return Decision("kept" if keeps else "broken", value, None, None, None)


def bounded(decision: Decision, kind: Bound, *, at_least: bool) -> Decision:
    """What is left of a decision where the value is only a bound: it keeps or breaks on one side.

    No number of trials would tell more.
    """
    keeps: Bound = "at least" if at_least else "at most"
    stands = {"kept": ("exact", keeps), "broken": ("exact", inverse(keeps))}
    if kind in stands.get(decision.outcome, ("exact",)):
        return decision
    return replace(decision, outcome="cannot tell", needed=None)


def of_ratio(
    values: Sequence[float],
    baseline: Sequence[float],
    bound: float,
    *,
    at_least: bool,
    occasions: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Decision:
    """Holds values / baseline against a positive bound; the two need not be paired."""
    sides = _logs(values), _logs(baseline)
    found = welch(values, baseline, occasions=occasions)
    spread = 0.0
    if found.low is not None:
        unit = _unit(*occasions)
        # A side of one occasion is taken to scatter over days as the other does.
        known = [
            stdev(units(side, own))
            for side, own in zip(sides, occasions, strict=True)
            if unit == _unit(own)
        ]
        spread = math.hypot(known[0], known[-1])
    return _decide(found.ratio, found.low, found.high, bound, at_least, spread, _unit(*occasions))


def of_pairs(
    values: Sequence[float],
    others: Sequence[float],
    bound: float,
    *,
    at_least: bool,
    occasions: Sequence[int] = (),
) -> Decision:
    """Holds values[i] / others[i], the two of one block, against a positive bound."""
    ratios = [new - old for new, old in zip(_logs(values), _logs(others), strict=True)]
    found = compare(values, others, occasions=occasions)
    spread = stdev(units(ratios, occasions)) if found.low is not None else 0.0
    return _decide(found.ratio, found.low, found.high, bound, at_least, spread, _unit(occasions))


def _unit(*occasions: Sequence[int]) -> Unit:
    """What counts as one value where a side has several occasions, or none has."""
    return "occasions" if any(len(set(own)) > 1 for own in occasions) else "trials"


def _logs(values: Sequence[float]) -> list[float]:
    if not values:
        raise ValueError("no value to hold against a bound")
    if min(values) <= 0:
        raise ValueError("a bound is held against positive values")
    return [math.log(value) for value in values]


def _decide(
    value: float,
    low: float | None,
    high: float | None,
    bound: float,
    at_least: bool,
    spread: float,
    unit: Unit = "trials",
) -> Decision:
    if low is None or high is None:
        return Decision("cannot tell", value, None, None, None)
    if low >= bound:
        return Decision("kept" if at_least else "broken", value, low, high, None, unit)
    if high <= bound:
        return Decision("broken" if at_least else "kept", value, low, high, None, unit)
    needed = _needed(abs(math.log(value / bound)), spread)
    return Decision("cannot tell", value, low, high, needed, unit)


def _needed(distance: float, spread: float) -> int | None:
    """The least number of values whose interval is expected to leave the bound out."""
    if distance == 0:
        return None
    for trials in range(2, MOST_TRIALS + 1):
        reach = student.quantile((1 + CONFIDENCE) / 2, float(trials - 1)) * spread
        if reach / math.sqrt(trials) < distance:
            return trials
    return None

"""Published / here: each claim of an article with our ratio, a verdict and one line why.

Knows claims and the scenarios that they speak of; must not know how the rows are shown. A claim is
a range, and so is our figure: its interval, open on the side on which a bound says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wiretrial.report import contest, metrics, units
from wiretrial.report.contest import ALONE, Shared
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.results.claims import Claim
from wiretrial.stats import bounds
from wiretrial.stats.bounds import Bound, Range
from wiretrial.stats.compare import Comparison

Verdict = Literal[
    "reproduced", "not reproduced", "arithmetic", "cannot be told", "not measured here"
]

OURS = " (our reading)"
"""Stands after a claim that the source itself does not make."""
WITHIN = 1.25
"""A ratio counts as the published one as far as it lies within this factor of it."""
BY_ARITHMETIC = 1.05
"""A published figure within this factor of what arithmetic gives is no finding of its own."""
MOSTLY_FLOOR = 0.5
"""Times of which arithmetic gives this share are alike from trial to trial: one tells the ratio."""
BOUND_WHY: dict[Bound, str] = {
    "exact": "",
    "at least": "at least that: the generator was the limit",
    "at most": "at most that: the generator was the limit",
    "unknown": "the generator was the limit on both sides",
}


@dataclass(frozen=True)
class ClaimRow:
    """One claim, judged. `here` is None where one of its sides was not measured."""

    claim: Claim
    metric: Metric
    here: Comparison | None
    verdict: Verdict
    why: str

    @property
    def published(self) -> str:
        """The claim's figure in words."""
        figure, bound = self.claim.published, self.claim.below_ms
        if figure is None:
            return f"< {units.trimmed(bound or 0.0)} ms"
        return figure if isinstance(figure, str) else units.trimmed(figure)

    @property
    def text(self) -> str:
        """What is claimed, and whether it is our reading of the source."""
        return f"{self.claim.text}{OURS}" if self.claim.is_ours else self.claim.text

    @property
    def source(self) -> str:
        """Who published it, and the figures or words by which it is found there."""
        claim = self.claim
        return f"{claim.source}: {claim.quote}" if claim.quote else claim.source


def judge(
    claims: Sequence[Claim],
    scenarios: Sequence[ScenarioResult],
    machine: str = "",
    scatter: Mapping[str, Shared] | None = None,
) -> tuple[ClaimRow, ...]:
    """Every claim against what was measured, in the order of the study's document.

    `machine` says on what it was, for those that are not reproduced. `scatter`: by metric key, the
    common variances of the study's contrasts.
    """
    known = scatter or {}
    return tuple(
        _judge(claim, scenarios, machine, known.get(claim.metric, ALONE)) for claim in claims
    )


def _judge(
    claim: Claim, scenarios: Sequence[ScenarioResult], machine: str, scatter: Shared
) -> ClaimRow:
    metric = next(metric for metric in metrics.METRICS if metric.key == claim.metric)
    sides = [next(filter(side.means, scenarios), None) for side in claim.sides]
    here = None
    if isinstance(claim.published, str):
        verdict, why = _of_stall(sides[0])
    elif claim.published is None:
        verdict, why = _of_ceiling(sides[0], metric, (claim.below_ms or 0.0) * 1e6)
    else:
        if None not in sides:
            of, to = (side for side in sides if side)
            here = contest.against(of, to, metric, scatter) or _of_floors(of, to, metric)
        missing = [
            side.subject for side, found in zip(claim.sides, sides, strict=True) if found is None
        ]
        verdict, why = _of_ratio(claim, claim.published, here, missing)
    if verdict == "not reproduced":
        why = "; ".join([why, *_differs([side for side in sides if side], machine)])
    return ClaimRow(claim, metric, here, verdict, why)


def _of_stall(scenario: ScenarioResult | None) -> tuple[Verdict, str]:
    if scenario is None:
        return "not measured here", "there is no figure of it"
    stalled = [row for row in scenario.trials if row.verdict == "stalled"]
    if stalled:
        among = f"in {len(stalled)} of {units.plural(len(scenario.trials), 'trial')}"
        return "reproduced", f"{among}: {stalled[0].evidence}"
    if not scenario.usable:
        return "cannot be told", "no trial came to its end"
    return "not reproduced", f"every message was answered in {_trials(scenario.usable)}"


def _of_ceiling(
    scenario: ScenarioResult | None, metric: Metric, ceiling_ns: float
) -> tuple[Verdict, str]:
    estimate = None if scenario is None else scenario.estimates.get(metric.key)
    if estimate is None:
        return "not measured here", "there is no figure of it"
    unit = units.fitting(metric.units, [estimate.median])
    here = f"{bounds.SIGNS[estimate.bound]}{unit.text(estimate.median)} here"
    if estimate.low is None or estimate.high is None:
        return "cannot be told", f"{here}; no interval from {_trials(estimate.trials)}"
    place = Range(estimate.low, estimate.high).opened(estimate.bound).against(Range(0, ceiling_ns))
    if place == "inside":
        return "reproduced", here
    if place == "outside":
        return "not reproduced", here
    why = BOUND_WHY[estimate.bound] or "the interval holds the published limit"
    return "cannot be told", f"{here}; {why}"


def _of_floors(a: ScenarioResult, b: ScenarioResult, metric: Metric) -> Comparison | None:
    """The ratio of two times that are mostly waiting, of which one trial each was wanted.

    Nothing is known of their scatter, but that it does not reach below the floor: what lies above
    it may be none, or twice as much.
    """
    one, other = a.median(metric), b.median(metric)
    if metric is not metrics.ELAPSED or one is None or other is None:
        return None
    floors = a.floor_ns or 0.0, b.floor_ns or 0.0
    for scenario, time, floor in ((a, one, floors[0]), (b, other, floors[1])):
        if scenario.wanted != 1 or floor < MOSTLY_FLOOR * time:
            return None
    # A clock's grain may lie below the floor.
    least = min(one, floors[0]), min(other, floors[1])
    most = max(one, 2 * one - floors[0]), max(other, 2 * other - floors[1])
    return Comparison(
        ratio=one / other,
        low=least[0] / most[1],
        high=most[0] / least[1],
        p=1.0,
        p_equal=1.0,
        pairs=1,
        bound=bounds.ratio(a.bound_of(metric), b.bound_of(metric)),
    )


def _of_ratio(
    claim: Claim, published: float, here: Comparison | None, missing: Sequence[str]
) -> tuple[Verdict, str]:
    arithmetic = claim.arithmetic
    if arithmetic and _apart(published, arithmetic.value) <= math.log(BY_ARITHMETIC):
        value = units.significant(arithmetic.value)
        return "arithmetic", f"{arithmetic.formula} = {value}, measured or not"
    if missing:
        return "not measured here", f"there is no figure of {units.listed(missing)}"
    if here is None:
        return "not measured here", "fewer than two blocks hold both"
    if here.low is None or here.high is None:
        return "cannot be told", "the blocks give no interval"
    claimed = Range(published / WITHIN, published * WITHIN)
    place = Range(here.low, here.high).opened(here.bound).against(claimed)
    span = f"{units.significant(claimed.low)} to {units.significant(claimed.high)}"
    one = "; one trial each, which mostly waits" if here.pairs == 1 else ""
    if place == "inside":
        return "reproduced", f"the interval lies within {span}{one}"
    if place == "outside":
        return "not reproduced", f"{_how_far(here.ratio, published)}{one}"
    why = BOUND_WHY[here.bound] or f"the interval lies neither within {span} nor outside{one}"
    return "cannot be told", why


def _how_far(ratio: float, published: float) -> str:
    # What is about as much has no direction that could be another one.
    is_parity = any(1 / WITHIN <= one <= WITHIN for one in (ratio, published))
    if (ratio > 1) != (published > 1) and not is_parity:
        return "the other way round here"
    direction = "smaller" if ratio < published else "greater"
    times = units.significant(math.exp(_apart(ratio, published)))
    return f"the ratio is {times} times {direction} here"


def _differs(sides: Sequence[ScenarioResult], machine: str) -> list[str]:
    """What was measured here, and on what: the source's is another."""
    versions = dict.fromkeys(f"{side.subject} {side.version}".strip() for side in sides)
    payloads = {side.levels["payload"] for side in sides if "payload" in side.levels}
    told = [units.listed(versions), *(f"{size} bytes" for size in payloads), machine]
    return [f"here {', '.join(filter(None, told))}"] if sides else []


def _trials(n: int) -> str:
    return units.plural(n, "trial")


def _apart(one: float, other: float) -> float:
    return abs(math.log(one / other))

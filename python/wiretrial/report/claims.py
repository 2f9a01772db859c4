"""Published / here: each claim of an article with our ratio, a verdict and one line why.

Knows claims and the scenarios that they speak of; must not know how the rows are shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from wiretrial.report import contest, metrics, units
from wiretrial.report.metrics import Metric
from wiretrial.results.claims import Claim
from wiretrial.stats.compare import Comparison

if TYPE_CHECKING:
    from wiretrial.report.model import ScenarioResult

Verdict = Literal[
    "reproduced", "refuted", "explained by arithmetic", "cannot be told", "not measured here"
]

BY_ARITHMETIC = 1.05
"""A published figure within this factor of what arithmetic gives is no finding of its own."""


TOO_WIDE = 2.0
"""An interval whose ends are so many times apart holds too much to confirm anything."""
MOSTLY_FLOOR = 0.5
"""Times of which arithmetic gives this share are alike from trial to trial: one tells the ratio."""


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


def judge(claims: Sequence[Claim], scenarios: Sequence[ScenarioResult]) -> tuple[ClaimRow, ...]:
    """Every claim against what was measured, in the order of the study's document."""
    return tuple(_judge(claim, scenarios) for claim in claims)


def _judge(claim: Claim, scenarios: Sequence[ScenarioResult]) -> ClaimRow:
    metric = next(metric for metric in metrics.METRICS if metric.key == claim.metric)
    sides = [next(filter(side.means, scenarios), None) for side in claim.sides]
    missing = [
        side.subject for side, found in zip(claim.sides, sides, strict=True) if found is None
    ]
    if isinstance(claim.published, str):
        verdict, why = _of_stall(sides[0])
        return ClaimRow(claim, metric, None, verdict, why)
    if claim.published is None:
        verdict, why = _of_bound(sides[0], metric, (claim.below_ms or 0.0) * 1e6)
        return ClaimRow(claim, metric, None, verdict, why)
    here = None
    if not missing:
        of, to = (side for side in sides if side)
        here = contest.against(of, to, metric) or _of_floors(of, to, metric)
    verdict, why = _verdict(claim, claim.published, here, missing)
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
    return "refuted", f"every message was answered in {units.plural(scenario.usable, 'trial')}"


def _of_bound(
    scenario: ScenarioResult | None, metric: Metric, bound_ns: float
) -> tuple[Verdict, str]:
    estimate = None if scenario is None else scenario.estimates.get(metric.key)
    if estimate is None:
        return "not measured here", "there is no figure of it"
    unit = units.fitting(metric.units, [estimate.median])
    here = f"{unit.text(estimate.median)} here"
    low, high = estimate.low or estimate.median, estimate.high or estimate.median
    if high < bound_ns:
        return "reproduced", here
    if low >= bound_ns:
        return "refuted", here
    return "cannot be told", f"{here}, and the interval holds the bound"


def _of_floors(a: ScenarioResult, b: ScenarioResult, metric: Metric) -> Comparison | None:
    """The bare ratio of two times that are mostly waiting, of which one trial each was wanted."""
    one, other = a.median(metric), b.median(metric)
    if metric is not metrics.ELAPSED or one is None or other is None:
        return None
    for scenario, time in ((a, one), (b, other)):
        if scenario.wanted != 1 or (scenario.floor_ns or 0.0) < MOSTLY_FLOOR * time:
            return None
    return Comparison(ratio=one / other, low=None, high=None, p=1.0, p_equal=1.0, pairs=1)


def _verdict(
    claim: Claim, published: float, here: Comparison | None, missing: Sequence[str]
) -> tuple[Verdict, str]:
    arithmetic = claim.arithmetic
    if arithmetic and _apart(published, arithmetic.value) <= math.log(BY_ARITHMETIC):
        value = units.significant(arithmetic.value)
        return "explained by arithmetic", f"{arithmetic.formula} = {value}, measured or not"
    if missing:
        return "not measured here", f"there is no figure of {units.listed(missing)}"
    if here is None:
        return "not measured here", "fewer than two blocks hold both"
    low, high = here.low, here.high
    if low is None or high is None:
        if here.pairs > 1:
            return "cannot be told", "the blocks give no interval"
        # One trial each, of times that are mostly waiting: the figure stands for itself.
        low = high = here.ratio
    claims_a_difference = not 1 / claim.within <= published <= claim.within
    if low / claim.within <= published <= high * claim.within:
        if claims_a_difference and low <= 1 <= high:
            return "cannot be told", "the interval holds the claim, and no difference as well"
        if high / low > TOO_WIDE:
            span = f"{units.significant(low)} to {units.significant(high)}"
            return "cannot be told", f"an interval from {span} is too wide to confirm it"
        what = "interval" if here.low is not None else "one trial each, which mostly waits"
        return "reproduced", f"within a factor of {claim.within:g} of the {what}"
    direction = "smaller" if here.ratio < published else "greater"
    if (here.ratio > 1) != (published > 1) and not low <= 1 <= high:
        return "refuted", "the other way round here"
    times = math.exp(_apart(here.ratio, published))
    return "refuted", f"the ratio is {units.significant(times)} times {direction} here"


def _apart(one: float, other: float) -> float:
    return abs(math.log(one / other))

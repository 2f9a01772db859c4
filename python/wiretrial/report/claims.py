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
from wiretrial.results.claims import Claim, Side
from wiretrial.stats.compare import Comparison

if TYPE_CHECKING:
    from wiretrial.report.model import ScenarioResult

Verdict = Literal[
    "reproduced", "refuted", "explained by arithmetic", "cannot be told", "not measured here"
]

BY_ARITHMETIC = 1.05
"""A published figure within this factor of what arithmetic gives is no finding of its own."""


@dataclass(frozen=True)
class ClaimRow:
    """One claim, judged. `here` is None where one of its sides was not measured."""

    claim: Claim
    metric: Metric
    here: Comparison | None
    verdict: Verdict
    why: str


def judge(claims: Sequence[Claim], scenarios: Sequence[ScenarioResult]) -> tuple[ClaimRow, ...]:
    """Every claim against what was measured, in the order of the study's document."""
    return tuple(_judge(claim, scenarios) for claim in claims)


def _judge(claim: Claim, scenarios: Sequence[ScenarioResult]) -> ClaimRow:
    metric = next(metric for metric in metrics.METRICS if metric.key == claim.metric)
    sides = _find(claim.of, scenarios), _find(claim.to, scenarios)
    missing = [
        side.subject for side, found in zip((claim.of, claim.to), sides, strict=True) if not found
    ]
    here = contest.against(sides[0], sides[1], metric) if sides[0] and sides[1] else None
    verdict, why = _verdict(claim, here, missing)
    return ClaimRow(claim, metric, here, verdict, why)


def _find(side: Side, scenarios: Sequence[ScenarioResult]) -> ScenarioResult | None:
    for scenario in scenarios:
        if (
            scenario.label == side.subject
            and scenario.levels.get("workload") == side.workload
            and all(scenario.levels.get(name) == level for name, level in side.levels.items())
            and scenario.twin_of is None
        ):
            return scenario
    return None


def _verdict(claim: Claim, here: Comparison | None, missing: Sequence[str]) -> tuple[Verdict, str]:
    arithmetic = claim.arithmetic
    if arithmetic and _apart(claim.published, arithmetic.value) <= math.log(BY_ARITHMETIC):
        value = units.significant(arithmetic.value)
        return "explained by arithmetic", f"{arithmetic.formula} = {value}, measured or not"
    if missing:
        return "not measured here", f"{units.listed(missing)} could not be measured"
    if here is None or here.low is None or here.high is None:
        return "not measured here", "fewer than two blocks hold both"
    claims_a_difference = not 1 / claim.within <= claim.published <= claim.within
    if here.low / claim.within <= claim.published <= here.high * claim.within:
        if claims_a_difference and here.low <= 1 <= here.high:
            return "cannot be told", "the interval holds the claim, and no difference as well"
        return "reproduced", f"within a factor of {claim.within:g} of the interval"
    direction = "smaller" if here.ratio < claim.published else "greater"
    if (here.ratio > 1) != (claim.published > 1) and not here.low <= 1 <= here.high:
        return "refuted", "the other way round here"
    times = math.exp(_apart(here.ratio, claim.published))
    return "refuted", f"the ratio is {units.significant(times)} times {direction} here"


def _apart(one: float, other: float) -> float:
    return abs(math.log(one / other))

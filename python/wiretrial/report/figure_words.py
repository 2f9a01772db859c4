"""Figures as texts: an interval, a bound before its figure, a ratio with its verdict.

Knows estimates and comparisons; must not know the sentences and tables that they stand in.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import units
from wiretrial.report.contest import Pair
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.stats import bounds
from wiretrial.stats.compare import Comparison
from wiretrial.stats.summary import Estimate


def interval_text(estimate: Estimate, unit: units.Unit) -> str:
    """`low to high` in `unit`, empty where there is no interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{unit.figure(estimate.low)} to {unit.figure(estimate.high)}"


def figure_text(scenario: ScenarioResult | None, metric: Metric, unit: units.Unit) -> str:
    """`≥ 143 (121 to 160)`: bound, median and interval; a dash where there is none."""
    estimate = scenario.estimates.get(metric.key) if scenario else None
    if scenario is None or estimate is None:
        return "–"
    interval = interval_text(estimate, unit)
    aside = f" ({interval})" if interval else ""
    return f"{scenario.bound(metric)}{unit.figure(estimate.median)}{aside}"


def ratio_text(pair: Pair) -> str:
    """`0.42 (0.40 to 0.44)`: how many times `b` the scenario `a` has."""
    return "unknown" if pair.comparison is None else interval_ratio(pair.comparison)


def interval_ratio(found: Comparison) -> str:
    """`≥ 0.42 (0.40 to 0.44)`: bound, ratio, and the interval where there is one."""
    if found.bound == "unknown":
        return "unknown"
    ratio = f"{bounds.SIGNS[found.bound]}{units.significant(found.ratio)}"
    if found.low is None or found.high is None:
        return ratio
    return f"{ratio} ({units.significant(found.low)} to {units.significant(found.high)})"


def verdict_text(pair: Pair) -> str:
    """The pair's verdict with the names of its sides."""
    if pair.verdict == "invalid":
        return "cannot be told"
    if pair.winner is None:
        return pair.verdict
    return f"{pair.winner} {pair.metric.wins}"


def sentence(text: str, names: Sequence[str] = ()) -> str:
    """With a capital, unless it begins with a name: those are written as they are."""
    return text if text.startswith(tuple(names)) else text[:1].upper() + text[1:]

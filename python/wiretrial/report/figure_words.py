"""Figures as texts: an interval, a bound before its figure, a ratio with its verdict.

Knows estimates and comparisons; must not know the sentences and tables that they stand in.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from wiretrial.report import units
from wiretrial.report.contest import Pair
from wiretrial.report.finding import Multiple
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.stats import bounds
from wiretrial.stats.compare import Comparison
from wiretrial.stats.summary import Estimate

INTERVALS = "Intervals: 95 %; with several occasions, the range of their medians."


def interval_name(estimates: Iterable[Estimate]) -> str:
    """What the intervals beside these medians are."""
    shown = [one for one in estimates if one.interval]
    if any(one.over_occasions for one in shown):
        return "range over occasions"
    # Order statistics are of the median; what t gives is of the geometric mean.
    is_mean = any(one.rule.startswith("t ") for one in shown)
    return "95 % interval of the geometric mean" if is_mean else "95 % interval"


def interval_text(estimate: Estimate, unit: units.Unit) -> str:
    """`low to high` in `unit`, empty where there is no interval, and of a bound."""
    return " to ".join(unit.figure(end) for end in estimate.interval or ())


def ratio_interval(found: Comparison | Multiple) -> str:
    """`0.40 to 0.44`, empty where there is no interval, and of a bound."""
    return " to ".join(units.significant(end) for end in found.interval or ())


def figure_text(scenario: ScenarioResult | None, metric: Metric, unit: units.Unit) -> str:
    """`143 (121 to 160)`, of a bound `≥ 143`; a dash where there is none."""
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
    """`0.42 (0.40 to 0.44)`, of a bound `≥ 0.42`."""
    if found.bound == "unknown":
        return "unknown"
    ratio = f"{bounds.SIGNS[found.bound]}{units.significant(found.ratio)}"
    interval = ratio_interval(found)
    return f"{ratio} ({interval})" if interval else ratio


def verdict_text(pair: Pair) -> str:
    """The pair's verdict with the names of its sides."""
    if pair.verdict == "invalid":
        return "cannot be told"
    if pair.verdict == "no difference shown":
        return pair.verdict + unseen(pair.resolution)
    if pair.winner is None:
        return pair.verdict
    return f"{pair.winner} {pair.metric.wins}"


def unseen(resolution: float | None) -> str:
    """` (less than 9 % could not be seen)`, empty where nothing is known."""
    if resolution is None:
        return ""
    if math.isinf(resolution):
        return " (none could be seen, however large)"
    return f" (less than {difference(resolution)} could not be seen)"


def with_unseen(text: str, resolution: float | None) -> str:
    """The text with what could not be seen, in the brackets with which it ends if it has some."""
    told = unseen(resolution)
    return f"{text[:-1]}; {told[2:]}" if told and text.endswith(")") else text + told


def difference(share: float) -> str:
    """`9 %`; from the double on `2.60 times`."""
    if share >= 1:
        return f"{units.significant(1 + share)} times"
    return f"{100 * share:.2g} %"


def before(label: str) -> str:
    """A label where a figure follows: `HTTP/2, 4 x 8:`, which ends with a digit, `gorilla`."""
    return f"{label}:" if label[-1:].isdigit() else label


def sentence(text: str, names: Sequence[str] = ()) -> str:
    """With a capital, unless it begins with a name: those are written as they are."""
    return text if text.startswith(tuple(names)) else text[:1].upper() + text[1:]

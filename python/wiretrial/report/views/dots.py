"""A scenario's figure as marks: its median with the interval, and a faint dot per trial.

Knows estimates and trials; must not know along which axis they lie, nor what lies on the other.
"""

from __future__ import annotations

from wiretrial.report import figure_words, metrics, palette
from wiretrial.report.canvas import Row
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.units import Unit
from wiretrial.words import Noun


def median(
    scenario: ScenarioResult, name: str, metric: Metric, unit: Unit, axis: str, per: str = ""
) -> Row:
    """The median along that axis, its interval from `low` to `high`; `name` is told on hover.

    Of a bound both are the median: a line around it would close the side that it leaves open.
    """
    estimate = scenario.estimates[metric.key]
    low, high = estimate.interval or (estimate.median, estimate.median)
    # On a log axis an interval that reaches 0 has no lower end.
    low = low if low > 0 else estimate.median
    ends = {axis: estimate.median / unit.size, "low": low / unit.size, "high": high / unit.size}
    told = f"{scenario.bound(metric)}{unit.text(estimate.median)}{per}"
    if estimate.bound == "exact":
        interval = figure_words.interval_text(estimate, unit) or "unknown"
        told += f", {figure_words.interval_name([estimate])} {interval}"
    return {**ends, **palette.look(scenario.colour), "text": f"{name}: {told}"}


def trials(scenario: ScenarioResult, name: str, metric: Metric, unit: Unit, axis: str) -> list[Row]:
    """Every trial along that axis, as far as a log axis can show it."""
    return [
        {
            axis: value / unit.size,
            "colour": palette.scenario(scenario.colour),
            "marked": trial.is_marked,
            "text": f"{name}, block {trial.block + 1}: {unit.text(value)}, {trial.verdict}",
        }
        for trial in scenario.trials
        if (value := trial.figures.get(metric.key, 0)) > 0
    ]


def axis_words(metric: Metric, unit: Unit, what: Noun, *, is_log: bool = True) -> str:
    """What an axis of the metric counts, and which way is better."""
    direction = "more is better" if metric.higher_is_better else "less is better"
    per = f" per {what.one}" if metric in metrics.PER_MESSAGE else ""
    return f"{unit.name}{per}{', log scale' if is_log else ''}; {direction}"

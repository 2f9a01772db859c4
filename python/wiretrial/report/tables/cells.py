"""What most tables share: a cell that names a row, and one that holds a figure.

Knows estimates and units; must not know which table a cell is for.
"""

from __future__ import annotations

from wiretrial.report import figure_words, units
from wiretrial.report.blocks import NO_FIGURE, Cell, Column, Mark
from wiretrial.report.families import Family, Group
from wiretrial.report.metrics import PER_MESSAGE, Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.stats import bounds
from wiretrial.stats.compare import Comparison
from wiretrial.stats.summary import Estimate
from wiretrial.words import Noun


def of(
    scenario: ScenarioResult | None,
    metric: Metric,
    unit: units.Unit,
    *,
    mark: Mark = "",
) -> Cell:
    """The median with the interval beside it; of a bound the median with its sign alone."""
    estimate = scenario.estimates.get(metric.key) if scenario else None
    if scenario is None or estimate is None:
        return NO_FIGURE
    return estimated(
        estimate, unit, f"{scenario.bound(metric)}{unit.figure(estimate.median)}", mark=mark
    )


def estimated(estimate: Estimate, unit: units.Unit, text: str, *, mark: Mark = "") -> Cell:
    """An estimate as `text`, with the interval beside it in that unit."""
    interval = figure_words.interval_text(estimate, unit)
    low, high = estimate.interval or (None, None)
    return Cell(
        text,
        aside=(interval,) if interval else (),
        mark=mark,
        value=estimate.median,
        low=low,
        high=high,
    )


def compared(found: Comparison, mark: Mark = "") -> Cell:
    """A ratio with the interval beside it; of a bound the ratio with its sign alone."""
    if found.bound == "unknown":
        return NO_FIGURE
    interval = figure_words.ratio_interval(found)
    low, high = found.interval or (None, None)
    return Cell(
        f"{bounds.SIGNS[found.bound]}{units.significant(found.ratio)}",
        aside=(interval,) if interval else (),
        mark=mark,
        value=found.ratio,
        low=low,
        high=high,
    )


def named(group: Group, scenario: ScenarioResult) -> Cell:
    """What the scenario is called within its group."""
    return Cell(group.called[scenario.name], colour=scenario.colour)


def mark_in(group: Group, scenario: ScenarioResult | None) -> Mark:
    """Whether it is shown to be the best or the worst of its group."""
    best, worst = group.contest.extremes
    if scenario is None:
        return ""
    return "best" if scenario.name in best else "worst" if scenario.name in worst else ""


def colour_of(family: Family, label: str) -> int:
    """The label's place in the palette."""
    return next(s.colour for g in family.groups if (s := family.of(label, g)) is not None)


def column(metric: Metric, unit: units.Unit, what: Noun, *, is_spare: bool = False) -> Column:
    """The metric's head: its title and what its figures are in."""
    per = f" per {what.one}" if metric in PER_MESSAGE else ""
    return Column(f"{metric.title}, {unit.name}{per}", is_spare=is_spare)

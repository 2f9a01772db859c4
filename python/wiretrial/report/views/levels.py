"""A family along its factor: a figure against connections, size or rate, a line per label."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from wiretrial.report import metrics, palette, units
from wiretrial.report.canvas import Frame, Picture, Row
from wiretrial.report.families import Strip, unit_of
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.views import dots, lines
from wiretrial.report.views.axes import with_air
from wiretrial.report.views.plot import split

HEIGHTS = (340, 240)
MOST_LEVELS_NAMED = 7
MOST_APART = 4
WIDEST, NARROWEST = 0.008, 0.02
"""Steps between the labels' places at one level, as shares of the axis."""


def picture(strip: Strip, metric: Metric, frame: Frame) -> Picture:
    """A point per median, a bar for its interval, a faint dot per trial; log axes.

    A share of a whole stands on a linear axis from 0 to 100 %: half of it is half of the height.
    """
    unit = unit_of(strip.groups, metric)
    whole = metric.most / unit.size if math.isfinite(metric.most) else None
    low, high = (strip.at(strip.groups[end]) for end in (0, -1))
    apart = _apart(strip, (high / low) ** (NARROWEST if frame.is_narrow else WIDEST))
    points: list[Row] = []
    trials: list[Row] = []
    for level, scenario in (
        (strip.at(g), scenario) for g in strip.groups for scenario in g.scenarios
    ):
        shown = (scenario, scenario.name, metric, unit, "y")
        x = level * apart[scenario.label]
        trials += [{**row, "x": x} for row in dots.trials(*shown)]
        if _is_known(scenario, metric):
            place = {"x": x, "level": level, "name": scenario.label}
            points.append({**dots.median(*shown), **place})
    most = _most(strip, metric, unit)
    plot = lines.chart(
        *(frame, HEIGHTS, with_air(low, high), strip.axis, [*points, *trials, *most]),
        up_to=whole,
        values=_named(strip),
    )
    plot.draw("line", most, strokeWidth=1, strokeDash=[2, 3], color=palette.MUTED)
    # Left of the line's middle: it rises, and what is measured lies on it or below.
    middle = [{**row, "text": "theoretical maximum"} for row in most[len(most) // 2 :][:1]]
    plot.grey(middle, align="right", dx=-8, dy=-8, fontSize=11)
    # Where it is small, nobody hovers over a single trial.
    heard = not frame.is_narrow
    counted, marked = split(trials, "marked")
    plot.draw("point", counted, opacity=0.35, size=22, strokeWidth=0, aria=heard)
    plot.draw("point", marked, filled=False, opacity=0.8, size=30, strokeWidth=1.25, aria=heard)
    plot.draw("line", points, strokeWidth=2.25)
    plot.draw("rule", points, y="low", y2="high", strokeWidth=2.5, strokeCap="round")
    plot.draw("point", points, size=64)
    plot.caption(dots.axis_words(metric, unit, strip.groups[0].what, is_log=whole is None))
    plot.names(points)
    return plot.picture(_alternative(strip, metric, unit, points))


def _most(strip: Strip, metric: Metric, unit: units.Unit) -> list[Row]:
    """Of throughput, what was offered at each level: there can't be more. Else nothing."""
    offered = [(group, group.scenarios[0].offered) for group in strip.groups]
    if metric is not metrics.THROUGHPUT or not all(rate for _, rate in offered):
        return []
    return [{"x": strip.at(group), "y": (rate or 0.0) / unit.size} for group, rate in offered]


def has(strip: Strip, metric: Metric) -> bool:
    """Whether a line can be drawn: some label has a figure above 0 at two levels or more."""
    scenarios = (scenario for group in strip.groups for scenario in group.scenarios)
    labels = Counter(one.label for one in scenarios if _is_known(one, metric))
    return max(labels.values(), default=0) > 1


def _is_known(scenario: ScenarioResult, metric: Metric) -> bool:
    return (scenario.median(metric) or 0.0) > 0


def _apart(strip: Strip, step: float) -> dict[str, float]:
    """A factor per label, so that intervals at one level stand beside each other."""
    labels = tuple(dict.fromkeys(s.label for group in strip.groups for s in group.scenarios))
    middle = (len(labels) - 1) / 2
    step **= min(1.0, MOST_APART / len(labels))
    return {label: step ** (index - middle) for index, label in enumerate(labels)}


def _named(strip: Strip) -> list[float]:
    """The levels that get a tick: all, or some of them evenly where they are many."""
    levels = [strip.at(group) for group in strip.groups]
    step = -(-len(levels) // MOST_LEVELS_NAMED)
    return levels[::step]


def _alternative(strip: Strip, metric: Metric, unit: units.Unit, points: Sequence[Row]) -> str:
    said = lines.told(
        points,
        lambda row: f"{unit.text(row['y'] * unit.size)} at {units.asked(row['level'])}",
    )
    beside = ", beside the theoretical maximum" if _most(strip, metric, unit) else ""
    return f"{metric.title} of {strip.title} by {strip.axis}{beside}: {said}."

"""The ranking: a row per scenario, best first, on a log axis that starts where the data starts."""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import figure_words, palette, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row, broken
from wiretrial.report.families import Group, unit_of
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.views import dots
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import Plot, log, placed, split

WIDE_ROW = 46
NARROW_ROW = 72
LONGEST_NAME = 27
HALF_LINE = 8
BELOW = 0.24
"""How far trials stand below their median, in rows."""


def picture(group: Group, frame: Frame, metric: Metric | None = None) -> Picture:
    """A dot at each median, a line for its interval, a faint dot per trial, hollow if marked.

    In another metric than the group's own, the rows stay where they are, and carry no rank.
    """
    metric = metric or group.contest.metric
    rows = [s for s in group.ranked if metric.key in s.estimates]
    unit = unit_of((group,), metric)
    pitch = NARROW_ROW if frame.is_narrow else WIDE_ROW
    padding = Padding(10, 10, 8, 44) if frame.is_narrow else Padding(240, 132, 4, 44)
    medians: list[Row] = []
    trials: list[Row] = []
    for y, scenario in enumerate(rows):
        shown = (scenario, group.called[scenario.name], metric, unit, "x")
        medians.append({**dots.median(*shown), "y": y})
        trials += [{**row, "y": y + BELOW} for row in dots.trials(*shown)]
    values = [row[key] for row in (*medians, *trials) for key in ("x", "low", "high") if key in row]
    x = log(domain_of(values), dots.axis_words(metric, unit, group.what))
    plot = Plot(frame, padding, pitch * len(rows), x, placed(-0.5, len(rows) - 0.5))
    counted, marked = split(trials, "marked")
    plot.draw("point", counted, opacity=0.45, size=30, strokeWidth=0)
    plot.draw("point", marked, filled=False, size=44, strokeWidth=1.5)
    plot.draw("rule", medians, x="low", x2="high", strokeWidth=3, strokeCap="round")
    plot.draw("point", medians, size=130)
    _label(plot, group, rows, metric, unit)
    return plot.picture(_alternative(group, rows, metric, unit))


def figure(scenario: ScenarioResult, metric: Metric, unit: units.Unit) -> str:
    """The figure with its unit; a bound that the generator set is marked as one."""
    value = scenario.estimates[metric.key].median
    return f"{scenario.bound(metric)}{unit.text(value)}"


def _label(
    plot: Plot, group: Group, rows: Sequence[ScenarioResult], metric: Metric, unit: units.Unit
) -> None:
    """Rank, name and figure of each row, and what joins the rows that share a place."""
    is_ranked, is_narrow = metric is group.contest.metric, plot.frame.is_narrow
    ranks = group.contest.ranking.ranks
    texts: list[Row] = [
        {
            "y": index,
            "rank": str(ranks.get(scenario.name, "–")),
            "name": broken(group.called[scenario.name], LONGEST_NAME),
            "figure": figure(scenario, metric, unit),
            "interval": figure_words.interval_text(scenario.estimates[metric.key], unit),
        }
        for index, scenario in enumerate(rows)
    ]
    lift, left = (-25, 0) if is_narrow else (0, -222)
    shows_ranks = is_ranked and len(rows) > 1 and not group.is_outside
    name_at = left + (24 if max(ranks.values(), default=0) > 9 else 16) * shows_ranks
    ink: Row = {"fontSize": 14, "color": palette.INK}
    for lines in (1, 2):
        of_lines = [row for row in texts if row["name"].count("\n") == lines - 1]
        up = lift - (lines - 1) * HALF_LINE
        plot.draw("text", of_lines, text="name", x=name_at, dy=up, lineBreak="\n", **ink)
    grey: Row = {"color": palette.MUTED}
    if shows_ranks:
        plot.draw("text", texts, text="rank", x=left, dy=lift, fontSize=13, **grey)
    ink["fontWeight"] = 600
    if is_narrow:
        plot.draw("text", texts, text="figure", x=plot.width, dy=lift, align="right", **ink)
    else:
        plot.draw("text", texts, text="figure", x=plot.width + 20, dy=-8, **ink)
        plot.draw("text", texts, text="interval", x=plot.width + 20, dy=9, **grey)
    side_by_side = lanes(group.contest.ranking.brackets) if is_ranked else []
    first, room = (4, 6) if is_narrow else (6, 12)
    step = min(4.0, room / max(len(side_by_side), 1))
    for at, lane in enumerate(side_by_side):
        brackets = [{"y": a - 0.3, "end": b + 0.3} for a, b in lane]
        plot.draw("rule", brackets, x=left - first - step * at, y2="end", strokeWidth=2, **grey)


def lanes(brackets: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The brackets side by side, so that none covers another that shares a row with it."""
    found: list[list[tuple[int, int]]] = []
    for bracket in brackets:
        free = next((lane for lane in found if lane[-1][1] < bracket[0]), None)
        if free is None:
            found.append([bracket])
        else:
            free.append(bracket)
    return found


def _alternative(
    group: Group, rows: Sequence[ScenarioResult], metric: Metric, unit: units.Unit
) -> str:
    parts = units.listed(f"{group.called[s.name]} {figure(s, metric, unit)}" for s in rows)
    order = "best first" if metric is group.contest.metric else "in the order of the ranking"
    return f"{metric.title} of {group.title}, {order}: {parts}."

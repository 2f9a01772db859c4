"""The ranking: a row per scenario, best first, on a log axis that starts where the data starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
from markupsafe import Markup

from wiretrial.report import metrics, palette, sentences, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row, broken, data, finish, fixed
from wiretrial.report.families import Group, unit_of
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.views.axes import domain_of, ticks

Align = Literal["left", "right"]

WIDE_ROW = 46
NARROW_ROW = 72
LONGEST_NAME = 27
HALF_LINE = 8


def picture(group: Group, frame: Frame, metric: Metric | None = None) -> Picture:
    """A dot at each median, a line for its interval, a faint dot per trial, hollow if marked.

    In another metric than the group's own, the rows stay where they are, and carry no rank.
    """
    metric = metric or group.contest.metric
    rows = [s for s in group.ranked if metric.key in s.estimates]
    unit = unit_of((group,), metric)
    pitch = NARROW_ROW if frame.is_narrow else WIDE_ROW
    padding = Padding(10, 10, 8, 44) if frame.is_narrow else Padding(240, 132, 4, 44)
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[-0.5, len(rows) - 0.5], reverse=True))
    layers = [
        *_dots(group, rows, metric, unit, y),
        *_labels(group, rows, metric, unit, y, frame, frame.width - padding.left - padding.right),
    ]
    alternative = _alternative(group, rows, metric, unit)
    return Picture(finish(layers, frame, pitch * len(rows), padding), alternative)


def figure(scenario: ScenarioResult, metric: Metric, unit: units.Unit) -> str:
    """The figure with its unit; a bound that the generator set is marked as one."""
    value = scenario.estimates[metric.key].median
    return f"{scenario.bound(metric)}{unit.text(value)}"


def is_bound(scenario: ScenarioResult, metric: Metric) -> bool:
    """Whether the figure is only a bound, because the generator was the limit."""
    return bool(scenario.bound(metric))


def table(group: Group) -> Markup:
    """The same figures as text."""
    metric = group.contest.metric
    unit = unit_of((group,), metric)
    rows = Markup("").join(_table_row(s, group, unit) for s in group.ranked)
    return Markup(
        '<div class="scroll"><table><thead><tr><th class="num">Place</th><th>Scenario</th>'
        '<th class="num">{title}, {unit}</th><th class="num">95 % interval</th>'
        '<th class="num">Trials</th><th class="num">Marked</th></tr></thead>'
        "<tbody>{rows}</tbody></table></div>"
    ).format(title=metric.title, unit=unit.name, rows=rows)


def _table_row(scenario: ScenarioResult, group: Group, unit: units.Unit) -> Markup:
    estimate = scenario.estimates.get(group.contest.metric.key)
    marked = sum(row.is_marked for row in scenario.trials)
    bound = scenario.bound(group.contest.metric)
    return Markup(
        '<tr><td class="num">{rank}</td><td>{swatch}{name}</td><td class="num">{bound}{median}</td>'
        '<td class="num">{interval}</td><td class="num">{usable}</td>'
        '<td class="num">{marked}</td></tr>'
    ).format(
        rank=group.contest.ranking.ranks.get(scenario.name, "–"),
        swatch=swatch(scenario.colour),
        name=group.called[scenario.name],
        bound=bound,
        median="–" if estimate is None else unit.figure(estimate.median),
        interval=("" if estimate is None else sentences.interval_text(estimate, unit)) or "–",
        usable=scenario.usable,
        marked=marked or "–",
    )


def swatch(colour: int) -> Markup:
    """A mark in the colour of the label at that place of the palette."""
    return Markup('<span class="swatch {}" style="background:{}"></span>').format(
        palette.shape(colour), palette.css(palette.scenario(colour))
    )


def _dots(
    group: Group, rows: Sequence[ScenarioResult], metric: Metric, unit: units.Unit, y: alt.Y
) -> list[alt.Chart]:
    key = metric.key
    medians: list[Row] = []
    trials: list[Row] = []
    for index, scenario in enumerate(rows):
        estimate, colour = scenario.estimates[key], palette.scenario(scenario.colour)
        name = group.called[scenario.name]
        low, high = estimate.low or estimate.median, estimate.high or estimate.median
        medians.append(
            {
                "row": index,
                "x": estimate.median / unit.size,
                "low": low / unit.size,
                "high": high / unit.size,
                "colour": colour,
                "shape": palette.shape(scenario.colour),
                "text": f"{name}: {unit.text(estimate.median)}, 95 % interval "
                f"{sentences.interval_text(estimate, unit) or 'unknown'}",
            }
        )
        trials += [
            {
                "row": index + 0.24,
                "x": trial.figures[key] / unit.size,
                "colour": colour,
                "marked": trial.is_marked,
                "text": f"{name}, block {trial.block + 1}: "
                f"{unit.text(trial.figures[key])}, {trial.verdict}",
            }
            for trial in scenario.trials
            if trial.figures.get(key, 0) > 0
        ]
    spread = [v for row in medians for v in (row["low"], row["high"])]
    low, high = domain_of([*spread, *(row["x"] for row in trials)])
    x = alt.X(
        "x:Q",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=ticks(low, high), title=_axis_title(metric, unit), format=",~r"),
    )
    hue = alt.Color("colour:N", scale=None)
    base = alt.Chart(data(medians)).encode(y=y, color=hue)
    single = alt.Chart(data(trials)).encode(
        x=x, y=y, color=hue, description=alt.Description("text:N")
    )
    return [
        single.transform_filter("!datum.marked").mark_point(
            filled=True, opacity=0.45, size=30, strokeWidth=0
        ),
        single.transform_filter("datum.marked").mark_point(
            filled=False, opacity=1, size=44, strokeWidth=1.5
        ),
        base.mark_rule(aria=False, strokeWidth=3, strokeCap="round").encode(
            x=alt.X("low:Q"), x2=alt.X2("high:Q")
        ),
        base.mark_point(filled=True, opacity=1, size=130).encode(
            x=alt.X("x:Q"),
            shape=alt.Shape("shape:N", scale=None),
            description=alt.Description("text:N"),
        ),
    ]


def _labels(
    group: Group,
    rows: Sequence[ScenarioResult],
    metric: Metric,
    unit: units.Unit,
    y: alt.Y,
    frame: Frame,
    plot_width: int,
) -> list[alt.Chart]:
    is_ranked = metric is group.contest.metric
    ranks = group.contest.ranking.ranks
    texts = data(
        [
            {
                "row": index,
                "rank": str(ranks.get(scenario.name, "–")),
                "name": (name := broken(group.called[scenario.name], LONGEST_NAME)),
                "lines": 1 + name.count("\n"),
                "figure": figure(scenario, metric, unit),
                "interval": sentences.interval_text(scenario.estimates[metric.key], unit),
            }
            for index, scenario in enumerate(rows)
        ]
    )
    base = alt.Chart(texts).encode(y=y)
    ink, muted = palette.INK, palette.MUTED
    lift = -25 if frame.is_narrow else 0
    left = 0 if frame.is_narrow else -222
    shows_ranks = is_ranked and len(rows) > 1 and not group.is_outside
    has_tens = max(ranks.values(), default=0) > 9
    name_at = (24 if has_tens else 16) if shows_ranks else 0

    def text(field: str, x: float, dy: float, align: Align, **style: Any) -> alt.Chart:
        mark = base.mark_text(aria=False, align=align, baseline="middle", dy=dy, **style)
        chart: alt.Chart = mark.encode(x=fixed(alt.XValue, x), text=alt.Text(f"{field}:N"))
        return chart

    layers: list[alt.Chart] = []
    for lines in (1, 2):
        up = lift - (lines - 1) * HALF_LINE
        label = text("name", left + name_at, up, "left", fontSize=14, color=ink, lineBreak="\n")
        layers.append(label.transform_filter(f"datum.lines == {lines}"))
    if shows_ranks:
        layers.append(text("rank", left, lift, "left", fontSize=13, color=muted))
    bold = {"fontSize": 14, "fontWeight": 600, "color": ink}
    small = {"fontSize": 12, "color": muted}
    if frame.is_narrow:
        layers.append(text("figure", plot_width, lift, "right", **bold))
    else:
        layers.append(text("figure", plot_width + 20, -8, "left", **bold))
        layers.append(text("interval", plot_width + 20, 9, "left", **small))
    if is_ranked:
        side_by_side = lanes(group.contest.ranking.brackets)
        first, room = (4, 6) if frame.is_narrow else (6, 12)
        step = min(4.0, room / max(len(side_by_side), 1))
        layers += [
            alt.Chart(data([{"row": a - 0.3, "end": b + 0.3} for a, b in lane]))
            .mark_rule(aria=False, strokeWidth=2, color=muted)
            .encode(y=y, y2=alt.Y2("end:Q"), x=fixed(alt.XValue, left - first - step * at))
            for at, lane in enumerate(side_by_side)
        ]
    return layers


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


def _axis_title(metric: Metric, unit: units.Unit) -> str:
    direction = "more is better" if metric.higher_is_better else "less is better"
    per = " per message" if metric in metrics.PER_MESSAGE else ""
    return f"{unit.name}{per}, log scale; {direction}"


def _alternative(
    group: Group, rows: Sequence[ScenarioResult], metric: Metric, unit: units.Unit
) -> str:
    parts = units.listed(f"{group.called[s.name]} {figure(s, metric, unit)}" for s in rows)
    order = "best first" if metric is group.contest.metric else "in the order of the ranking"
    return f"{metric.title} of {group.title}, {order}: {parts}."

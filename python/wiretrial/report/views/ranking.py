"""The ranking: a row per scenario, best first, on a log axis that starts where the data starts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
from markupsafe import Markup

from wiretrial.report import metrics, palette, sentences, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row, broken, data, finish
from wiretrial.report.model import Group, ScenarioResult

Align = Literal["left", "right"]

WIDE_ROW = 46
NARROW_ROW = 72
LONGEST_NAME = 27
HALF_LINE = 8
SHORT_DOMAIN = 3
MOST_TICKS = 8
_TICKS = (1, 1.5, 2, 3, 4, 5, 6, 8)
_COARSE_TICKS = (1, 2, 5)


def picture(group: Group, frame: Frame) -> Picture:
    """A dot at each median, a line for its interval, a faint dot per trial, hollow if marked."""
    metric = group.contest.metric
    rows = [s for s in group.ranked if metric.key in s.estimates]
    unit = unit_of(group)
    pitch = NARROW_ROW if frame.is_narrow else WIDE_ROW
    padding = Padding(10, 10, 8, 44) if frame.is_narrow else Padding(232, 132, 4, 44)
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[-0.5, len(rows) - 0.5], reverse=True))
    layers = [
        *_dots(group, rows, unit, y),
        *_labels(group, rows, unit, y, frame, frame.width - padding.left - padding.right),
    ]
    return Picture(finish(layers, frame, pitch * len(rows), padding), _alternative(group, unit))


def unit_of(group: Group) -> units.Unit:
    """One unit for all rows of the group."""
    metric = group.contest.metric
    return units.fitting(
        metric.units, (e.median for s in group.scenarios if (e := s.estimates.get(metric.key)))
    )


def figure(scenario: ScenarioResult, group: Group, unit: units.Unit) -> str:
    """The figure with its unit; a bound that the generator set is marked as one."""
    value = scenario.estimates[group.contest.metric.key].median
    return f"{'≥ ' if is_bound(scenario, group) else ''}{unit.text(value)}"


def is_bound(scenario: ScenarioResult, group: Group) -> bool:
    """Whether the figure is only a lower bound."""
    return scenario.at_least and group.contest.metric is metrics.THROUGHPUT


def table(group: Group) -> Markup:
    """The same figures as text."""
    metric, unit = group.contest.metric, unit_of(group)
    ranks = dict(zip(group.contest.ranking.order, group.contest.ranking.ranks, strict=True))
    rows = Markup("").join(_table_row(s, group, unit, ranks) for s in group.ranked)
    return Markup(
        '<div class="scroll"><table><thead><tr><th class="num">Place</th><th>Scenario</th>'
        '<th class="num">{title}, {unit}</th><th class="num">95 % interval</th>'
        '<th class="num">Trials</th><th class="num">Marked</th></tr></thead>'
        "<tbody>{rows}</tbody></table></div>"
    ).format(title=metric.title, unit=unit.name, rows=rows)


def _table_row(
    scenario: ScenarioResult, group: Group, unit: units.Unit, ranks: dict[str, int]
) -> Markup:
    estimate = scenario.estimates.get(group.contest.metric.key)
    marked = sum(row.is_marked for row in scenario.trials)
    bound = "≥ " if is_bound(scenario, group) else ""
    return Markup(
        '<tr><td class="num">{rank}</td><td>{swatch}{name}</td><td class="num">{bound}{median}</td>'
        '<td class="num">{interval}</td><td class="num">{usable}</td>'
        '<td class="num">{marked}</td></tr>'
    ).format(
        rank=ranks.get(scenario.name, "–"),
        swatch=swatch(scenario),
        name=scenario.name,
        bound=bound,
        median="–" if estimate is None else unit.figure(estimate.median),
        interval=("" if estimate is None else sentences.interval_text(estimate, unit)) or "–",
        usable=scenario.usable,
        marked=marked or "–",
    )


def swatch(scenario: ScenarioResult) -> Markup:
    """A dot in the scenario's colour."""
    return Markup('<span class="swatch" style="background:{}"></span>').format(
        palette.css(palette.scenario(scenario.colour))
    )


def _dots(
    group: Group, rows: Sequence[ScenarioResult], unit: units.Unit, y: alt.Y
) -> list[alt.Chart]:
    key = group.contest.metric.key
    medians: list[Row] = []
    trials: list[Row] = []
    for index, scenario in enumerate(rows):
        estimate, colour = scenario.estimates[key], palette.scenario(scenario.colour)
        low, high = estimate.low or estimate.median, estimate.high or estimate.median
        medians.append(
            {
                "row": index,
                "x": estimate.median / unit.size,
                "low": low / unit.size,
                "high": high / unit.size,
                "colour": colour,
                "text": f"{scenario.name}: {unit.text(estimate.median)}, 95 % interval "
                f"{sentences.interval_text(estimate, unit) or 'unknown'}",
            }
        )
        trials += [
            {
                "row": index + 0.24,
                "x": trial.figures[key] / unit.size,
                "colour": colour,
                "marked": trial.is_marked,
                "text": f"{scenario.name}, block {trial.block + 1}: "
                f"{unit.text(trial.figures[key])}, {trial.verdict}",
            }
            for trial in scenario.trials
            if trial.figures.get(key, 0) > 0
        ]
    spread = [v for row in medians for v in (row["low"], row["high"])]
    low, high = _domain([*spread, *(row["x"] for row in trials)])
    x = alt.X(
        "x:Q",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=ticks(low, high), title=_axis_title(group, unit), format=",~r"),
    )
    hue = alt.Color("colour:N", scale=None)
    base = alt.Chart(data(medians)).encode(y=y, color=hue)
    single = alt.Chart(data(trials)).encode(x=x, y=y, color=hue, description="text:N")
    return [
        single.transform_filter("!datum.marked").mark_point(
            filled=True, opacity=0.45, size=30, strokeWidth=0
        ),
        single.transform_filter("datum.marked").mark_point(
            filled=False, opacity=1, size=44, strokeWidth=1.5
        ),
        base.mark_rule(aria=False, strokeWidth=3, strokeCap="round").encode(
            x=alt.X("low:Q"), x2="high:Q"
        ),
        base.mark_point(filled=True, opacity=1, size=130).encode(
            x=alt.X("x:Q"), description="text:N"
        ),
    ]


def _labels(
    group: Group,
    rows: Sequence[ScenarioResult],
    unit: units.Unit,
    y: alt.Y,
    frame: Frame,
    plot_width: int,
) -> list[alt.Chart]:
    key = group.contest.metric.key
    ranks = group.contest.ranking.ranks
    texts = data(
        [
            {
                "row": index,
                "rank": str(ranks[index]),
                "name": (name := broken(scenario.name, LONGEST_NAME)),
                "lines": 1 + name.count("\n"),
                "figure": figure(scenario, group, unit),
                "interval": sentences.interval_text(scenario.estimates[key], unit),
            }
            for index, scenario in enumerate(rows)
        ]
    )
    brackets = data([{"row": a - 0.3, "end": b + 0.3} for a, b in group.contest.ranking.brackets])
    base = alt.Chart(texts).encode(y=y)
    ink, muted = palette.INK, palette.MUTED
    lift = -25 if frame.is_narrow else 0
    left = 0 if frame.is_narrow else -222
    name_at = 16 if len(rows) > 1 else 0

    def text(field: str, x: float, dy: float, align: Align, **style: Any) -> alt.Chart:
        mark = base.mark_text(aria=False, align=align, baseline="middle", dy=dy, **style)
        chart: alt.Chart = mark.encode(x=alt.value(x), text=alt.Text(f"{field}:N"))
        return chart

    layers: list[alt.Chart] = []
    for lines in (1, 2):
        up = lift - (lines - 1) * HALF_LINE
        label = text("name", left + name_at, up, "left", fontSize=14, color=ink, lineBreak="\n")
        layers.append(label.transform_filter(f"datum.lines == {lines}"))
    if len(rows) > 1 and not group.is_outside:
        layers.append(text("rank", left, lift, "left", fontSize=13, color=muted))
    bold = {"fontSize": 14, "fontWeight": 600, "color": ink}
    small = {"fontSize": 12, "color": muted}
    if frame.is_narrow:
        layers.append(text("figure", plot_width, lift, "right", **bold))
    else:
        layers.append(text("figure", plot_width + 20, -8, "left", **bold))
        layers.append(text("interval", plot_width + 20, 9, "left", **small))
    if group.contest.ranking.brackets:
        layers.append(
            alt.Chart(brackets)
            .mark_rule(aria=False, strokeWidth=2, color=muted)
            .encode(y=y, y2="end:Q", x=alt.value(left - 7))
        )
    return layers


def _axis_title(group: Group, unit: units.Unit) -> str:
    metric = group.contest.metric
    direction = "more is better" if metric.higher_is_better else "less is better"
    return f"{unit.name}, log scale; {direction}"


def _domain(values: Sequence[float]) -> tuple[float, float]:
    """The data's range with a little air; never so tight that noise looks like a finding."""
    low, high = min(values), max(values)
    air = max((high / low) ** 0.04, 1.02)
    if high / low < 1.1:
        air = 1.1
    return low / air, high * air


def ticks(low: float, high: float) -> list[float]:
    """Round values inside the domain: one or more per decade, or even steps where it is short."""
    if high / low < SHORT_DOMAIN:
        return _even_ticks(low, high)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for steps in ((1,), _COARSE_TICKS, _TICKS):
        values = (round(step * 10.0**decade, 12) for decade in decades for step in steps)
        found = [value for value in values if low <= value <= high]
        if len(found) >= 3:
            break
    return found[:: math.ceil(len(found) / MOST_TICKS)]


def _even_ticks(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, three to eight of them."""
    power = 10.0 ** math.floor(math.log10((high - low) / 3))
    step = max(
        (s * power for s in _COARSE_TICKS if len(_multiples(s * power, low, high)) >= 3),
        default=power / 2,
    )
    return _multiples(step, low, high)


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [round(i * step, 12) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _alternative(group: Group, unit: units.Unit) -> str:
    shown = [s for s in group.ranked if group.contest.metric.key in s.estimates]
    parts = units.listed(f"{s.name} {figure(s, group, unit)}" for s in shown)
    return f"{group.contest.metric.title} of {group.title}, best first: {parts}."

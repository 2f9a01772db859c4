"""The percentile plot: from the median to the tail, a line per scenario, a band over trials."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
from markupsafe import Markup

from wiretrial.report import metrics, palette, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row, broken, data, finish
from wiretrial.report.model import Group, ReportModel, ScenarioResult
from wiretrial.report.views.ranking import swatch, ticks

HEIGHT = 320
LABEL_PITCH = 17
WIDE_NAME = 24
NARROW_NAME = 15
_MARKS = {0.5: "50", 0.9: "90", 0.99: "99", 0.999: "99.9", 0.9999: "99.99"}


def picture(model: ReportModel, group: Group, frame: Frame) -> Picture:
    """One line per scenario that has a distribution; at least one must have."""
    drawn = [s for s in group.ranked if s.curve]
    unit = unit_of(model)
    domain = _domain(model, unit)
    padding = Padding(48, 116, 10, 44) if frame.is_narrow else Padding(48, 190, 10, 44)
    rows = [row for scenario in drawn for row in _rows(scenario, unit)]
    last = _last(model)
    marks = [q for q in _MARKS if _nines(q) <= last + 1e-6]
    x = alt.X(
        "nines:Q",
        scale=alt.Scale(domain=[_nines(0.5), last], nice=False),
        axis=alt.Axis(
            values=[_nines(q) for q in marks],
            labelExpr=_label_expression(),
            title="Percentile (each step right is ten times rarer)",
        ),
    )
    y = alt.Y(
        "median:Q",
        scale=alt.Scale(type="log", domain=list(domain), nice=False),
        axis=alt.Axis(values=ticks(*domain), title=None, format=",~r"),
    )
    colour = alt.Color("colour:N", scale=None)
    base = alt.Chart(data(rows)).encode(x=x, color=colour, detail="name:N")
    dots = base.transform_filter("datum.tick")
    layers = [
        base.mark_area(aria=False, opacity=0.16, line=False).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(aria=False, strokeWidth=2.25).encode(y=y),
        dots.mark_point(filled=True, size=42, opacity=1).encode(y=y, description="text:N"),
        *_end_labels(drawn, unit, domain, last, frame, frame.width - padding.left - padding.right),
    ]
    return Picture(finish(layers, frame, HEIGHT, padding), _alternative(group, unit))


def unit_of(model: ReportModel) -> units.Unit:
    """One unit for the whole report, so that its plots can be laid side by side."""
    values = (p.median for s in model.scenarios for p in s.curve)
    return units.fitting(units.TIMES, values)


def quantity(group: Group) -> str:
    """What the group's times are."""
    return "Response time" if group.scenarios[0].is_open_loop else "Service time"


def table(model: ReportModel, group: Group) -> Markup:
    """The quantiles as text."""
    unit = unit_of(model)
    head = Markup("").join(
        Markup('<th class="num">{}</th>').format(metric.title) for metric in metrics.WAITING
    )
    rows = Markup("").join(
        Markup("<tr><td>{}{}</td>{}</tr>").format(
            swatch(scenario),
            scenario.name,
            Markup("").join(
                Markup('<td class="num">{}</td>').format(
                    "–" if (value := scenario.median(metric)) is None else unit.figure(value)
                )
                for metric in metrics.WAITING
            ),
        )
        for scenario in group.ranked
    )
    return Markup(
        '<div class="scroll"><table><thead><tr><th>{}, {}</th>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(quantity(group), unit.name, head, rows)


def _nines(q: float) -> float:
    return -math.log10(1 - q)


def _last(model: ReportModel) -> float:
    """Right end of the axis, the same in all groups: where the longest line ends."""
    return max(1.0, *(_nines(s.curve[-1].q) for s in model.scenarios if s.curve))


def _label_expression() -> str:
    """Vega expression: the percentile at a number of nines."""
    tests = "".join(
        f"abs(datum.value - {_nines(q):.4f}) < 0.01 ? '{label} %' : " for q, label in _MARKS.items()
    )
    return f"{tests}''"


def _rows(scenario: ScenarioResult, unit: units.Unit) -> list[Row]:
    rows: list[Row] = []
    for point in scenario.curve:
        label = next((text for q, text in _MARKS.items() if abs(q - point.q) < 1e-6), None)
        rows.append(
            {
                "name": scenario.name,
                "nines": _nines(point.q),
                "median": point.median / unit.size,
                "low": point.low / unit.size,
                "high": point.high / unit.size,
                "colour": palette.scenario(scenario.colour),
                "tick": label is not None,
                "text": f"{scenario.name}, {label} %: {unit.text(point.median)} "
                f"({unit.figure(point.low)} to {unit.figure(point.high)} over trials)",
            }
        )
    return rows


def _domain(model: ReportModel, unit: units.Unit) -> tuple[float, float]:
    points = [point for s in model.scenarios for point in s.curve]
    low = min(point.low for point in points) / unit.size
    high = max(point.high for point in points) / unit.size
    return low / 1.15, high * 1.15


def _end_labels(
    drawn: Sequence[ScenarioResult],
    unit: units.Unit,
    domain: tuple[float, float],
    last: float,
    frame: Frame,
    plot_width: int,
) -> list[alt.Chart]:
    """Names at the lines' ends, moved apart where they would touch, each with a leader."""
    low, high = (math.log(edge) for edge in domain)
    wanted = {
        s.name: (high - math.log(s.curve[-1].median / unit.size)) / (high - low) * HEIGHT
        for s in drawn
    }
    longest = max(len(scenario.name) for scenario in drawn)
    two_lines = longest > (NARROW_NAME if frame.is_narrow else WIDE_NAME)
    pitch = 2 * LABEL_PITCH - 4 if two_lines else LABEL_PITCH
    placed = spread(wanted, pitch, HEIGHT)
    layers: list[alt.Chart] = []
    for scenario in drawn:
        at = placed[scenario.name]
        end = _nines(scenario.curve[-1].q)
        reach = plot_width * (end - _nines(0.5)) / (last - _nines(0.5))
        name = broken(scenario.name, NARROW_NAME if frame.is_narrow else WIDE_NAME)
        base = alt.Chart(data([{"name": name}]))
        layers.append(
            base.mark_rule(aria=False, strokeWidth=1, opacity=0.7).encode(
                x=alt.value(reach + 3),
                x2=alt.value(plot_width + 12),
                y=alt.value(wanted[scenario.name]),
                y2=alt.value(at),
                color=alt.value(palette.scenario(scenario.colour)),
            )
        )
        layers.append(
            base.mark_text(
                aria=False,
                align="left",
                baseline="middle",
                color=palette.INK,
                fontSize=12 if frame.is_narrow else 13,
                lineBreak="\n",
                dy=-7 if "\n" in name else 0,
            ).encode(x=alt.value(plot_width + 16), y=alt.value(at), text="name:N")
        )
    return layers


def spread(wanted: dict[str, float], pitch: float, height: float) -> dict[str, float]:
    """Positions near the wanted ones, in the same order, at least `pitch` apart where they fit."""
    order = sorted(wanted, key=wanted.__getitem__)
    placed: list[float] = []
    for name in order:
        placed.append(max(wanted[name], placed[-1] + pitch if placed else 0.0))
    limit = height
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], limit)
        limit = placed[i] - pitch
    return dict(zip(order, placed, strict=True))


def _alternative(group: Group, unit: units.Unit) -> str:
    parts = units.listed(
        f"{s.name} {unit.text(s.curve[0].median)} at the median, "
        f"{unit.text(s.curve[-1].median)} at {s.curve[-1].q * 100:.6g} %"
        for s in group.ranked
        if s.curve
    )
    return f"{quantity(group)} by percentile: {parts}."

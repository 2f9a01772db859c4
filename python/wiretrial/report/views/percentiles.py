"""The percentile plot: from the median to the tail, a line per scenario, a band over trials."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
from markupsafe import Markup

from wiretrial.report import metrics, palette, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row, data, finish
from wiretrial.report.families import Group
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.views.axes import End, end_labels, height_for, log_place, ticks
from wiretrial.report.views.ranking import swatch

HEIGHT = 320
_MARKS = {0.5: "50", 0.9: "90", 0.99: "99", 0.999: "99.9", 0.9999: "99.99"}


def picture(model: ReportModel, group: Group, frame: Frame) -> Picture:
    """One line per scenario that has a distribution; at least one must have."""
    drawn = [s for s in group.ranked if s.curve]
    unit = unit_of(model)
    alike = _alike(model, group)
    domain = _domain(alike, unit)
    padding = Padding(48, 116, 10, 44) if frame.is_narrow else Padding(48, 190, 10, 44)
    plot_width = frame.width - padding.left - padding.right
    height = height_for([group.called[s.name] for s in drawn], frame, HEIGHT)
    rows = [row for scenario in drawn for row in _rows(scenario, unit)]
    last = _last(alike)
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
    dash = alt.StrokeDash("dash:N", scale=None)
    base = alt.Chart(data(rows)).encode(x=x, color=colour, detail=alt.Detail("name:N"))
    dots = base.transform_filter("datum.tick")
    layers = [
        base.mark_area(aria=False, opacity=0.16, line=False).encode(
            y=alt.Y("low:Q"), y2=alt.Y2("high:Q")
        ),
        base.mark_line(aria=False, strokeWidth=2.25).encode(y=y, strokeDash=dash),
        dots.mark_point(filled=True, size=42, opacity=1).encode(
            y=y, shape=alt.Shape("shape:N", scale=None), description=alt.Description("text:N")
        ),
        *end_labels(
            _ends(group, drawn, unit, domain, last, plot_width, height), frame, plot_width, height
        ),
    ]
    return Picture(finish(layers, frame, height, padding), _alternative(group, unit))


def unit_of(model: ReportModel) -> units.Unit:
    """One unit for the whole report."""
    values = (p.median for s in model.scenarios for p in s.curve)
    return units.fitting(units.TIMES, values)


def _alike(model: ReportModel, group: Group) -> list[ScenarioResult]:
    """Those whose plots are laid side by side with the group's, and share its axes."""
    is_open_loop = group.scenarios[0].is_open_loop
    return [s for s in model.scenarios if s.curve and s.is_open_loop == is_open_loop]


def quantity(group: Group) -> str:
    """What the group's times are."""
    if group.scenarios[0].is_driven:
        return "Round trip"
    return "Response time" if group.scenarios[0].is_open_loop else "Service time"


def table(model: ReportModel, group: Group, level: str = "") -> Markup:
    """The quantiles as text; `level` tells the table from the others of its family."""
    unit = unit_of(model)
    head = Markup("").join(
        Markup('<th class="num">{}</th>').format(metric.title) for metric in metrics.WAITING
    )
    rows = Markup("").join(
        Markup("<tr><td>{}{}</td>{}</tr>").format(
            swatch(scenario.colour),
            group.called[scenario.name],
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
    ).format(level or quantity(group), unit.name, head, rows)


def _nines(q: float) -> float:
    return -math.log10(1 - q)


def _last(scenarios: Sequence[ScenarioResult]) -> float:
    """Right end of the axis, the same in all groups: where the longest line ends."""
    return max(1.0, *(_nines(s.curve[-1].q) for s in scenarios))


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
                "shape": palette.shape(scenario.colour),
                "dash": palette.dash(scenario.colour),
                "tick": label is not None,
                "text": f"{scenario.name}, {label} %: {unit.text(point.median)} "
                f"({unit.figure(point.low)} to {unit.figure(point.high)} over trials)",
            }
        )
    return rows


def _domain(scenarios: Sequence[ScenarioResult], unit: units.Unit) -> tuple[float, float]:
    points = [point for s in scenarios for point in s.curve]
    low = min(point.low for point in points) / unit.size
    high = max(point.high for point in points) / unit.size
    return low / 1.15, high * 1.15


def _ends(
    group: Group,
    drawn: Sequence[ScenarioResult],
    unit: units.Unit,
    domain: tuple[float, float],
    last: float,
    plot_width: float,
    height: float,
) -> list[End]:
    first = _nines(0.5)
    return [
        End(
            name=group.called[s.name],
            x=plot_width * (_nines(s.curve[-1].q) - first) / (last - first),
            y=height - log_place(s.curve[-1].median / unit.size, domain, height),
            colour=s.colour,
        )
        for s in drawn
    ]


def _alternative(group: Group, unit: units.Unit) -> str:
    parts = units.listed(
        f"{group.called[s.name]} {unit.text(s.curve[0].median)} at the median, "
        f"{unit.text(s.curve[-1].median)} at {s.curve[-1].q * 100:.6g} %"
        for s in group.ranked
        if s.curve
    )
    return f"{quantity(group)} by percentile: {parts}."

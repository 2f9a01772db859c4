"""The percentile plot: from the median to the tail, a line per scenario, a band over trials."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wiretrial.report import units
from wiretrial.report.canvas import Frame, Padding, Picture, Row
from wiretrial.report.families import Group
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.views import lines
from wiretrial.report.views.axes import height_for
from wiretrial.report.views.plot import Plot, linear, log

HEIGHT = 320
_MARKS = {0.5: "50", 0.9: "90", 0.99: "99", 0.999: "99.9", 0.9999: "99.99"}


def picture(model: ReportModel, group: Group, frame: Frame) -> Picture:
    """One line per scenario that has a distribution; at least one must have."""
    drawn = [s for s in group.ranked if s.curve]
    unit = unit_of(model)
    alike = _alike(model, group)
    last = _last(alike)
    plot = Plot(
        frame,
        Padding(48, 116 if frame.is_narrow else 190, 10, 44),
        height_for([group.called[s.name] for s in drawn], frame, HEIGHT),
        x=linear(
            (_nines(0.5), last),
            "Percentile (each step right is ten times rarer)",
            values=[_nines(q) for q in _MARKS if _nines(q) <= last + 1e-6],
            labelExpr=_label_expression(),
        ),
        y=log(_domain(alike, unit)),
    )
    points = [row for s in drawn for row in _rows(s, group.called[s.name], unit)]
    plot.draw("area", points, y="low", y2="high", opacity=0.16, line=False)
    plot.draw("line", points, strokeWidth=2.25)
    plot.draw("point", [row for row in points if row["tick"]], size=42)
    plot.names(points)
    return plot.picture(_alternative(group, unit))


def unit_of(model: ReportModel) -> units.Unit:
    """One unit for the whole report."""
    values = (p.median for s in model.scenarios for p in s.curve)
    return units.fitting(units.TIMES, values)


def _alike(model: ReportModel, group: Group) -> list[ScenarioResult]:
    """Those whose plots are laid side by side with the group's, and share its axes."""
    from_due = group.scenarios[0].from_due
    return [s for s in model.scenarios if s.curve and s.from_due == from_due]


def quantity(group: Group) -> str:
    """What the group's times are."""
    if group.scenarios[0].is_driven:
        return "Round trip"
    return "Response time" if group.scenarios[0].from_due else "Service time"


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


def _rows(scenario: ScenarioResult, name: str, unit: units.Unit) -> list[Row]:
    rows: list[Row] = []
    for point in scenario.curve:
        label = next((text for q, text in _MARKS.items() if abs(q - point.q) < 1e-6), None)
        told = (
            f"{scenario.name}, {label} %: {unit.text(point.median)} "
            f"({unit.figure(point.low)} to {unit.figure(point.high)} over trials)"
        )
        place = (_nines(point.q), point.median / unit.size)
        band = {"low": point.low / unit.size, "high": point.high / unit.size}
        row = lines.point(name, scenario.colour, *place, told)
        rows.append({**row, **band, "tick": label is not None})
    return rows


def _domain(scenarios: Sequence[ScenarioResult], unit: units.Unit) -> tuple[float, float]:
    points = [point for s in scenarios for point in s.curve]
    low = min(point.low for point in points) / unit.size
    high = max(point.high for point in points) / unit.size
    return low / 1.15, high * 1.15


def _alternative(group: Group, unit: units.Unit) -> str:
    parts = units.listed(
        f"{group.called[s.name]} {unit.text(s.curve[0].median)} at the median, "
        f"{unit.text(s.curve[-1].median)} at {s.curve[-1].q * 100:.6g} %"
        for s in group.ranked
        if s.curve
    )
    return f"{quantity(group)} by percentile: {parts}."

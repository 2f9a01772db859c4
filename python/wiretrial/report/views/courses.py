"""Trials over each other in time: a thin line per trial, a colour per scenario."""

from __future__ import annotations

from markupsafe import Markup

from wiretrial.report import courses, markup, palette, units
from wiretrial.report.canvas import NARROW, Frame, Padding, Picture, Row
from wiretrial.report.courses import Panel
from wiretrial.report.families import Group
from wiretrial.report.model import ReportModel
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import Plot, linear, log
from wiretrial.report.views.ranking import swatch

HEIGHT = 150
AIR = 1.08
TITLE = "Seconds since the first message"
KEY = "A line per trial, from its first message on: warm-up is shown, and not counted."
MOST_GROUPS = 8
FEW_GROUPS = 2
"""Of more, the section is folded."""


def section(model: ReportModel) -> Markup:
    """All groups over time; empty where the trials are too many or too short."""
    if len(model.trials) > courses.MOST_TRIALS:
        return markup.NOTHING
    inside = [group for group in model.groups if not group.is_outside][:MOST_GROUPS]
    parts = [part for group in inside for part in _group(model, group, alone=len(inside) == 1)]
    if not parts:
        return markup.NOTHING
    if len(inside) > FEW_GROUPS:
        parts = [markup.fold("Every trial over its time", *parts)]
    return markup.section("Over time", *parts)


def _group(model: ReportModel, group: Group, *, alone: bool) -> list[Markup]:
    panels = courses.of_group(group, model.trials)
    if not panels:
        return []
    title = markup.NOTHING if alone else markup.heading(group.title)
    shown = markup.panels((f"{one.title}, {_unit(one).name}", "", picture(one)) for one in panels)
    return [title, shown, _names(group), markup.key(KEY)]


def _names(group: Group) -> Markup:
    """Which colour is whose."""
    return Markup('<p class="key">{}</p>').format(
        Markup(" ").join(
            Markup("{}{}").format(swatch(scenario.colour), group.called[scenario.name])
            for scenario in group.scenarios
        )
    )


def picture(panel: Panel) -> Picture:
    """One quantity; times on a log scale, everything else from 0 on."""
    unit = _unit(panel)
    rows: list[Row] = [
        {"name": index, "x": at, "y": v / unit.size, "colour": palette.scenario(line.colour)}
        for index, line in enumerate(panel.lines)
        for at, v in line.points
    ]
    values = [row["y"] for row in rows]
    y = (
        log(domain_of(values))
        if panel.units is units.TIMES
        else linear((0, max(values) * AIR or 1.0), tickCount=4)
    )
    times = [row["x"] for row in rows]
    across = linear((min(times), max(times)), TITLE, format=None, grid=False, tickCount=5)
    plot = Plot(Frame(NARROW), Padding(44, 10, 10, 40), HEIGHT, across, y)
    plot.draw("line", rows, strokeWidth=1.25, opacity=0.7)
    return plot.picture(_alternative(panel))


def _unit(panel: Panel) -> units.Unit:
    return units.fitting(panel.units, (v for line in panel.lines for _, v in line.points))


def _alternative(panel: Panel) -> str:
    values = [value for line in panel.lines for _, value in line.points]
    unit = _unit(panel)
    return (
        f"{panel.title} over time, {units.plural(len(panel.lines), 'trial')}: "
        f"{unit.figure(min(values))} to {unit.figure(max(values))} {unit.name}."
    )

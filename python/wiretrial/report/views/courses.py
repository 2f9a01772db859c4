"""Trials over each other in time: a thin line per trial, a colour per scenario."""

from __future__ import annotations

from functools import partial

from wiretrial.report import courses, palette, units
from wiretrial.report.blocks import Block, Panel, Panels, Section, Swatches, fold, heading, key
from wiretrial.report.canvas import NARROW, Frame, Padding, Picture, Row
from wiretrial.report.courses import Panel as Course
from wiretrial.report.families import Group
from wiretrial.report.model import ReportModel
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import Plot, linear, log

HEIGHT = 150
AIR = 1.08
TITLE = "Seconds since the first message"
KEY = "A line per trial, from its first message on: warm-up is shown, and not counted."
MOST_GROUPS = 8
FEW_GROUPS = 2
"""Of more, the section is folded."""


def section(model: ReportModel) -> Section:
    """All groups over time; empty where the trials are too many or too short."""
    inside = [group for group in model.groups if not group.is_outside][:MOST_GROUPS]
    if len(model.trials) > courses.MOST_TRIALS:
        inside = []
    parts = [part for group in inside for part in _group(model, group, alone=len(inside) == 1)]
    if len(inside) > FEW_GROUPS:
        parts = [*fold("Every trial over its time", *parts)]
    return Section("Over time", tuple(parts), is_detail=True)


def _group(model: ReportModel, group: Group, *, alone: bool) -> list[Block]:
    panels = courses.of_group(group, model.trials)
    if not panels:
        return []
    shown = (Panel(f"{one.title}, {_unit(one).name}", partial(picture, one)) for one in panels)
    names = ((scenario.colour, group.called[scenario.name]) for scenario in group.scenarios)
    title = [] if alone else [heading(group.title)]
    return [*title, Panels(tuple(shown)), Swatches(tuple(names)), key(KEY)]


def picture(panel: Course) -> Picture:
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


def _unit(panel: Course) -> units.Unit:
    return units.fitting(panel.units, (v for line in panel.lines for _, v in line.points))


def _alternative(panel: Course) -> str:
    values = [value for line in panel.lines for _, value in line.points]
    unit = _unit(panel)
    return (
        f"{panel.title} over time, {units.plural(len(panel.lines), 'trial')}: "
        f"{unit.figure(min(values))} to {unit.figure(max(values))} {unit.name}."
    )

"""The slowest routes over the time of a run: a line per route, its name at the line's end."""

from __future__ import annotations

from wiretrial import words
from wiretrial.report import palette, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row
from wiretrial.report.moments import Course
from wiretrial.report.route_courses import Point, RouteCourse
from wiretrial.report.units import Unit
from wiretrial.report.views import over_time
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import linear, log
from wiretrial.words import Noun

HEIGHT = 230
AIR = 1.06
WIDE, NARROW = Padding(56, 184, 26, 44), Padding(48, 116, 26, 44)
"""With room for names of routes."""
RATES, TIMES = "route-throughput", "route-times"


def names(routes: RouteCourse | None) -> tuple[str, ...]:
    """The pictures that there are: `route-throughput`, and `route-times` where they can be told."""
    if routes is None:
        return ()
    return (RATES, TIMES) if any(line.times for line in routes.lines) else (RATES,)


def picture(course: Course, routes: RouteCourse, name: str, frame: Frame) -> Picture:
    """One of them, over the course of the whole run."""
    is_times = name == TIMES
    known = (line.times if is_times else line.rates for line in routes.lines)
    lines = {line.name: points for line, points in zip(routes.lines, known, strict=True)}
    values = [value for points in lines.values() for _, value in points]
    part, counted = words.part_of(course.what).one, words.counted(course.what)
    unit = units.fitting(units.TIMES if is_times else units.rates(counted), values)
    rows = [
        row
        for index, (route, points) in enumerate(lines.items())
        for row in _rows(index, route, points, unit)
    ]
    heights = [row["y"] for row in rows]
    top = max(heights) * AIR or 1.0
    y = log(domain_of(heights)) if is_times else linear((0, top), tickCount=4)
    plot = over_time.blank(course, HEIGHT, frame, y, NARROW if frame.is_narrow else WIDE)
    plot.draw("line", rows, strokeWidth=1.75)
    plot.draw("point", rows, opacity=0, size=60)
    plot.names(rows)
    if is_times:
        what = f"{routes.time} of the {over_time.quantity(course).lower()} by {part}"
        plot.caption(f"{what}, {unit.name}, log scale")
    else:
        what = f"Verified replies by {part}"
        plot.caption(f"{what}, {unit.name}")
    return plot.picture(_alternative(what, lines, unit))


def key(routes: RouteCourse, what: Noun) -> str | None:
    """Which routes are not drawn; None where all are. `what`: what is sent."""
    if not routes.left_out:
        return None
    shown = units.plural(len(routes.lines), words.part_of(what).one)
    return f"Drawn: the {shown} with the longest times; not drawn: {routes.left_out:,} others."


def _rows(index: int, route: str, points: tuple[Point, ...], unit: Unit) -> list[Row]:
    return [
        {
            "x": at_s,
            "y": value / unit.size,
            "name": route,
            "text": f"{route} at {at_s:.3g} s: {unit.figure(value)} {unit.name}",
            **palette.look(index),
        }
        for at_s, value in points
    ]


def _alternative(what: str, lines: dict[str, tuple[Point, ...]], unit: Unit) -> str:
    told = []
    for route, points in lines.items():
        if values := [value for _, value in points]:
            span = f"{unit.figure(min(values))} to {unit.figure(max(values))}"
            told.append(f"{route} {span} {unit.name}")
    return f"{what} over time: {'; '.join(told)}."

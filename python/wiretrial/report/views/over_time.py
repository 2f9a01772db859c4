"""A run over its time: throughput, times of messages, errors; what does not count is grey."""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import palette, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row
from wiretrial.report.moments import Course, Moment
from wiretrial.report.units import Unit
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import Axis, Plot, linear, log

HEIGHTS = {"throughput": 190, "times": 250, "errors": 120}
NARROW_SHARE = 0.8
COLOURS = {"p50": 0, "p99": 1, "max": 4}
"""Places in the palette."""
ERRORS = 1
AIR = 1.06
KEY = "Grey: not counted (warm-up, or behind the window that counts)."
KEY_OF_STAGES = "Thin lines: a stage of the load ends."
KEY_OF_DISTURBED = "Dashed: the load generator was kept from running for a moment."
WIDE, NARROW = Padding(56, 90, 26, 44), Padding(48, 70, 26, 44)
TICKS = 9
NARROW_TICKS = 5


def names(course: Course) -> tuple[str, ...]:
    """The pictures that there are: `throughput`, `times`, and `errors` where a message failed."""
    times = ("times",) if any(moment.longest for moment in course.times) else ()
    return ("throughput", *times, *(("errors",) if course.has_errors else ()))


def picture(course: Course, name: str, frame: Frame) -> Picture:
    """One of them."""
    if name == "times":
        return _times(course, frame)
    rates = [(m, m.throughput if name == "throughput" else m.errors) for m in course.rates]
    colour = palette.scenario(0 if name == "throughput" else ERRORS)
    values = [value for _, value in rates]
    unit = units.fitting(units.rates(course.what), [max(values)])
    what = "Verified replies" if name == "throughput" else "Errors"
    told = unit.name.replace(course.what.many, "errors") if name == "errors" else unit.name
    top = max(values) * AIR / unit.size or 1.0
    plot = _plot(course, name, frame, linear((0, top), tickCount=4))
    # Each step as long as it lasted: what was counted in it was not seen at an instant.
    rows: list[Row] = []
    for moment, value in rates:
        text = f"{_span(moment)}: {units.significant(value / unit.size)} {told}"
        rows.append({"x": moment.start_s, "y": value / unit.size, "text": text})
    rows.append({**rows[-1], "x": course.rates[-1].end_s})
    step: Row = {"interpolate": "step-after", "color": colour}
    plot.draw("area", rows, opacity=0.12, **step)
    plot.draw("line", rows, strokeWidth=1.75, **step)
    plot.draw("point", rows, opacity=0, size=60)
    _disturbed(plot, course.rates)
    plot.caption(f"{what}, {told}" if name == "throughput" else f"{what} per second")
    low, high = min(values), max(values)
    alternative = (
        f"{what} over {course.rates[-1].end_s:.3g} s: from {units.significant(low / unit.size)} to"
        f" {units.significant(high / unit.size)} {told}."
    )
    return plot.picture(alternative)


def key(course: Course) -> str:
    """How to read them, in one line."""
    disturbed = any(moment.disturbed for moment in course.rates)
    told = (KEY, course.stages and KEY_OF_STAGES, disturbed and KEY_OF_DISTURBED)
    return " ".join(sentence for sentence in told if sentence)


def quantity(course: Course) -> str:
    """What the times are."""
    return "Response time" if course.from_due else "Service time"


def _times(course: Course, frame: Frame) -> Picture:
    lines = {
        "p50": [(m, m.p50) for m in course.times],
        "p99": [(m, m.p99) for m in course.times],
        "max": [(m, m.longest) for m in course.times],
    }
    lines = {
        name: line for name, line in lines.items() if any(value is not None for _, value in line)
    }
    known = [value for line in lines.values() for _, value in line if value]
    unit = units.fitting(units.TIMES, known)
    plot = _plot(course, "times", frame, log(domain_of([value / unit.size for value in known])))
    ends: list[Row] = []
    for name, line in lines.items():
        rows = _rows(name, line, unit)
        if name == "max":
            plot.draw("point", rows, opacity=0.75, size=14)
        else:
            plot.draw("line", rows, strokeWidth=2)
            plot.draw("point", rows, opacity=0, size=60)
        ends.append({"name": name, **[row for row in rows if row["y"] is not None][-1]})
    _disturbed(plot, course.times)
    plot.caption(f"{quantity(course)}, {unit.name}, log scale")
    plot.names(ends)
    return plot.picture(_alternative(course, lines))


def _rows(name: str, line: Sequence[tuple[Moment, float | None]], unit: Unit) -> list[Row]:
    """A point per step; None breaks the line where nothing can be told."""
    return [
        {
            "x": moment.middle_s,
            "y": value / unit.size if value else None,
            "colour": palette.scenario(COLOURS[name]),
            "text": f"{_span(moment)}: {name} {units.duration(value or 0)}",
        }
        for moment, value in line
    ]


def _alternative(course: Course, lines: dict[str, list[tuple[Moment, float | None]]]) -> str:
    told = []
    for name, line in lines.items():
        values = [value for _, value in line if value]
        told.append(f"{name} {units.duration(min(values))} to {units.duration(max(values))}")
    return f"{quantity(course)} over {course.rates[-1].end_s:.3g} s: {', '.join(told)}."


def _span(moment: Moment) -> str:
    return f"{moment.start_s:.3g} to {moment.end_s:.3g} s"


def _plot(course: Course, name: str, frame: Frame, y: Axis) -> Plot:
    """The same plot in all of them, so that an instant stands at one place."""
    height = HEIGHTS[name] * (NARROW_SHARE if frame.is_narrow else 1)
    return blank(course, height, frame, y, NARROW if frame.is_narrow else WIDE)


def blank(course: Course, height: float, frame: Frame, y: Axis, padding: Padding) -> Plot:
    """A plot over the time of a run, before its lines: what does not count is grey."""
    last = course.rates[-1].end_s
    count = NARROW_TICKS if frame.is_narrow else TICKS
    x = linear((0, last), "Seconds since the first message", grid=False, tickCount=count)
    plot = Plot(frame, padding, height, x, y)
    start, end = (min(max(edge, 0.0), last) for edge in course.window)
    spans = [{"x": a, "x2": b} for a, b in ((0.0, start), (end, last)) if b - a > last / 500]
    plot.draw("rect", spans, x2="x2", y=0, y2=height, color=palette.HAIRLINE, opacity=0.7)
    ends: list[Row] = [{"x": end} for end in course.stages]
    plot.draw("rule", ends, y=0, y2=height, color=palette.MUTED, opacity=0.5)
    return plot


def _disturbed(plot: Plot, moments: Sequence[Moment]) -> None:
    """A thin line through each step in which the generator did not run."""
    rows = [{"x": moment.middle_s} for moment in moments if moment.disturbed]
    style: Row = {"color": palette.MUTED, "opacity": 0.6, "strokeDash": [2, 3]}
    plot.draw("rule", rows, y=0, y2=plot.height, **style)

"""A run over its time: throughput, times of messages, errors; what does not count is grey."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from wiretrial.report import palette, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row, data, finish, fixed
from wiretrial.report.moments import Course, Moment
from wiretrial.report.units import Unit
from wiretrial.report.views.axes import End, caption, domain_of, end_labels, log_place, ticks

HEIGHTS = {"throughput": 190, "times": 250, "errors": 120}
NARROW_SHARE = 0.8
COLOURS = {"p50": 0, "p99": 1, "max": 4}
"""Places in the palette."""
ERRORS = 1
AIR = 1.06
KEY = "Grey: not counted (warm-up, or behind the window that counts)."
KEY_OF_DISTURBED = "Dashed: the load generator was kept from running for a moment."
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
    unit = units.fitting(units.RATES, [max(values)])
    what = "Verified replies" if name == "throughput" else "Errors"
    told = unit.name.replace("messages", "errors") if name == "errors" else unit.name
    top = max(values) * AIR / unit.size or 1.0
    padding, height = _padding(frame), _height(name, frame)
    # Each step as long as it lasted: what was counted in it was not seen at an instant.
    rows: list[Row] = []
    for moment, value in rates:
        text = f"{_span(moment)}: {units.significant(value / unit.size)} {told}"
        rows.append({"x": moment.start_s, "y": value / unit.size, "text": text})
    rows.append({**rows[-1], "x": course.rates[-1].end_s})
    x = _across(course, frame)
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=alt.Axis(title=None, format=",~r", tickCount=4),
    )
    base = alt.Chart(data(rows)).encode(x=x, y=y)
    layers = [
        *_outside(course, frame, height),
        base.mark_area(aria=False, opacity=0.12, interpolate="step-after", color=colour),
        base.mark_line(aria=False, strokeWidth=1.75, interpolate="step-after", color=colour),
        base.mark_point(filled=True, opacity=0, size=60).encode(
            description=alt.Description("text:N")
        ),
        *_disturbed(course.rates, height),
        caption(f"{what}, {told}" if name == "throughput" else f"{what} per second", padding),
    ]
    low, high = min(values), max(values)
    alternative = (
        f"{what} over {course.rates[-1].end_s:.3g} s: from {units.significant(low / unit.size)} to"
        f" {units.significant(high / unit.size)} {told}."
    )
    return Picture(finish(layers, frame, height, padding), alternative)


def key(course: Course) -> str:
    """How to read them, in one line."""
    disturbed = any(moment.disturbed for moment in course.rates)
    return f"{KEY} {KEY_OF_DISTURBED}" if disturbed else KEY


def quantity(course: Course) -> str:
    """What the times are."""
    return "Response time" if course.is_open_loop else "Service time"


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
    domain = domain_of([value / unit.size for value in known])
    padding, height = _padding(frame), _height("times", frame)
    width = frame.width - padding.left - padding.right
    x = _across(course, frame)
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(type="log", domain=list(domain), nice=False),
        axis=alt.Axis(values=ticks(*domain), title=None, format=",~r"),
    )
    layers = _outside(course, frame, height)
    ends: list[End] = []
    last = course.rates[-1].end_s
    for name, line in lines.items():
        colour = palette.scenario(COLOURS[name])
        rows = _rows(name, line, unit)
        base = alt.Chart(data(rows)).encode(x=x, y=y)
        described = alt.Description("text:N")
        if name == "max":
            layers.append(
                base.mark_point(filled=True, opacity=0.75, size=14, color=colour).encode(
                    description=described
                )
            )
        else:
            layers.append(base.mark_line(aria=False, strokeWidth=2, color=colour))
            layers.append(
                base.mark_point(filled=True, opacity=0, size=60).encode(description=described)
            )
        end = [row for row in rows if row["y"] is not None][-1]
        place = height - log_place(end["y"], domain, height)
        ends.append(End(name, end["x"] / last * width, place, COLOURS[name]))
    layers += [
        *_disturbed(course.times, height),
        caption(f"{quantity(course)}, {unit.name}, log scale", padding),
        *end_labels(ends, frame, width, height),
    ]
    return Picture(finish(layers, frame, height, padding), _alternative(course, lines))


def _rows(name: str, line: Sequence[tuple[Moment, float | None]], unit: Unit) -> list[Row]:
    """A point per step; None breaks the line where nothing can be told."""
    return [
        {
            "x": moment.middle_s,
            "y": value / unit.size if value else None,
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


def _across(course: Course, frame: Frame) -> alt.X:
    count = NARROW_TICKS if frame.is_narrow else TICKS
    return alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, course.rates[-1].end_s], nice=False),
        axis=alt.Axis(
            title="Seconds since the first message", format=",~r", grid=False, tickCount=count
        ),
    )


def _outside(course: Course, frame: Frame, height: float) -> list[alt.Chart]:
    """What does not count, in grey behind everything."""
    last = course.rates[-1].end_s
    start, end = (min(max(edge, 0.0), last) for edge in course.window)
    spans = [{"x": a, "x2": b} for a, b in ((0.0, start), (end, last)) if b - a > last / 500]
    if not spans:
        return []
    return [
        alt.Chart(data(spans))
        .mark_rect(aria=False, color=palette.HAIRLINE, opacity=0.7)
        .encode(
            x=_across(course, frame),
            x2=alt.X2("x2:Q"),
            y=fixed(alt.YValue, 0),
            y2=fixed(alt.Y2Value, height),
        )
    ]


def _disturbed(moments: Sequence[Moment], height: float) -> list[alt.Chart]:
    """A thin line through each step in which the generator did not run."""
    rows = [{"x": moment.middle_s} for moment in moments if moment.disturbed]
    if not rows:
        return []
    return [
        alt.Chart(data(rows))
        .mark_rule(aria=False, color=palette.MUTED, opacity=0.6, strokeDash=[2, 3])
        .encode(x=alt.X("x:Q"), y=fixed(alt.YValue, 0), y2=fixed(alt.Y2Value, height))
    ]


def _padding(frame: Frame) -> Padding:
    """The same plot in all of them, so that an instant stands at one place."""
    return Padding(48, 70, 26, 44) if frame.is_narrow else Padding(56, 90, 26, 44)


def _height(name: str, frame: Frame) -> float:
    return HEIGHTS[name] * (NARROW_SHARE if frame.is_narrow else 1)

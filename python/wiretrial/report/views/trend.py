"""A figure over results: a point each, the levels between changes, and what happened where."""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import palette
from wiretrial.report.canvas import Frame, Padding, Picture, Row
from wiretrial.report.trend import words
from wiretrial.report.trend.found import MOST_POINTS, Judged, Step
from wiretrial.report.trend.points import Point
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import Plot, linear, log

HEIGHT, NARROW_SHARE = 200, 0.9
WIDE, NARROW = Padding(56, 24, 54, 44), Padding(50, 16, 54, 44)
TICKS, NARROW_TICKS = 10, 5
WORSE, BETTER = 1, 2
"""Places in the palette."""
KEY = (
    "A point is a result, with its 95 % interval; a line is a level. Vertical lines: a change"
    " (with its size), or dashed, another machine, boot or load."
)


def picture(judged: Judged, frame: Frame) -> Picture:
    """The line with all that was found in it."""
    line = judged.line
    shown, unit = line.points[-MOST_POINTS:], line.unit
    place = {id(point): number for number, point in enumerate(shown, 1)}
    values = [
        value / unit.size
        for point in shown
        for value in (point.value, point.low, point.high)
        if value
    ]
    many = len(shown)
    plot = Plot(
        frame,
        NARROW if frame.is_narrow else WIDE,
        HEIGHT * (NARROW_SHARE if frame.is_narrow else 1),
        linear(
            (0.5, many + 0.5),
            f"Result, 1 of {shown[0].day} to {many} of {shown[-1].day}",
            grid=False,
            tickCount=min(many, NARROW_TICKS if frame.is_narrow else TICKS),
            tickMinStep=1,
        ),
        log(domain_of(values)),
    )
    _steps(plot, judged.steps, place)
    rows = [_row(number, point, unit.size) for number, point in enumerate(shown, 1)]
    for row, point in zip(rows, shown, strict=True):
        row["text"] = (
            f"{words.place(point)}: {unit.figure(point.value)} {unit.name}, {point.result}"
        )
    ranges = [row for row in rows if "low" in row]
    plot.draw(
        "rule", ranges, y="low", y2="high", color=palette.scenario(0), opacity=0.4, strokeWidth=1.5
    )
    # Behind gaps, where another machine measured, a level goes on.
    levels: list[Row] = [
        {
            "x": min(level.places) + 0.6,
            "x2": max(level.places) + 1.4,
            "y": level.value / unit.size,
        }
        for level in judged.levels
        if len(level.places) > 1
    ]
    plot.draw("rule", levels, x2="x2", color=palette.INK, opacity=0.8, strokeWidth=1.5)
    exact = [row for row in rows if not row["bound"]]
    style: Row = {"color": palette.scenario(0), "size": 36}
    plot.draw("point", exact, **style)
    plot.draw("point", [row for row in rows if row["bound"]], filled=False, **style)
    # The sizes of changes stand below the caption: an early one would be written on it.
    plot.caption(f"{line.title}, {unit.name}, log scale", 30)
    told = [words.sentence(line, step) for step in judged.steps] or [words.verdict(judged)]
    return plot.picture(f"{words.head(line)}. {'; '.join(told)}.")


def _row(number: int, point: Point, size: float) -> Row:
    row: Row = {"x": number, "y": point.value / size, "bound": point.bound != "exact"}
    if point.low is not None and point.high is not None:
        row |= {"low": point.low / size, "high": point.high / size}
    return row


def _steps(plot: Plot, steps: Sequence[Step], place: dict[int, int]) -> None:
    """A vertical line where each new level begins, with its size above it."""
    for step in steps:
        is_change = step.kind in ("worse", "better")
        colour = (
            palette.scenario(WORSE if step.kind == "worse" else BETTER)
            if is_change
            else palette.MUTED
        )
        row: Row = {"x": place[id(step.after)] - 0.5, "text": words.share(step.ratio)}
        dash: Row = {} if is_change else {"strokeDash": [4, 3]}
        plot.draw("rule", [row], y=0.0, y2=plot.height, color=colour, strokeWidth=1.5, **dash)
        if is_change:
            plot.draw(
                "text", [row], y=-2.0, text="text", align="center", baseline="bottom", color=colour
            )

"""How busy each server was at each rate: dots of the levels, and the line through them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wiretrial.report import palette, units
from wiretrial.report.canvas import Frame, Picture, Row
from wiretrial.report.views import lines
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import Plot
from wiretrial.results.advice import Advice, Use
from wiretrial.words import Noun

HEIGHTS = (320, 260)
ABOVE = 20
"""How far above the plot stands what its axis counts: over the names of the uprights."""
KEY = (
    "Dot: the CPUs that a server kept busy at a level. Line: what a straight line of the rate has."
    " Upright: the measured capacity with its interval as a band, and one instance at the advised"
    " load."
)


def can_be_drawn(advice: Advice) -> bool:
    """Whether the CPU time of any server is known at two rates."""
    return len({row["x"] for row in _dots(advice, 1.0)}) > 1


def picture(advice: Advice, frame: Frame) -> Picture:
    """Every server over the rate, on two log axes."""
    rate = rate_unit(advice)
    dots = list(_dots(advice, rate.size))
    rates = sorted({row["x"] for row in dots})
    fitted = [
        row for place, use in enumerate(advice.uses) for row in _line(use, place, rates, rate.size)
    ]
    known = marks(advice, rate)
    across = domain_of([*rates, *ends(known)])
    plot = lines.chart(frame, HEIGHTS, across, f"rate, {rate.name}", [*dots, *fitted])
    draw_marks(plot, known)
    plot.draw("line", fitted, strokeWidth=2, opacity=0.8)
    plot.draw("point", dots, shape="circle", size=40)
    plot.caption("CPUs busy, log scale", ABOVE)
    plot.names(fitted)
    told = units.listed(
        f"{use.name} {units.duration(use.slope_ns)} per {_what(advice).one}" for use in advice.uses
    )
    return plot.picture(f"CPUs busy over the rate: {told}.")


def rate_unit(advice: Advice) -> units.Unit:
    """In which both pictures count rates."""
    return units.fitting(units.rates(_what(advice)), (one.rate for one in advice.limit.levels))


def marks(advice: Advice, rate: units.Unit) -> list[Row]:
    """The capacity with the ends of its interval, and one instance at the advised load."""
    limit = advice.limit
    capacity: Row = {"x": (limit.rate or 0.0) / rate.size, "text": "capacity"}
    if limit.low is not None and limit.high is not None:
        capacity |= {"low": limit.low / rate.size, "high": limit.high / rate.size}
    advised = advice.each / rate.size
    lowest = min(level.rate for level in advice.levels) / rate.size
    if lowest <= advised < 0.9 * capacity["x"]:
        return [capacity, {"x": advised, "text": "advised"}]
    return [capacity]


def ends(marks: Sequence[Row]) -> list[float]:
    """What of them must fit across."""
    return [mark[key] for mark in marks for key in ("x", "low", "high") if key in mark]


def draw_marks(plot: Plot, marks: Sequence[Row]) -> None:
    """A band over the capacity's interval, and uprights with their names on top."""
    bands = [{"x": mark["low"], "x2": mark["high"]} for mark in marks if "low" in mark]
    plot.draw("rect", bands, x2="x2", y=0, y2=plot.height, color=palette.HAIRLINE, opacity=0.7)
    plot.draw("rule", marks, y=None, strokeWidth=1.25, color=palette.MUTED)
    # Above the plot, and away from each other: the advised load is the lower one.
    capacity, *advised = marks
    plot.grey([capacity], y=-6, align="left")
    plot.grey(advised, y=-6, align="right")


def _what(advice: Advice) -> Noun:
    unit = advice.limit.unit
    return Noun(unit.removesuffix("s/s"), unit.removesuffix("/s"))


def _dots(advice: Advice, size: float) -> Iterator[Row]:
    places = {use.name: place for place, use in enumerate(advice.uses)}
    for level in advice.levels:
        for resource in level.resources:
            if resource.cpus and resource.name in places:
                place, at = places[resource.name], units.trimmed(level.rate)
                text = f"{resource.name} at {at}: {resource.cpus:.3g} CPUs busy"
                yield lines.point(resource.name, place, level.rate / size, resource.cpus, text)


def _line(use: Use, place: int, rates: list[float], size: float) -> Iterator[Row]:
    for x in rates:
        cpus = use.base + use.slope_ns / 1e9 * x * size
        if cpus > 0:
            yield lines.point(use.name, place, x, cpus)

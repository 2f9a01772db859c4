"""How busy each server was at each rate: dots of the levels, and the line through them."""

from __future__ import annotations

from collections.abc import Iterator

from wiretrial.report import palette, units
from wiretrial.report.canvas import Frame, Picture, Row
from wiretrial.report.views import lines
from wiretrial.report.views.axes import domain_of
from wiretrial.results.advice import Advice, Use
from wiretrial.words import Noun

HEIGHTS = (320, 260)
KEY = (
    "Dot: the CPUs that a server kept busy at a level. Line: what a straight line of the rate has."
    " Upright: the measured capacity, and one instance at the advised load."
)


def can_be_drawn(advice: Advice) -> bool:
    """Whether the CPU time of any server is known at two rates."""
    return len({row["x"] for row in _dots(advice, 1.0)}) > 1


def picture(advice: Advice, frame: Frame) -> Picture:
    """Every server over the rate, on two log axes."""
    limit = advice.limit
    what = Noun(limit.unit.removesuffix("s/s"), limit.unit.removesuffix("/s"))
    rate = units.fitting(units.rates(what), (one.rate for one in limit.levels))
    dots = list(_dots(advice, rate.size))
    rates = sorted({row["x"] for row in dots})
    fitted = [
        row for place, use in enumerate(advice.uses) for row in _line(use, place, rates, rate.size)
    ]
    marks: list[Row] = [{"x": (limit.rate or 0.0) / rate.size, "text": "capacity"}]
    if rates[0] <= advice.each / rate.size < 0.9 * marks[0]["x"]:
        marks.append({"x": advice.each / rate.size, "text": "advised"})
    across = domain_of([*rates, *(mark["x"] for mark in marks)])
    plot = lines.chart(frame, HEIGHTS, across, f"rate, {rate.name}", [*dots, *fitted])
    plot.draw("rule", marks, y=None, strokeWidth=1.25, color=palette.MUTED)
    plot.grey([{**mark, "y": max(row["y"] for row in dots)} for mark in marks], dx=4, dy=-7)
    plot.draw("line", fitted, strokeWidth=2, opacity=0.8)
    plot.draw("point", dots, shape="circle", size=40)
    plot.caption("CPUs busy, log scale")
    plot.names(fitted)
    told = units.listed(
        f"{use.name} {units.duration(use.slope_ns)} per {what.one}" for use in advice.uses
    )
    return plot.picture(f"CPUs busy over the rate: {told}.")


def _dots(advice: Advice, size: float) -> Iterator[Row]:
    places = {use.name: place for place, use in enumerate(advice.uses)}
    for level in (*advice.limit.levels, *advice.beside):
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

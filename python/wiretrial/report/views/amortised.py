"""What a message costs as more of them share a connection, and where two ways cost the same."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from wiretrial.report import palette, units
from wiretrial.report.break_even import Crossing, Curve, Place, Side
from wiretrial.report.canvas import Frame, Picture, Row
from wiretrial.report.model import ReportModel
from wiretrial.report.views import lines
from wiretrial.report.views.axes import with_air

HEIGHTS = (300, 240)
SHOWN = (("server CPU",), ("bytes on the wire", "TCP payload"))
"""Of each group the first quantity that is known; the others are in the table."""
KEY = (
    "The set-up's share is in each figure. Point: the median over blocks; faint dot: a block."
    " Line: the table's set-up, shared, and message. Ring: both ways cost the same there."
)
STEPS = 60
"""Of a line."""


def quantities(place: Place) -> tuple[str, ...]:
    """What is drawn of the place."""
    known = {curve.quantity.name for curve in place.curves}
    found = (next((name for name in names if name in known), None) for names in SHOWN)
    return tuple(name for name in found if name)


def picture(model: ReportModel, place: Place, quantity: str, frame: Frame) -> Picture:
    """A line per way of talking; both axes are logarithmic."""
    colours = {scenario.label: scenario.colour for scenario in model.scenarios}
    curves = [curve for curve in place.curves if curve.quantity.name == quantity]
    middles = [median(blocks) for curve in curves for blocks in curve.points.values()]
    unit = units.fitting(curves[0].quantity.units, middles)
    points = [row for curve in curves for row in _points(curve, unit, colours[curve.label])]
    blocks = [
        {"x": number, "y": one / unit.size, "colour": palette.scenario(colours[curve.label])}
        for curve in curves
        for number, found in curve.points.items()
        for one in found
    ]
    numbers = sorted({row["x"] for row in points})
    crossings = [one for one in place.crossings if one.quantity.name == quantity]
    sides = {side.label: side for one in crossings for side in (one.http, one.socket)}
    costs = [row for s in sides.values() for row in _line(s, numbers, unit, colours[s.label])]
    rings = [row for one in crossings for row in _ring(one, unit)]
    across = with_air(numbers[0], numbers[-1])
    plot = lines.chart(
        *(frame, HEIGHTS, across, "messages per connection", [*points, *blocks, *costs]),
        values=numbers,
        labelOverlap="greedy",
    )
    plot.draw("point", blocks, opacity=0.35, size=22, strokeWidth=0, aria=False)
    plot.draw("line", costs, strokeWidth=2.25)
    plot.draw("point", points, size=64)
    inside = [row for row in rings if plot.holds(row["x"], row["y"])]
    ring: Row = {"filled": False, "opacity": 0.7, "size": 170, "strokeWidth": 1.5}
    plot.draw("point", inside, **ring, color=palette.INK, aria=False)
    plot.caption(f"{_counted(quantity, unit)} per message, log scale")
    plot.names(points)
    return plot.picture(_alternative(place, quantity, points))


def _points(curve: Curve, unit: units.Unit, colour: int) -> list[Row]:
    return [
        lines.point(
            *(curve.label, colour, number, median(blocks) / unit.size),
            f"{curve.label}, {units.plural(number, 'message')} per connection:"
            f" {unit.text(median(blocks))} each",
        )
        for number, blocks in curve.points.items()
    ]


def _counted(quantity: str, unit: units.Unit) -> str:
    """`µs of server CPU`, `bytes on the wire`."""
    return quantity if unit.name in quantity else f"{unit.name} of {quantity}"


def _line(side: Side, numbers: Sequence[int], unit: units.Unit, colour: int) -> list[Row]:
    """The set-up, shared, and the message: wherever that is above 0."""
    first, last = numbers[0], numbers[-1]
    places = (first * (last / first) ** (step / STEPS) for step in range(STEPS + 1))
    costs = ((place, side.setup / place + side.message) for place in places)
    return [lines.point(side.label, colour, at, cost / unit.size) for at, cost in costs if cost > 0]


def _ring(crossing: Crossing, unit: units.Unit) -> list[Row]:
    """Where both sides cost the same; nothing where they never do."""
    number = crossing.found.messages
    if not number or crossing.found.outcome != "break-even":
        return []
    return [{"x": number, "y": (crossing.http.setup / number + crossing.http.message) / unit.size}]


def _alternative(place: Place, quantity: str, points: Sequence[Row]) -> str:
    said = lines.told(points, lambda row: f"{units.significant(row['y'])} at {row['x']:,}")
    return (
        f"{quantity[:1].upper()}{quantity[1:]} per message by messages per connection,"
        f" {place.title}: {said}."
    )

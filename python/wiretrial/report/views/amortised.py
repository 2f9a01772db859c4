"""What a message costs as more of them share a connection, and where two ways cost the same."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import altair as alt

from wiretrial.report import palette, units
from wiretrial.report.break_even import Crossing, Curve, Place, Side
from wiretrial.report.canvas import Frame, Padding, Picture, Row, data, finish
from wiretrial.report.model import ReportModel
from wiretrial.report.views.axes import caption, domain_of, end_labels, ends_of, height_for, ticks

HEIGHT = {False: 300, True: 240}
"""By whether the frame is narrow."""
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
    blocks = [row for curve in curves for row in _blocks(curve, unit, colours[curve.label])]
    rings = [
        row
        for crossing in place.crossings
        if crossing.quantity.name == quantity and (row := _ring(crossing, unit))
    ]
    numbers = sorted({row["x"] for row in points})
    lines = [
        row
        for label, side in _sides(place, quantity).items()
        for row in _line(side, numbers, unit, colours[label])
    ]
    air = (numbers[-1] / numbers[0]) ** 0.04
    across = (numbers[0] / air, numbers[-1] * air)
    domain = domain_of([row["y"] for row in (*points, *blocks, *lines)])
    padding = Padding(50, 116, 26, 44) if frame.is_narrow else Padding(60, 184, 28, 46)
    height = height_for({row["name"] for row in points}, frame, HEIGHT[frame.is_narrow])
    width = frame.width - padding.left - padding.right
    x = alt.X(
        "x:Q",
        scale=alt.Scale(type="log", domain=list(across), nice=False),
        axis=alt.Axis(
            values=numbers,
            title="messages per connection, log scale",
            format=",~r",
            grid=False,
            labelOverlap="greedy",
        ),
    )
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(type="log", domain=list(domain), nice=False),
        axis=alt.Axis(values=ticks(*domain), title=None, format=",~r"),
    )
    base = alt.Chart(data(points)).encode(x=x, y=y, color=alt.Color("colour:N", scale=None))
    layers = [
        alt.Chart(data(blocks))
        .mark_point(filled=True, opacity=0.35, size=22, strokeWidth=0, aria=False)
        .encode(x=x, y=y, color=alt.Color("colour:N", scale=None)),
        alt.Chart(data(lines))
        .mark_line(aria=False, strokeWidth=2.25)
        .encode(
            x=x,
            y=y,
            color=alt.Color("colour:N", scale=None),
            detail=alt.Detail("name:N"),
            strokeDash=alt.StrokeDash("dash:N", scale=None),
        ),
        base.mark_point(filled=True, opacity=1, size=64).encode(
            shape=alt.Shape("shape:N", scale=None), description=alt.Description("text:N")
        ),
        *_rings(rings, across, domain, x, y),
        caption(f"{_counted(quantity, unit)} per message, log scale", padding),
        *end_labels(ends_of(points, across, domain, width, height), frame, width, height),
    ]
    return Picture(finish(layers, frame, height, padding), _alternative(place, quantity, points))


def _points(curve: Curve, unit: units.Unit, colour: int) -> list[Row]:
    return [
        {
            "x": number,
            "y": median(blocks) / unit.size,
            "name": curve.label,
            "index": colour,
            "colour": palette.scenario(colour),
            "shape": palette.shape(colour),
            "dash": palette.dash(colour),
            "text": f"{curve.label}, {units.plural(number, 'message')} per connection:"
            f" {unit.text(median(blocks))} each",
        }
        for number, blocks in curve.points.items()
    ]


def _blocks(curve: Curve, unit: units.Unit, colour: int) -> list[Row]:
    return [
        {"x": number, "y": one / unit.size, "colour": palette.scenario(colour)}
        for number, blocks in curve.points.items()
        for one in blocks
    ]


def _counted(quantity: str, unit: units.Unit) -> str:
    """`µs of server CPU`, `bytes on the wire`."""
    return quantity if unit.name in quantity else f"{unit.name} of {quantity}"


def _sides(place: Place, quantity: str) -> dict[str, Side]:
    """What set-up and message cost, by label."""
    sides = (
        side
        for crossing in place.crossings
        if crossing.quantity.name == quantity
        for side in (crossing.http, crossing.socket)
    )
    return {side.label: side for side in sides}


def _line(side: Side, numbers: Sequence[int], unit: units.Unit, colour: int) -> list[Row]:
    first, last = numbers[0], numbers[-1]
    places = [first * (last / first) ** (step / STEPS) for step in range(STEPS + 1)]
    costs = [side.setup / place + side.message for place in places]
    return [
        {
            "x": place,
            "y": cost / unit.size,
            "name": side.label,
            "colour": palette.scenario(colour),
            "dash": palette.dash(colour),
        }
        for place, cost in zip(places, costs, strict=True)
        if cost > 0
    ]


def _ring(crossing: Crossing, unit: units.Unit) -> Row | None:
    """Where both sides cost the same; None where they never do."""
    number = crossing.found.messages
    if not number or crossing.found.outcome != "break-even":
        return None
    cost = crossing.http.setup / number + crossing.http.message
    return {"x": number, "y": cost / unit.size}


def _rings(
    rings: Sequence[Row],
    across: tuple[float, float],
    domain: tuple[float, float],
    x: alt.X,
    y: alt.Y,
) -> list[alt.Chart]:
    inside = [
        row
        for row in rings
        if across[0] <= row["x"] <= across[1] and domain[0] <= row["y"] <= domain[1]
    ]
    if not inside:
        return []
    chart: alt.Chart = (
        alt.Chart(data(inside))
        .mark_point(filled=False, size=170, strokeWidth=1.5, color=palette.INK, aria=False)
        .encode(x=x, y=y)
    )
    return [chart]


def _alternative(place: Place, quantity: str, points: Sequence[Row]) -> str:
    lines: dict[str, list[str]] = {}
    for row in points:
        lines.setdefault(row["name"], []).append(f"{units.significant(row['y'])} at {row['x']:,}")
    said = "; ".join(f"{name} {units.listed(parts)}" for name, parts in lines.items())
    return (
        f"{quantity[:1].upper()}{quantity[1:]} per message by messages per connection,"
        f" {place.title}: {said}."
    )

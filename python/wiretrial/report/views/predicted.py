"""Predicted against measured capacities: a dot each, on the diagonal where the prediction holds."""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import capacities, palette, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row
from wiretrial.report.capacities import Capacity
from wiretrial.report.views import plot
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import Plot

HEIGHTS = (420, 320)
LEGEND_PITCH = 18
NEAR = 1 + capacities.FAR
KEY = (
    "Dot: a server in a workload on a size of machine; on the line its capacity was predicted as it"
    " was measured, between the thin lines within 10 %."
)


def can_be_drawn(found: Sequence[Capacity]) -> bool:
    """Whether a prediction stands against a measured capacity."""
    return any(one.is_told for one in found)


def picture(found: Sequence[Capacity], frame: Frame) -> Picture:
    """Measured across, predicted upwards, both on a log scale; a colour per size."""
    sizes = sorted({one.cpus for one in found if one.is_told})
    rows = [row for place, cpus in enumerate(sizes) for row in _rows(found, cpus, place)]
    ends = domain_of([value for row in rows for value in (row["x"], row["y"])])
    drawn = Plot(
        frame,
        Padding(56, 16, 28, 46),
        HEIGHTS[frame.is_narrow],
        x=plot.log(ends, "measured, per second, log scale"),
        y=plot.log(ends),
    )
    drawn.draw("line", _diagonal(ends, 1.0), strokeWidth=1.25, color=palette.MUTED)
    for factor in (NEAR, 1 / NEAR):
        drawn.draw("line", _diagonal(ends, factor), strokeWidth=0.75, color=palette.MUTED)
    drawn.draw("point", rows, size=45, opacity=0.8)
    drawn.caption("predicted from loads up to 60 % of it, per second, log scale")
    for place, cpus in enumerate(sizes):
        height = 12 + place * LEGEND_PITCH
        drawn.draw("point", [palette.look(place)], x=14, y=height, size=45)
        drawn.name(capacities.size(cpus), 24, height)
    return drawn.picture(_alternative(found, sizes))


def _rows(found: Sequence[Capacity], cpus: float, place: int) -> list[Row]:
    return [
        {
            "x": one.measured.median,
            "y": one.predicted.rate,
            "name": one.scenario,
            "text": f"{one.scenario}: {units.trimmed(one.predicted.rate)}/s predicted,"
            f" {units.trimmed(one.measured.median)}/s measured",
            **palette.look(place),
        }
        for one in found
        if one.is_told and one.cpus == cpus and one.measured and one.predicted
    ]


def _diagonal(ends: tuple[float, float], factor: float) -> list[Row]:
    """Predicted = factor x measured, within the plot."""
    low, high = ends
    first, last = max(low, low / factor), min(high, high / factor)
    return [{"x": at, "y": at * factor, "name": f"x {factor:g}"} for at in (first, last)]


def _alternative(found: Sequence[Capacity], sizes: Sequence[float]) -> str:
    parts = []
    for cpus in sizes:
        of_size = capacities.errors("", (one for one in found if one.cpus == cpus))
        if of_size:
            told = f"{of_size.count} with a median error of {capacities.percent(of_size.middle)}"
            parts.append(f"{capacities.size(cpus)} {told}")
    return f"Predicted against measured capacities: {units.listed(parts)}."

"""Lines on log axes: faint trials, a line and a mark per label, its name at the line's end.

Knows how such a chart is laid out; must not know what its axes count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wiretrial.report import palette, units
from wiretrial.report.canvas import Frame, Padding, Row
from wiretrial.report.views import plot
from wiretrial.report.views.axes import domain_of, height_for
from wiretrial.report.views.plot import Plot


def chart(
    frame: Frame,
    heights: tuple[float, float],
    across: tuple[float, float],
    title: str,
    rows: Iterable[Row],
    *,
    up_to: float | None = None,
    **ticks: Any,
) -> Plot:
    """The plot: as high as all of the rows and their names need, wide frames and narrow ones.

    The rows' `y`, `low` and `high` are what must fit; `across` are the ends of the other axis.
    With `up_to` the vertical axis is linear, from 0 to that: what a share of a whole needs.
    """
    known = list(rows)
    padding = Padding(50, 116, 26, 44) if frame.is_narrow else Padding(60, 184, 28, 46)
    names = {row["name"] for row in known if "name" in row}
    values = [row[key] for row in known for key in ("y", "low", "high") if key in row]
    return Plot(
        frame,
        padding,
        height_for(names, frame, heights[frame.is_narrow]),
        x=plot.log(across, f"{title}, log scale", grid=False, **ticks),
        y=plot.log(domain_of(values)) if up_to is None else plot.linear((0.0, up_to), tickCount=5),
    )


def point(label: str, colour: int, x: float, y: float, text: str = "") -> Row:
    """A point of the label's line."""
    return {"x": x, "y": y, "name": label, "text": text, **palette.look(colour)}


def told(points: Sequence[Row], one: Callable[[Row], str]) -> str:
    """`ws 1.2 at 10 and 1.4 at 100; http …`: every line's points in words."""
    lines: dict[str, list[str]] = {}
    for row in points:
        lines.setdefault(row["name"], []).append(one(row))
    return "; ".join(f"{name} {units.listed(parts)}" for name, parts in lines.items())

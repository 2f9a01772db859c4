"""A picture in few words: marks laid over each other between two axes, as Vega-Lite reads it.

Knows Vega-Lite's grammar; must not know what is drawn. A mark's place is a field of its rows, along
the axis, or a number of pixels. What else a row carries decides how its mark looks: `colour`,
`shape`, `dash` and `opacity`, `name` (the line it belongs to), `text` (shown on hover).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wiretrial.report import canvas, palette
from wiretrial.report.canvas import Frame, Padding, Picture, Row
from wiretrial.report.views import axes

Place = str | float | None
"""A field of the rows, pixels from the plot's left or top, or not placed along this axis."""
_LOOKS = {
    "colour": ("color", ("point", "line", "area", "rule")),
    "shape": ("shape", ("point",)),
    "dash": ("strokeDash", ("line",)),
    "opacity": ("opacity", ("rule",)),
    "name": ("detail", ("line", "area")),
    "text": ("description", ("point", "rule")),
}
"""What of a row decides a mark's look, and of which marks, unless their style says it."""
_SCALES = {name: {"scale": None} for name in ("color", "shape", "strokeDash", "opacity")}
_NUMBERS = frozenset({"opacity"})
_STYLES: dict[str, Row] = {
    "point": {"filled": True, "opacity": 1},
    "text": {"align": "left", "baseline": "middle", "fontSize": 12},
}
_LEADER: Row = {"strokeWidth": 1, "opacity": 0.7}


@dataclass(frozen=True)
class Axis:
    """What lies between its ends, and how it is shown; without a style it is not."""

    low: float
    high: float
    scale: Mapping[str, Any]
    style: Mapping[str, Any] | None = None

    def share(self, value: float) -> float:
        """How far along the axis the value lies: 0 at its lower end, 1 at the upper."""
        low, high, at = self.low, self.high, value
        if self.scale.get("type") == "log":
            low, high, at = math.log(low), math.log(high), math.log(at)
        return (at - low) / (high - low)

    def channel(self, field: str) -> Row:
        """The field along this axis."""
        scale = {**self.scale, "domain": [self.low, self.high], "nice": False}
        return {"field": field, "type": "quantitative", "scale": scale, "axis": self.style}


def log(domain: tuple[float, float], title: str | None = None, **style: Any) -> Axis:
    """A log axis with round ticks."""
    known = {"values": axes.ticks(*domain), "title": title, "format": ",~r"}
    return Axis(*domain, {"type": "log"}, {**known, **style})


def linear(domain: tuple[float, float], title: str | None = None, **style: Any) -> Axis:
    """A linear axis."""
    return Axis(*domain, {}, {"title": title, "format": ",~r", **style})


def placed(first: float, last: float) -> Axis:
    """Rows below each other, not shown."""
    return Axis(first, last, {"reverse": True})


def split(rows: Sequence[Row], field: str) -> tuple[list[Row], list[Row]]:
    """The rows in which the field is false, and those in which it is true."""
    return [row for row in rows if not row[field]], [row for row in rows if row[field]]


class Plot:
    """Marks, the later ones over the earlier; a mark without rows is left out."""

    def __init__(self, frame: Frame, padding: Padding, height: float, x: Axis, y: Axis) -> None:
        self.frame, self.height = frame, height
        self.width = frame.width - padding.left - padding.right
        self._padding = padding
        self._axes = {"x": x, "y": y}
        self._layers: list[Row] = []

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where the values lie, in pixels."""
        across, up = self._axes["x"], self._axes["y"]
        return across.share(x) * self.width, self.height - up.share(y) * self.height

    def holds(self, x: float, y: float) -> bool:
        """Whether the place lies between the axes' ends."""
        return all(0 <= a.share(at) <= 1 for a, at in zip(self._axes.values(), (x, y), strict=True))

    def draw(
        self,
        kind: str,
        rows: Sequence[Row],
        *,
        x: Place = "x",
        y: Place = "y",
        x2: Place = None,
        y2: Place = None,
        text: str | None = None,
        **style: Any,
    ) -> None:
        """A mark per row; of a line or an area, one per name. The style is in Vega-Lite's words."""
        if not rows:
            return
        style = {"type": kind, "aria": kind == "point", **_STYLES.get(kind, {}), **style}
        places = {"x": x, "y": y, "x2": x2, "y2": y2}
        encoding = {name: self._at(name, at) for name, at in places.items() if at is not None}
        for field, (channel, kinds) in _LOOKS.items():
            said = channel in style or (field == "text" and not style["aria"])
            if kind in kinds and field in rows[0] and not said:
                measured = "quantitative" if channel in _NUMBERS else "nominal"
                encoding[channel] = {"field": field, "type": measured, **_SCALES.get(channel, {})}
        if text:
            encoding["text"] = {"field": text, "type": "nominal"}
        self._layers.append({"data": {"values": rows}, "mark": style, "encoding": encoding})

    def grey(self, rows: Sequence[Row], **style: Any) -> None:
        """The rows' `text` in grey."""
        self.draw("text", rows, text="text", **{"color": palette.MUTED, **style})

    def caption(self, text: str, above: float = 14) -> None:
        """What the vertical axis counts, above it, where it is read without turning the head."""
        self.grey([{"text": text}], x=4 - self._padding.left, y=-above)

    def names(self, rows: Sequence[Row]) -> None:
        """Each line's name beside its last point, moved apart from the others, with a leader."""
        ends = {row["name"]: row for row in rows}
        places = {name: self.place(row["x"], row["y"]) for name, row in ends.items()}
        wanted = {name: y for name, (_, y) in places.items()}
        beside = axes.spread(wanted, axes.pitch([*ends], self.frame), self.height)
        for name, (x, y) in places.items():
            leader: Row = {"x": x + 3, "x2": self.width + 12, "y": y, "y2": beside[name]}
            self.draw("rule", [{"colour": ends[name]["colour"]}], **leader, **_LEADER)
            self.name(axes.two_lines(name, self.frame), self.width + 16, beside[name])

    def name(self, name: str, x: float, y: float) -> None:
        """One name, its middle at that height."""
        size, lift = 12 if self.frame.is_narrow else 13, -7 if "\n" in name else 0
        style: Row = {"fontSize": size, "color": palette.INK, "lineBreak": "\n", "dy": lift}
        self.draw("text", [{"name": name}], text="name", x=x, y=y, **style)

    def picture(self, alternative: str) -> Picture:
        """All of it, with the sentence that says what it shows."""
        chart = canvas.finish(self._layers, self.frame, self.height, self._padding)
        return Picture(chart, alternative)

    def _at(self, name: str, place: str | float) -> Row:
        if not isinstance(place, str):
            return {"value": place}
        return {"field": place} if name.endswith("2") else self._axes[name].channel(place)

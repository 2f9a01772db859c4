"""From a Vega-Lite chart to a picture: SVG for the page and for files, PNG for files.

Knows Vega-Lite's output and how a page recolours it; must not know what a chart says. No browser
and no network: vl-convert carries its own renderer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import vl_convert

from wiretrial.report import palette

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
WIDE = 880
NARROW = 343
_PLACES = re.compile(r' (d|transform|points|width|height|[xy][12]?)="[^"]*"')
"""Attributes that say where something lies: all other numbers are figures, and stay as they are."""
_DECIMALS = re.compile(r"(\d+\.\d\d)\d+")
_LONG = re.compile(r"-?\d+\.\d{4,}(?:e-?\d+)?")
_AXIS = {
    "aria": False,
    "domain": False,
    "gridColor": palette.HAIRLINE,
    "labelColor": palette.MUTED,
    "labelFontSize": 12,
    "labelPadding": 6,
    "labelSeparation": 6,
    "ticks": False,
    "titleColor": palette.MUTED,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "titlePadding": 10,
}

Row = dict[str, Any]


@dataclass(frozen=True)
class Frame:
    """How much room a picture has: the page's column, or a phone's."""

    width: int

    @property
    def is_narrow(self) -> bool:
        """Whether names stand above their rows instead of beside them."""
        return self.width < 600


@dataclass(frozen=True)
class Picture:
    """A chart, as Vega-Lite reads it, with a sentence that says what it shows."""

    chart: Row
    alternative: str


@dataclass(frozen=True)
class Padding:
    """Room around the plot for names and figures, pixels."""

    left: int
    right: int
    top: int
    bottom: int


def broken(name: str, limit: int) -> str:
    """The name on two lines if it is longer, broken after the blank or slash next to its middle.

    Where there is none, a hyphen or a colon does.
    """
    places = [i + 1 for i, letter in enumerate(name[:-1]) if letter in " /"]
    places = places or [i + 1 for i, letter in enumerate(name[:-1]) if letter in "-:"]
    if len(name) <= limit or not places:
        return name
    middle = min(places, key=lambda i: abs(i - len(name) / 2))
    return f"{name[:middle].rstrip()}\n{name[middle:]}"


def finish(layers: Sequence[Row], frame: Frame, height: float, padding: Padding) -> Row:
    """Layers to one chart of the frame's width; the plot gets what the padding leaves."""
    return {
        "layer": list(layers),
        "width": frame.width - padding.left - padding.right,
        "height": height,
        "autosize": {"type": "none"},
        "padding": asdict(padding),
        "config": {
            "font": FONT,
            "background": "transparent",
            "view": {"stroke": None},
            "axis": _AXIS,
        },
    }


def inline_svg(picture: Picture, css_class: str) -> str:
    """The picture for the page: scales with its column, figures on hover, follows the theme."""
    svg = _drawn(picture.chart)
    label = escape(picture.alternative, quote=True)
    svg = re.sub(
        r'<svg [^>]*?viewBox="([^"]*)">',
        rf'<svg class="{css_class}" role="img" aria-label="{label}" viewBox="\1">',
        svg,
        count=1,
    )
    return _slim(_with_titles(svg))


def file_svg(picture: Picture) -> str:
    """The picture as a file of its own, on light paper: the same on every processor."""
    svg = _same_everywhere(_with_titles(_drawn(_on_paper(picture))))
    title = f"<title>{escape(picture.alternative)}</title>"
    return re.sub(r"(<svg [^>]*>)", lambda found: found[1] + title, svg, count=1)


def file_png(picture: Picture, scale: float = 2) -> bytes:
    """The picture as PNG, on light paper."""
    return bytes(vl_convert.vegalite_to_png(_on_paper(picture), scale=scale))


def _drawn(chart: Row) -> str:
    return str(vl_convert.vegalite_to_svg(chart))


def _on_paper(picture: Picture) -> Row:
    config = {**picture.chart["config"], "background": palette.PAPER}
    return {**picture.chart, "config": config}


def _with_titles(svg: str) -> str:
    """Descriptions of marks become titles, which browsers show on hover without a script."""
    return re.sub(
        r'<(path|line) aria-label="([^"]*)" role="graphics-symbol" '
        r'aria-roledescription="[^"]*"([^>]*)/>',
        r"<\1\3><title>\2</title></\1>",
        svg,
    )


def _same_everywhere(svg: str) -> str:
    """A place has three decimals: in the last of sixteen digits processors differ."""
    return _PLACES.sub(lambda places: _LONG.sub(_rounded, places[0]), svg)


def _rounded(figure: re.Match[str]) -> str:
    # What rounds to -0 is 0.
    return f"{round(float(figure[0]), 3) + 0.0:.9g}"


def _slim(svg: str) -> str:
    """Leaves out what only Vega's own tools read; for a place two decimals are enough."""
    svg = re.sub(r' (aria-roledescription|pointer-events)="[^"]*"', "", svg)
    svg = re.sub(r' (role="graphics-(object|symbol)"|aria-hidden="true")', "", svg)
    svg = re.sub(r'<path class="(background|foreground)"[^>]*/>', "", svg)
    svg = re.sub(r' class="[^"]*(mark|role)[^"]*"', "", svg)
    svg = re.sub(r' font-family="[^"]*"| opacity="1"| stroke-dasharray="1,0"', "", svg)
    svg = svg.replace(' transform="translate(0,0)"', "")
    return _PLACES.sub(lambda places: _DECIMALS.sub(r"\1", places[0]), svg)

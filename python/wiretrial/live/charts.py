"""A running study over its time: small pictures, a line per scenario, and the last figures.

Pure: from lines to SVG and a table; must not know when they are drawn again.
Pictures are drawn here, so that a page shows them without any script.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from wiretrial import words
from wiretrial.report import palette, units
from wiretrial.report.units import Unit
from wiretrial.results.lines import Line, Point

WIDTH, HEIGHT = 340, 150
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 10, 24
"""Room for the figures of the axes."""
CORES = (Unit("cores", "cores"),)
ERRORS = (Unit("per second", "/s"),)


@dataclass(frozen=True)
class Chart:
    """One quantity. `of` takes it from a point, None where it is not known."""

    title: str
    units: tuple[Unit, ...]
    of: Callable[[Point], float | None]

    def known(self, line: Line) -> list[tuple[float, float]]:
        """The line's points that have a figure: seconds, value."""
        found = ((point.at_s, self.of(point)) for point in line.shown)
        return [(at, value) for at, value in found if value is not None]


def charts(lines: Sequence[Line]) -> tuple[Chart, ...]:
    """Those that have something to show; errors only where some failed."""
    is_http = bool(lines) and all(line.is_http for line in lines)
    rates = units.rates(words.REQUEST if is_http else words.MESSAGE)
    every = (
        Chart("Throughput", rates, lambda point: point.rate),
        Chart("p50", units.TIMES, lambda point: point.p50_ns),
        Chart("p99", units.TIMES, lambda point: point.p99_ns),
        Chart("Errors", ERRORS, lambda point: point.errors),
        Chart("Generator CPU", CORES, lambda point: point.generator),
        Chart("Server CPU", CORES, lambda point: point.server),
    )
    failed = any(point.errors for line in lines for point in line.shown)
    return tuple(
        chart
        for chart in every
        if (failed or chart.units is not ERRORS) and any(chart.known(line) for line in lines)
    )


def drawn(lines: Sequence[Line]) -> Markup:
    """All pictures and the table below them; nothing before the first point."""
    lines = [line for line in lines if line.shown]
    shown = charts(lines)
    if not shown:
        return Markup("")
    pictures = Markup("").join(_figure(chart, lines) for chart in shown)
    key = Markup("").join(
        Markup("<span>{}{}</span>").format(_swatch(line), line.scenario) for line in lines
    )
    return Markup('<p class="lines">{}</p><div class="charts">{}</div>{}').format(
        key, pictures, table(lines)
    )


def table(lines: Sequence[Line]) -> Markup:
    """The last figures of each scenario, and the colour of its line."""
    shown = charts(lines)
    fitted = [(chart, _unit(chart, lines)) for chart in shown]
    heads = Markup("").join(
        Markup('<th class="num" scope="col">{}, {}</th>').format(chart.title, unit.name)
        for chart, unit in fitted
    )
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}{}</th>{}</tr>').format(
            _swatch(line),
            line.scenario,
            Markup("").join(_cell(chart, unit, line) for chart, unit in fitted),
        )
        for line in lines
    )
    return Markup(
        '<div class="scroll"><table class="last"><caption class="said">Last figures</caption>'
        '<thead><tr><th scope="col">Last figures</th>{}</tr></thead><tbody>{}</tbody></table></div>'
    ).format(heads, rows)


def _cell(chart: Chart, unit: Unit, line: Line) -> Markup:
    known = chart.known(line)
    return Markup('<td class="num">{}</td>').format(unit.figure(known[-1][1]) if known else "–")


def _swatch(line: Line) -> Markup:
    return Markup('<span class="swatch" style="background:{}"></span>').format(_colour(line))


def _figure(chart: Chart, lines: Sequence[Line]) -> Markup:
    unit = _unit(chart, lines)
    return Markup("<figure><figcaption>{}, {}</figcaption>{}</figure>").format(
        chart.title, unit.name, _picture(chart, unit, lines)
    )


def _picture(chart: Chart, unit: Unit, lines: Sequence[Line]) -> Markup:
    known = [(line, points) for line in lines if (points := chart.known(line))]
    top = ceiling(max(value for _, points in known for _, value in points) / unit.size)
    end = max((points[-1][0] for _, points in known), default=0.0) or 1.0

    def across(at_s: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * at_s / end

    def up(figure: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * figure / top

    parts = [_level(up(share * top), share * top) for share in (0, 0.5, 1)]
    parts += [_second(across(at), at) for at in seconds(end)]
    parts += [
        Markup('<polyline points="{}" style="stroke:{}" stroke-dasharray="{}"/>').format(
            " ".join(f"{across(at):.1f},{up(value / unit.size):.1f}" for at, value in points),
            _colour(line),
            " ".join(map(str, palette.dash(line.colour))),
        )
        for line, points in known
        if len(points) > 1
    ]
    parts += [
        Markup('<circle cx="{:.1f}" cy="{:.1f}" r="3" style="fill:{}"/>').format(
            across(points[-1][0]), up(points[-1][1] / unit.size), _colour(line)
        )
        for line, points in known
    ]
    return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, _alternative(chart, unit, known, end), Markup("").join(parts)
    )


def _level(y: float, figure: float) -> Markup:
    text = Markup('<text x="{}" y="{:.1f}" text-anchor="end">{}</text>').format(
        LEFT - 6, y + 4, units.trimmed(figure)
    )
    return Markup('<path d="M{} {:.1f}H{}"/>{}').format(LEFT, y, WIDTH - RIGHT, text)


def _second(x: float, at_s: float) -> Markup:
    anchor = "end" if x > WIDTH - 2 * RIGHT else "middle"
    return Markup('<text x="{:.1f}" y="{}" text-anchor="{}">{} s</text>').format(
        x, HEIGHT - 6, anchor, units.trimmed(at_s)
    )


def _alternative(
    chart: Chart, unit: Unit, known: Sequence[tuple[Line, list[tuple[float, float]]]], end: float
) -> str:
    """What the picture shows, in one sentence."""
    told = "; ".join(
        f"{line.scenario} {unit.figure(points[-1][1])}, from {unit.figure(min(figures))} to "
        f"{unit.figure(max(figures))}"
        for line, points in known
        if (figures := [value for _, value in points])
    )
    return f"{chart.title} over {units.trimmed(end)} s, {unit.name}, last figure and range: {told}."


def ceiling(value: float) -> float:
    """The end of an axis: the next of 1, 1.2, 1.6, 2, 3, 4, 5, 6, 8 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        step * power for step in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10) if step * power >= value
    )


def seconds(end: float) -> list[float]:
    """Where the axis of time is labelled: 0, and three to five round steps on."""
    power = 10.0 ** math.floor(math.log10(end))
    step = next(s * power for s in (0.2, 0.5, 1, 2, 5) if end / (s * power) <= 5)
    return [step * n for n in range(math.floor(end / step + 1e-9) + 1)]


def _unit(chart: Chart, lines: Sequence[Line]) -> Unit:
    return units.fitting(chart.units, (v for line in lines for _, v in chart.known(line)))


def _colour(line: Line) -> str:
    return palette.css(palette.scenario(line.colour))

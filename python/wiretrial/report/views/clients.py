"""Client libraries: the table of all, and per group the round trip beside the client's own CPU."""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import metrics, palette, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row
from wiretrial.report.families import Group
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.views import dots
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import Plot, log, placed

US = units.MICROSECONDS
WIDE_ROW = 30
NARROW_ROW = 44
KEY = (
    "Filled: the round trip, the median over trials of their means; line: {interval}. Ring: "
    "the client's CPU in it. What lies between them is the server's work and waiting."
)


def picture(group: Group, frame: Frame) -> Picture:
    """A row per library, the shortest round trip first: a dot for it, a ring for the CPU."""
    drawn = [s for s in group.ranked if s.median(metrics.WALL)]
    pitch = NARROW_ROW if frame.is_narrow else WIDE_ROW
    padding = Padding(10, 10, 8, 44) if frame.is_narrow else Padding(200, 190, 4, 44)
    rows = [_drawn(group, scenario, index) for index, scenario in enumerate(drawn)]
    domain = domain_of([row[key] for row in rows for key in ("from", "low", "high", "x")])
    plot = Plot(
        *(frame, padding, pitch * len(rows)),
        x=log(domain, "µs per round trip, log scale; less is better"),
        y=placed(-0.6, len(rows) - 0.4),
    )
    plot.draw("rule", rows, x="from", x2="x", strokeWidth=1, opacity=0.45)
    plot.draw("rule", rows, x="low", x2="high", strokeWidth=4, opacity=0.45)
    with_cpu = [row for row in rows if row["cpu"]]
    plot.draw("point", with_cpu, x="cpu", aria=False, filled=False, size=55, strokeWidth=2)
    plot.draw("point", rows, size=80)
    _label(plot, rows)
    return plot.picture(_alternative(group, drawn))


def _drawn(group: Group, scenario: ScenarioResult, index: int) -> Row:
    cpu = scenario.median(metrics.CLIENT) or 0.0
    name, aside = group.called[scenario.name], f"CPU {US.figure(cpu)}" if cpu else "CPU unknown"
    row = dots.median(scenario, name, metrics.WALL, US, "x", " per round trip")
    return {
        **row,
        "y": index,
        "name": name,
        "cpu": cpu / US.size,
        "from": cpu / US.size or row["x"],
        "figure": US.text(scenario.estimates[metrics.WALL.key].median),
        "aside": aside,
        "text": f"{row['text']}; {aside}",
    }


def _label(plot: Plot, rows: Sequence[Row]) -> None:
    """Name and figures beside each row, or above it."""
    name: Row = {"fontSize": 13.5, "color": palette.INK}
    figure: Row = {**name, "fontWeight": 600, "text": "figure"}
    if plot.frame.is_narrow:
        plot.draw("text", rows, text="name", x=0, dy=-15, **name)
        plot.draw("text", rows, x=plot.width, dy=-15, align="right", **figure)
        return
    plot.draw("text", rows, text="name", x=-192, **name)
    plot.draw("text", rows, x=plot.width + 14, **figure)
    plot.draw("text", rows, text="aside", x=plot.width + 100, color=palette.MUTED)


def _alternative(group: Group, drawn: Sequence[ScenarioResult]) -> str:
    parts = units.listed(
        f"{group.called[s.name]} {US.figure(s.median(metrics.WALL) or 0.0)} µs with "
        f"{US.figure(s.median(metrics.CLIENT) or 0.0)} µs of CPU"
        for s in drawn
    )
    return f"Round trip and client CPU of {group.title}, shortest first: {parts}."

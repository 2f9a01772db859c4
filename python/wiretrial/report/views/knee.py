"""The highest sustained rate: response time against offered rate, and what each search found."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from operator import itemgetter

from wiretrial.report import palette, units
from wiretrial.report.canvas import Frame, Picture, Row
from wiretrial.report.knees import Knee
from wiretrial.report.views import lines
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import Plot, split

HEIGHTS = (340, 280)
RING, RING_SIZE = 16, 300
WIDE_LETTER, NARROW_LETTER = 7.5, 7.0
CROSS = "M-1,-1L1,1M-1,1L1,-1"


def can_be_drawn(knees: Sequence[Knee]) -> bool:
    """Whether a response time is known at any rate."""
    return any(step.response_ns for knee in knees for step in knee.steps)


def picture(knees: Sequence[Knee], frame: Frame) -> Picture:
    """A line per search over its rates, a cross where one was refused, a ring at the knee.

    Each occasion has a search of its own: a line through the rates of several machines would climb
    and fall with the machine that happened to look at a rate.
    """
    objective = knees[0].objective
    known = [step for knee in knees for step in knee.steps if step.response_ns]
    times = [*(step.response_ns or 0.0 for step in known), objective.response_ns]
    time = units.fitting(units.TIMES, times)
    rate = units.fitting(units.rates(knees[0].what), (step.offered for step in known))
    rows = [row for knee in knees for row in _rows(knee, time, rate)]
    searches = [search for knee in knees for search in knee.each]
    paths = [_line(search, time, rate) for search in searches]
    medians = sorted(chain.from_iterable(paths), key=itemgetter("x"))
    rings = sorted(_rings(searches, time, rate), key=itemgetter("x"))
    limit = {"y": objective.response_ns / time.size, "text": f"objective: {objective.limit}"}
    across = domain_of([row["x"] for row in rows])
    plot = lines.chart(
        frame, HEIGHTS, across, f"offered rate, {rate.name}", [*medians, *rows, limit]
    )
    plot.draw("rule", [limit], x=None, strokeWidth=1.25, color=palette.MUTED)
    plot.grey([limit], x=4, dy=-7)
    for path in paths:
        plot.draw("line", path, strokeWidth=2, opacity=0.8)
    kept, refused = split(rows, "refused")
    plot.draw("point", kept, shape="circle", size=40)
    plot.draw("point", refused, filled=False, size=60, shape=CROSS, strokeWidth=1.75)
    plot.draw("point", rings, filled=False, shape="circle", size=RING_SIZE, strokeWidth=2.5)
    plot.caption(f"{objective.time} of the response time, {time.name}, log scale")
    _name(plot, knees, medians, rings)
    return plot.picture(_alternative(knees))


def _rows(knee: Knee, time: units.Unit, rate: units.Unit) -> list[Row]:
    return [
        {
            **lines.point(
                knee.label, knee.colour, step.offered / rate.size, step.response_ns / time.size
            ),
            "refused": step.refusal is not None,
            "text": f"{knee.label} at {units.trimmed(step.offered)} {knee.what.many}/s: "
            f"{units.duration(step.response_ns)}, {step.outcome}",
        }
        for step in knee.steps
        if step.response_ns
    ]


def _line(knee: Knee, time: units.Unit, rate: units.Unit) -> list[Row]:
    """The median at each rate, in the order of the rates."""
    return [
        lines.point(knee.label, knee.colour, offered / rate.size, response / time.size)
        for offered in sorted({step.offered for step in knee.steps})
        if (response := knee.response_at(offered))
    ]


def _rings(knees: Sequence[Knee], time: units.Unit, rate: units.Unit) -> list[Row]:
    return [
        lines.point(
            *(knee.label, knee.colour, knee.sustained / rate.size, response / time.size),
            f"{knee.label} sustains {knee.figure} {knee.what.many}/s",
        )
        for knee in knees
        if knee.sustained and (response := knee.response_at(knee.sustained))
    ]


def _name(plot: Plot, knees: Sequence[Knee], medians: Sequence[Row], rings: Sequence[Row]) -> None:
    """Names beside the last rings where each has one and they don't touch, else at the ends."""
    beside = {ring["name"]: plot.place(ring["x"], ring["y"]) for ring in rings}
    places = sorted(x for x, _ in beside.values())
    longest = max(len(knee.label) for knee in knees)
    room = RING + longest * (NARROW_LETTER if plot.frame.is_narrow else WIDE_LETTER)
    apart = all(right - left > room for left, right in pairwise([*places, plot.width + room]))
    if len(beside) < len(knees) or not apart:
        plot.names(medians)
        return
    for name, (x, y) in beside.items():
        plot.name(name, x + RING, y + 4)


def _alternative(knees: Sequence[Knee]) -> str:
    parts = units.listed(
        f"{knee.label} {knee.figure} {knee.what.many}/s"
        if knee.sustained
        else f"{knee.label} no rate"
        for knee in knees
    )
    return (
        f"Response time against offered rate; sustained with {knees[0].objective.words}: {parts}."
    )

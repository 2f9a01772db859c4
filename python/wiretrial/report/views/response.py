"""The goal's time at each rate that was measured: what was kept, what was refused, the capacity."""

from __future__ import annotations

from collections.abc import Iterator

from wiretrial.report import palette, units
from wiretrial.report.canvas import Frame, Picture, Row
from wiretrial.report.views import lines, utilisation
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.knee import CROSS
from wiretrial.report.views.plot import split
from wiretrial.results.advice import Advice

HEIGHTS = (280, 240)
KEY = (
    "Dot: the goal's time at a level that was kept. Cross: the level was refused. Level line: the"
    " goal. Band and uprights as above."
)


def can_be_drawn(advice: Advice) -> bool:
    """Whether a time is a goal, and known at two rates."""
    return advice.limit.time_goal_ns is not None and len({rate for rate, *_ in _known(advice)}) > 1


def picture(advice: Advice, frame: Frame) -> Picture:
    """Every level over its rate, on two log axes."""
    limit = advice.limit
    assert limit.time_goal_ns is not None
    rate = utilisation.rate_unit(advice)
    known = list(_known(advice))
    time = units.fitting(units.TIMES, [*(ns for _, ns, *_ in known), limit.time_goal_ns])
    rows = [_row(advice, rate, time, *one) for one in known]
    goal: Row = {"y": limit.time_goal_ns / time.size, "text": f"goal: {_goal(advice)}"}
    marks = utilisation.marks(advice, rate)
    across = domain_of([*(row["x"] for row in rows), *utilisation.ends(marks)])
    plot = lines.chart(frame, HEIGHTS, across, f"rate, {rate.name}", [*rows, goal])
    utilisation.draw_marks(plot, marks)
    plot.draw("rule", [goal], x=None, strokeWidth=1.25, color=palette.MUTED)
    plot.grey([goal], x=4, dy=-7)
    kept, refused = split(rows, "refused")
    plot.draw("point", kept, shape="circle", size=40)
    plot.draw("point", refused, filled=False, size=60, shape=CROSS, strokeWidth=1.75)
    plot.caption(f"{limit.time}, {time.name}, log scale", utilisation.ABOVE)
    return plot.picture(
        f"{limit.time} over the rate, against {_goal(advice)}; the capacity is"
        f" {units.trimmed(limit.rate or 0.0)} {limit.unit}."
    )


def _goal(advice: Advice) -> str:
    """The one that is about this time; others may stand before it."""
    limit = advice.limit
    return next((goal for goal in limit.goals if goal.startswith(limit.time)), limit.time)


def _known(advice: Advice) -> Iterator[tuple[float, float, bool]]:
    """Rate, time, and whether it was refused."""
    for level in advice.levels:
        if level.time_ns:
            yield level.rate, level.time_ns, not level.is_kept


def _row(
    advice: Advice, rate: units.Unit, time: units.Unit, at: float, ns: float, refused: bool
) -> Row:
    outcome = "refused" if refused else "kept"
    text = f"{advice.limit.time} at {units.trimmed(at)}: {units.duration(ns)}, {outcome}"
    return {**lines.point("", 0, at / rate.size, ns / time.size, text), "refused": refused}

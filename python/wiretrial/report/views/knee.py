"""The highest sustained rate: response time against offered rate, and what each search found."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import altair as alt
from markupsafe import Markup

from wiretrial.report import palette, units
from wiretrial.report.canvas import Frame, Padding, Picture, Row, data, finish, fixed
from wiretrial.report.knees import Knee, Step
from wiretrial.report.model import ReportModel
from wiretrial.report.views.axes import (
    caption,
    domain_of,
    end_labels,
    ends_of,
    height_for,
    log_place,
    ticks,
)
from wiretrial.report.views.ranking import swatch

WIDE_HEIGHT = 340
NARROW_HEIGHT = 280
RING = 16
WIDE_LETTER, NARROW_LETTER = 7.5, 7.0
CROSS = "M-1,-1L1,1M-1,1L1,-1"


def groups(model: ReportModel) -> tuple[tuple[Knee, ...], ...]:
    """Searches that ask the same of different subjects, together."""
    found: dict[tuple[str, object], list[Knee]] = {}
    for knee in model.knees:
        found.setdefault((knee.group, knee.objective), []).append(knee)
    return tuple(tuple(knees) for knees in found.values())


def can_be_drawn(knees: Sequence[Knee]) -> bool:
    """Whether a response time is known at any rate."""
    return any(step.response_ns for knee in knees for step in knee.steps)


def picture(knees: Sequence[Knee], frame: Frame) -> Picture:
    """A line per label over its rates, a cross where one was refused, a ring at the knee."""
    objective = knees[0].objective
    known = [step for knee in knees for step in knee.steps if step.response_ns]
    times = [*(step.response_ns or 0.0 for step in known), objective.response_ns]
    time, rate = (
        units.fitting(units.TIMES, times),
        units.fitting(units.RATES, (s.offered for s in known)),
    )
    rows = [row for knee in knees for row in _rows(knee, time, rate)]
    across = domain_of([row["x"] for row in rows])
    limit = objective.response_ns / time.size
    domain = domain_of([*(row["y"] for row in rows), limit])
    padding = Padding(50, 116, 26, 44) if frame.is_narrow else Padding(60, 184, 28, 46)
    usual = NARROW_HEIGHT if frame.is_narrow else WIDE_HEIGHT
    height = height_for([knee.label for knee in knees], frame, usual)
    width = frame.width - padding.left - padding.right
    x = alt.X(
        "x:Q",
        scale=alt.Scale(type="log", domain=list(across), nice=False),
        axis=alt.Axis(
            values=ticks(*across),
            title=f"offered rate, {rate.name}, log scale",
            format=",~r",
            grid=False,
        ),
    )
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(type="log", domain=list(domain), nice=False),
        axis=alt.Axis(values=ticks(*domain), title=None, format=",~r"),
    )
    hue = alt.Color("colour:N", scale=None)
    lines = [row for knee in knees for row in _line(knee, time, rate)]
    rings = _rings(knees, time, rate)
    base = alt.Chart(data(rows)).encode(x=x, y=y, color=hue, description=alt.Description("text:N"))
    layers = [
        alt.Chart(data([{"y": limit}]))
        .mark_rule(aria=False, strokeWidth=1.25, color=palette.MUTED)
        .encode(y=y),
        alt.Chart(data([{"text": f"objective: {objective.limit}"}]))
        .mark_text(aria=False, align="left", dy=-7, fontSize=12, color=palette.MUTED)
        .encode(
            x=fixed(alt.XValue, 4),
            y=fixed(alt.YValue, height - log_place(limit, domain, height)),
            text=alt.Text("text:N"),
        ),
        alt.Chart(data(lines))
        .mark_line(aria=False, strokeWidth=2, opacity=0.8)
        .encode(
            x=x,
            y=y,
            color=hue,
            detail=alt.Detail("name:N"),
            strokeDash=alt.StrokeDash("dash:N", scale=None),
        ),
        base.transform_filter("!datum.refused").mark_point(
            filled=True, size=40, opacity=1, shape="circle"
        ),
        base.transform_filter("datum.refused").mark_point(
            filled=False, size=60, opacity=1, shape=CROSS, strokeWidth=1.75
        ),
        alt.Chart(data(rings))
        .mark_point(filled=False, size=300, opacity=1, strokeWidth=2.5, shape="circle")
        .encode(x=x, y=y, color=hue, description=alt.Description("text:N")),
        caption(
            f"p{100 * objective.quantile:g} of the response time, {time.name}, log scale", padding
        ),
        *_names(knees, lines, rings, across, domain, frame, width, height),
    ]
    return Picture(finish(layers, frame, height, padding), _alternative(knees))


def table(knees: Sequence[Knee]) -> Markup:
    """One row per label."""
    ordered = sorted(knees, key=lambda knee: knee.sustained or 0.0, reverse=True)
    rows = Markup("").join(
        Markup(
            '<tr><td>{}{}</td><td class="num">{}{}</td><td class="num">{}</td>'
            '<td class="num">{}</td><td class="num">{}</td><td>{}</td></tr>'
        ).format(
            swatch(knee.colour),
            knee.label,
            knee.figure,
            Markup("<small>not confirmed</small>") if knee.is_open else Markup(""),
            _time(knee.response_at(knee.sustained)) if knee.sustained else "–",
            "–" if knee.refused is None else units.trimmed(knee.refused.offered),
            len(knee.steps),
            knee.why,
        )
        for knee in ordered
    )
    objective = knees[0].objective
    return Markup(
        '<div class="scroll"><table class="prose"><thead><tr><th>Subject</th>'
        '<th class="num">Sustained, messages/s</th><th class="num">p{} there</th>'
        '<th class="num">Refused at, messages/s</th><th class="num">Trials</th><th>Why</th></tr>'
        "</thead><tbody>{}</tbody></table></div>"
    ).format(f"{100 * objective.quantile:g}", rows)


def steps(knees: Sequence[Knee]) -> Markup:
    """Every trial of the searches, in order."""
    rows = Markup("").join(
        Markup(
            '<tr><td>{}{}</td><td class="num">{}</td><td class="num">{}</td>'
            '<td class="num">{}</td><td>{}</td></tr>'
        ).format(
            swatch(knee.colour),
            knee.label,
            units.trimmed(step.offered),
            units.trimmed(step.achieved),
            _time(step.response_ns),
            _outcome(step),
        )
        for knee in knees
        for step in knee.steps
    )
    return Markup(
        '<div class="scroll"><table class="prose"><thead><tr><th>Subject</th>'
        '<th class="num">Offered, messages/s</th><th class="num">Answered</th>'
        '<th class="num">p{}</th><th>Outcome</th></tr></thead><tbody>{}</tbody></table></div>'
    ).format(f"{100 * knees[0].objective.quantile:g}", rows)


def _outcome(step: Step) -> str:
    return "sustained" if step.refusal is None else f"refused: {step.refusal.text}"


def _time(ns: float | None) -> str:
    return "–" if ns is None else units.duration(ns)


def _rows(knee: Knee, time: units.Unit, rate: units.Unit) -> list[Row]:
    return [
        {
            "x": step.offered / rate.size,
            "y": step.response_ns / time.size,
            "colour": palette.scenario(knee.colour),
            "refused": step.refusal is not None,
            "text": f"{knee.label} at {units.trimmed(step.offered)} messages/s: "
            f"{units.duration(step.response_ns)}, {_outcome(step)}",
        }
        for step in knee.steps
        if step.response_ns
    ]


def _line(knee: Knee, time: units.Unit, rate: units.Unit) -> list[Row]:
    """The median at each rate, in the order of the rates."""
    return [
        {
            "name": knee.label,
            "index": knee.colour,
            "x": offered / rate.size,
            "y": response / time.size,
            "colour": palette.scenario(knee.colour),
            "dash": palette.dash(knee.colour),
        }
        for offered in sorted({step.offered for step in knee.steps})
        if (response := knee.response_at(offered))
    ]


def _rings(knees: Sequence[Knee], time: units.Unit, rate: units.Unit) -> list[Row]:
    return [
        {
            "x": knee.sustained / rate.size,
            "y": response / time.size,
            "colour": palette.scenario(knee.colour),
            "name": knee.label,
            "text": f"{knee.label} sustains {knee.figure} messages/s",
        }
        for knee in knees
        if knee.sustained and (response := knee.response_at(knee.sustained))
    ]


def _names(
    knees: Sequence[Knee],
    lines: Sequence[Row],
    rings: Sequence[Row],
    across: tuple[float, float],
    domain: tuple[float, float],
    frame: Frame,
    width: float,
    height: float,
) -> list[alt.Chart]:
    """Names beside the rings where each line has one and they don't touch, else at the ends."""
    places = sorted(log_place(ring["x"], across, width) for ring in rings)
    longest = max(len(knee.label) for knee in knees)
    room = RING + longest * (NARROW_LETTER if frame.is_narrow else WIDE_LETTER)
    apart = all(right - left > room for left, right in pairwise([*places, width + room]))
    if len(rings) < len(knees) or not apart:
        return end_labels(ends_of(lines, across, domain, width, height), frame, width, height)
    return [
        alt.Chart(data([ring]))
        .mark_text(
            aria=False,
            align="left",
            baseline="middle",
            color=palette.INK,
            fontSize=12 if frame.is_narrow else 13,
        )
        .encode(
            x=fixed(alt.XValue, log_place(ring["x"], across, width) + RING),
            y=fixed(alt.YValue, height - log_place(ring["y"], domain, height) + 4),
            text=alt.Text("name:N"),
        )
        for ring in rings
    ]


def _alternative(knees: Sequence[Knee]) -> str:
    parts = units.listed(
        f"{knee.label} {knee.figure} messages/s" if knee.sustained else f"{knee.label} no rate"
        for knee in knees
    )
    return (
        f"Response time against offered rate; sustained with {knees[0].objective.words}: {parts}."
    )

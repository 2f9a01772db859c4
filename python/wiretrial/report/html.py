"""The report as one HTML file that needs nothing else: no script, no font, no network.

Knows the order of the page; must not know how a view is made. Pictures are static SVG, drawn twice,
for the page and for a phone: they print, they need no script, and hovering adds figures by titles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files

from markupsafe import Markup

from wiretrial.report import brief, markup, moments, palette, run
from wiretrial.report.canvas import NARROW, WIDE, Frame
from wiretrial.report.families import Family
from wiretrial.report.head import HEAD
from wiretrial.report.knees import Knee
from wiretrial.report.model import ReportModel
from wiretrial.report.views import (
    adoption,
    alerts,
    bottlenecks,
    break_even,
    claims,
    clients,
    courses,
    factsheet,
    families,
    held,
    knee,
    over_time,
)
from wiretrial.report.views.factsheet import Carried

MOST_ROWS = 12
"""A table that is longer is folded."""

_PAGE = (
    HEAD
    + """<body>
<main>
<header>
<h1>{title}</h1>
<p class="question">{question}</p>
{verdict}
</header>
{sections}
</main>
{data}
</body>
</html>
"""
)


def render(model: ReportModel) -> str:
    """The whole page."""
    carried = factsheet.carry(model)
    return str(
        Markup(_PAGE).format(
            title=model.title,
            style=Markup(_style()),
            question=model.question,
            verdict=_verdict(model),
            sections=markup.joined(_sections(model, carried)),
            data=factsheet.raw_data(carried, model.document),
        )
    )


def _style() -> str:
    """The style sheet, with the inks of the pictures turned for the dark."""
    sheet = files("wiretrial.report").joinpath("assets/report.css").read_text("utf-8")
    turned = "".join(
        f'svg.picture [{attribute}="{light}"]{{{attribute}:{dark}}}\n'
        for light, dark in palette.DARK.items()
        for attribute in ("fill", "stroke")
    )
    return f"{sheet}@media screen and (prefers-color-scheme: dark){{\n{turned}}}\n"


def _verdict(model: ReportModel) -> Markup:
    """The answer in a few lines; every sentence behind a fold."""
    muted = model.muted_sentences
    found = model.all_sentences[: -len(muted)]
    whole = [
        *(Markup("<p>{}</p>").format(text) for text in found),
        *(Markup('<p class="aside">{}</p>').format(text) for text in muted),
    ]
    if model.is_run:
        return Markup('<div class="verdict">{}</div>').format(Markup("").join(whole))
    *answer, limit = brief.answer(model, brief.WIDTH)
    lines = [Markup("<p>{}</p>").format(text) for text in answer]
    lines.append(Markup('<p class="aside">{}</p>').format(limit))
    return Markup('<div class="verdict">{}</div>{}').format(
        Markup("").join(lines), markup.fold("Every finding in full", Markup("").join(whole))
    )


def _sections(model: ReportModel, carried: Carried) -> Iterator[Markup]:
    if model.is_run:
        yield from _run(model)
        yield markup.section("Facts", _again(model, carried), factsheet.sections(model))
        return
    yield clients.overview(model)
    yield from (families.results(model, family) for family in _inside_first(model))
    yield from (_knee(knees) for knees in knee.groups(model))
    yield _times(model)
    yield families.costs(model)
    yield courses.section(model)
    yield markup.section("Break-even: set-up against messages", break_even.tables(model))
    yield markup.section("Held connections", held.tables(model))
    yield markup.section("What each is like to adopt", adoption.table(model.adopted))
    yield markup.section("Published / here", claims.table(model))
    yield markup.section("Who was the bottleneck", *_bottlenecks(model))
    yield markup.section("Not measured", _absent(model))
    yield markup.section("Warnings", alerts.items(model))
    yield markup.section("Facts", _again(model, carried), factsheet.sections(model))


def _run(model: ReportModel) -> Iterator[Markup]:
    """One run by itself: what the terminal shows, its course, its distribution, its cost."""
    (trial,) = model.trials
    yield markup.section("What it took", _rows(run.rows(trial)))
    yield markup.section("Over time", *_course(moments.course(trial)))
    yield _times(model)
    if any(scenario.estimates for scenario in model.scenarios):
        yield families.costs(model)
    yield markup.section("Warnings", alerts.items(model))


def _rows(rows: Iterable[tuple[str, str]]) -> Markup:
    cells = Markup("").join(
        Markup('<tr><th scope="row">{}</th><td>{}</td></tr>').format(*row) for row in rows
    )
    table = Markup('<div class="scroll"><table class="prose run"><tbody>{}</tbody></table></div>')
    return table.format(cells)


def _course(course: moments.Course | None) -> Iterator[Markup]:
    if course is None:
        return
    for name in over_time.names(course):
        wide, narrow = (over_time.picture(course, name, Frame(width)) for width in (WIDE, NARROW))
        yield markup.both(wide, narrow)
    if not course.has_errors:
        yield Markup("<p>No message failed.</p>")
    yield markup.key(over_time.key(course))


def _inside_first(model: ReportModel) -> list[Family]:
    return sorted(model.families, key=lambda family: family.is_outside)


def _knee(knees: Sequence[Knee]) -> Markup:
    parts: list[Markup] = []
    if knee.can_be_drawn(knees):
        parts.append(markup.both(*(knee.picture(knees, Frame(width)) for width in (WIDE, NARROW))))
        parts.append(
            markup.key("Dot: a trial at that rate. Cross: the rate was refused. Ring: the knee.")
        )
    parts += [knee.table(knees), markup.fold("Every step of the search", knee.steps(knees))]
    return markup.section(f"Highest rate with {knees[0].objective.words}: {knees[0].group}", *parts)


def _times(model: ReportModel) -> Markup:
    parts = [part for family in _inside_first(model) if (part := families.times(model, family))]
    if parts:
        parts.append(
            markup.key(
                "By percentile. The line ends where fewer than ten messages lie beyond."
                if model.is_run
                else "By percentile: the line is the median over trials, the band their range; it "
                "ends where fewer than ten messages of a trial lie beyond."
            )
        )
    if all(scenario.is_driven for scenario in model.scenarios):
        return markup.section("The full distribution of round trips", *parts)
    kinds = {scenario.is_open_loop for scenario in model.scenarios}
    title = {True: "Response time", False: "Service time"}[max(kinds, default=False)]
    return markup.section(title if len(kinds) < 2 else "Service and response time", *parts)


def _bottlenecks(model: ReportModel) -> tuple[Markup, Markup]:
    table, marked = bottlenecks.table(model), bottlenecks.marked(model)
    if len(model.scenarios) <= MOST_ROWS:
        return table, marked
    return (
        Markup("<p>{}</p>").format(model.bottleneck_sentence),
        markup.joined([markup.fold("By scenario, with the evidence", table), marked]),
    )


def _absent(model: ReportModel) -> Markup:
    if not model.absent:
        return markup.NOTHING
    rows = Markup("").join(
        Markup("<tr><td>{}</td><td>{}</td></tr>").format(row.subject, row.reason)
        for row in model.absent
    )
    return Markup(
        '<div class="scroll"><table class="prose"><thead><tr><th>Subject</th><th>Reason</th></tr>'
        "</thead><tbody>{}</tbody></table></div>"
    ).format(rows)


def _again(model: ReportModel, carried: Carried) -> Markup:
    held, its = f"all {carried.count:,} trials", "their"
    if carried.count == 1:
        held, its = "the trial", "its"
    rest = "load's file" if model.is_run else "folder of the results"
    histograms = f"{its} histograms"
    if carried.is_merged:
        windows = "window" if carried.count == 1 else "windows"
        histograms = f"the histograms of {its} {windows} (the {rest} has every interval's)"
    return Markup(
        "<p>Run it again: <code>{}</code></p><p class='muted'>This file holds {} with "
        "{}, as JSON lines in xz and base64, in its last script element.</p>"
    ).format(model.command, held, histograms)

"""The pages of results over time: all scenarios that are followed, and one with its history.

Pure: from histories to HTML; must not know files, or how changes are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from markupsafe import Markup

from wiretrial.report import html_blocks, units
from wiretrial.report.blocks import NOTHING, Drawing
from wiretrial.report.canvas import NARROW, Frame, inline_svg
from wiretrial.report.trend import words
from wiretrial.report.trend.found import Judged, Step
from wiretrial.report.trend.points import Point
from wiretrial.report.views import trend
from wiretrial.site import entries, pages
from wiretrial.site.histories import History
from wiretrial.site.shell import TRENDS, link

TITLE = "Results over time"
FOLDER = "trends"
MOST_NAMED = 3
"""Changes for the worse that the first page names."""
_EMPTY = Markup("")


def path(history: History) -> str:
    """Where a scenario's history is."""
    return f"{FOLDER}/{history.name}.html"


def data_folder(history: History) -> str:
    """The folder of its data, below that of all data."""
    return f"{FOLDER}/{history.name}"


def card(histories: Sequence[History]) -> Markup:
    """What the first page says: how many are followed, and which became worse."""
    if not histories:
        return _EMPTY
    worse = [one for one in histories if one.is_worse]
    named = _EMPTY.join(
        Markup("<li>{} ({}): {}</li>").format(link(path(one), one.scenario), one.study, _worst(one))
        for one in worse[:MOST_NAMED]
    )
    return Markup(
        '<article class="study"><div><h2>{}</h2><p class="question">Since when is it slower?</p>'
        '<div class="answer"><p>{}</p><ul>{}</ul></div><p class="muted">{}</p><p>{}</p></div>'
        "<figure><figcaption>{}</figcaption>{}</figure></article>"
    ).format(
        link(TRENDS, TITLE),
        _counted(histories),
        named,
        _span(histories),
        link(TRENDS, f"All {units.plural(len(histories), 'scenario')} over time"),
        histories[0].scenario,
        Markup(inline_svg(trend.picture(_shown(histories[0]), Frame(NARROW)), "picture")),
    )


def _shown(history: History) -> Judged:
    """The figure that became worse, else the one that it is ranked by."""
    return next((one for one in history.lines if one.is_worse), history.first)


def _worst(history: History) -> str:
    one = _shown(history)
    step = next(step for step in reversed(one.changes) if step.kind == "worse")
    return f"{one.line.title} {words.change_in_short(step)}"


def _counted(histories: Sequence[History]) -> str:
    """`1 of 7 scenarios became worse.`"""
    worse = sum(one.is_worse for one in histories)
    many = units.plural(len(histories), "scenario")
    if worse:
        return f"{worse} of {many} became worse."
    return f"No change for the worse was found in {many}."


def _span(histories: Sequence[History]) -> Markup:
    """The results, and from when to when they are."""
    results = {point.result: point.day for one in histories for point in one.results}
    days = sorted(point.day for one in histories for point in one.results)
    span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return Markup('{} · <span class="beside">{}</span>').format(
        units.plural(len(results), "result"), span
    )


def index(histories: Sequence[History]) -> Markup:
    """A row for each scenario that is followed."""
    body = _EMPTY.join(_row(one) for one in histories)
    head = _EMPTY.join(
        Markup('<th{} scope="col">{}</th>').format(
            Markup(' class="num"') if name == "Results" else _EMPTY, name
        )
        for name in ("Scenario", "Found", "Newest", "Results")
    )
    choices = {
        "study": sorted({one.study for one in histories}),
        "found": sorted({one.outcome for one in histories}),
    }
    return Markup(
        '<header><h1>{}</h1><p class="question">{} {}</p></header>{}'
        '<div class="scroll"><table class="scenarios" id="rows"><thead><tr>{}</tr></thead>'
        '<tbody>{}</tbody></table></div><p class="muted">{}</p>'
    ).format(
        TITLE,
        _counted(histories),
        _span(histories) + ".",
        pages.filter_form("rows", choices),
        head,
        body,
        words.RATE,
    )


def _row(one: History) -> Markup:
    line = one.first.line
    newest = line.points[-1]
    return Markup(
        '<tr data-words="{}" data-study="{}" data-found="{}"><th scope="row">{}<small>{}</small>'
        '</th><td class="told">{}</td><td>{}<small>{}</small></td><td class="num">{}</td></tr>'
    ).format(
        pages.words(one.study, one.scenario, line.title, one.outcome, words.revision(newest)),
        one.study,
        one.outcome,
        link(path(one), one.scenario),
        one.study,
        Markup("<br>").join(_findings(one)),
        _value(one.first, newest),
        f"{line.title}, {words.place(newest)}",
        len(one.results),
    )


def _findings(one: History) -> Iterator[Markup]:
    """What became of each figure; where nothing did, what would have been seen of the first."""
    changed = [judged for judged in one.lines if judged.changes]
    for judged in changed:
        for step in judged.changes:
            yield _sign(step) + Markup("{} {}").format(
                judged.line.title, words.change_in_short(step)
            )
    if not changed:
        yield Markup("{}").format(words.verdict(one.first))


def _sign(step: Step) -> Markup:
    """The mark of a change, as in a table of bests and worsts."""
    sign = {"worse": "▼", "better": "▲"}.get(step.kind, "┆")
    return Markup('<span class="sign {}" aria-hidden="true">{}</span> ').format(step.kind, sign)


def _value(one: Judged, point: Point) -> Markup:
    return Markup('<strong class="kept">{} {}</strong>').format(
        words.figure(one.line, point), one.line.unit.name
    )


def page(history: History, reports: Mapping[str, str]) -> Markup:
    """One scenario: a picture per figure with what was found, all results, the data.

    `reports`: the pages of results that are on the site, too, by their names.
    """
    sections = _EMPTY.join(_figure(one, reports) for one in history.lines)
    downloads = {pages.data_path(data_folder(history), one.name): one for one in history.downloads}
    return Markup(
        '<header><p class="bar">{}</p><h1>{}</h1><p class="question">{} · {}</p></header>'
        '<p class="key muted">{} {}</p>{}{}{}'
    ).format(
        link(f"../{TRENDS}", TITLE),
        history.scenario,
        history.study,
        _span([history]),
        trend.KEY,
        words.RATE,
        sections,
        _results(history, reports),
        pages.data(downloads),
    )


def _figure(one: Judged, reports: Mapping[str, str]) -> Markup:
    notes = [note for note in (words.verdict(one), *one.notes) if note]
    return Markup('<section class="figure"><h2>{}</h2>{}{}{}</section>').format(
        one.line.title,
        html_blocks.block(Drawing(partial(trend.picture, one))),
        _EMPTY.join(_step(one, step, reports) for step in one.steps),
        _EMPTY.join(Markup("<p class='muted'>{}.</p>").format(_capital(note)) for note in notes),
    )


def _step(one: Judged, step: Step, reports: Mapping[str, str]) -> Markup:
    """A sentence, and the results on both sides."""
    sides = [_report(point, reports) for point in (step.before, step.after)]
    return Markup('<p class="step">{}{}.<br><small>between {} and {}</small></p>').format(
        _sign(step), _capital(words.sentence(one.line, step)), *sides
    )


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _report(point: Point, reports: Mapping[str, str]) -> Markup:
    """The result, with its report where the site has it."""
    name = Markup("<code>{}</code>").format(point.result)
    there = reports.get(entries.address(point.result.removesuffix(".json")))
    return link(f"../{there}", name) if there else name


def _results(history: History, reports: Mapping[str, str]) -> Markup:
    """A row per result, the newest first, with what changed there."""
    # Where a point is a result of a history that was imported, its name alone tells nothing apart.
    values = [
        {(point.result, point.at): point for point in one.line.points} for one in history.lines
    ]
    heads = [_heading(one) for one in history.lines]
    marks = history.marks()
    rows = []
    for point in reversed(history.results):
        key = (point.result, point.at)
        cells = _EMPTY.join(
            _cell(one, own.get(key)) for one, own in zip(history.lines, values, strict=True)
        )
        rows.append(
            Markup(
                '<tr><th scope="row">{}<small>{}</small></th>{}<td class="changed">{}</td></tr>'
            ).format(
                words.place(point),
                _report(point, reports),
                cells,
                Markup("<br>").join(_changed(marks.get(key, ()))),
            )
        )
    return Markup(
        '<section><h2>Results</h2><div class="scroll"><table class="scenarios history"><thead><tr>'
        '<th scope="col">Measured</th>{}<th scope="col">Changed here</th></tr></thead>'
        "<tbody>{}</tbody></table></div></section>"
    ).format(_EMPTY.join(heads), _EMPTY.join(rows))


def _heading(one: Judged) -> Markup:
    return Markup('<th class="num" scope="col">{}<small>{}</small></th>').format(
        one.line.title, one.line.unit.name
    )


def _cell(one: Judged, point: Point | None) -> Markup:
    if point is None:
        return Markup('<td class="num">{}</td>').format(NOTHING)
    unit = one.line.unit
    interval = ""
    if point.low is not None and point.high is not None:
        interval = f"{unit.figure(point.low)} to {unit.figure(point.high)}"
    return Markup('<td class="num">{}{}</td>').format(
        words.figure(one.line, point),
        Markup("<small>{}</small>").format(interval) if interval else _EMPTY,
    )


def _changed(steps: Sequence[tuple[str, Step]]) -> Iterator[Markup]:
    """Changes by their figures; what is another one of the machine or the load only once."""
    for title, step in steps:
        if step.kind in ("worse", "better"):
            yield _sign(step) + Markup("{} {}, {}").format(
                title, step.kind, words.share(step.ratio)
            )
    seen: set[str] = set()
    for _, step in steps:
        key = f"{step.kind}{step.differs}"
        if step.kind not in ("worse", "better") and key not in seen:
            seen.add(key)
            differs = f": {'; '.join(step.differs)}" if step.differs else ""
            yield _sign(step) + Markup("{}{}").format(words.kind(step), differs)

"""The page of results over time: a picture per scenario, and what was found, with links.

Pure: from lines that were judged to HTML; must not know sockets or where results are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from urllib.parse import quote

from markupsafe import Markup

from wiretrial.live import pages
from wiretrial.report import html_blocks
from wiretrial.report.blocks import Drawing
from wiretrial.report.trend import forms, points, words
from wiretrial.report.trend.found import Judged, Step
from wiretrial.report.views import trend

MOST = 20
"""Pictures on one page; the filter finds the others."""


def trends(found: Sequence[Judged], problems: Sequence[str], wanted: str, metric: str) -> str:
    """All lines; those that have each word of `wanted`, where there is one."""
    named = wanted.lower().split()
    chosen = [
        one
        for one in forms.ordered(found)
        if len(one.line.points) > 1
        and all(word in f"{one.line.study} {one.line.scenario}".lower() for word in named)
    ]
    shown, rest = chosen[:MOST], len(chosen) - MOST
    body = Markup("\n").join(_section(one) for one in shown)
    if not shown:
        body = Markup("<p>Nothing of this was measured more than once. {}</p>").format(
            Markup('<a href="trend">Show all</a>') if wanted or metric else ""
        )
    if rest > 0:
        body += Markup("<p>{} more lines: filter them.</p>").format(rest)
    options = Markup("").join(
        Markup('<option value="{}"{}>{}</option>').format(
            value, Markup(" selected") if value == metric else "", name
        )
        for value, name in (("", "what each is ranked by"), *((one, one) for one in points.FIGURES))
    )
    told = Markup("").join(Markup("<p class='muted'>{}</p>").format(one) for one in problems)
    frame = Markup(
        '<p><a href="./">All results</a></p><header><h1>Results over time</h1>'
        '<p class="question">{}</p></header>'
        '<form class="bar" action="trend"><input type="search" name="q" value="{}" '
        'placeholder="study or scenario" aria-label="Filter trends">'
        '<select name="metric" aria-label="Figure">{}</select><button>Show</button></form>'
        '<p class="key muted">{}</p>{}{}'
    )
    return pages.whole(
        "Results over time", frame.format(words.RATE, wanted, options, trend.KEY, told, body), ""
    )


def _section(one: Judged) -> Markup:
    line = one.line
    steps = Markup("").join(_step(one, step) for step in one.steps)
    notes = [note for note in (words.verdict(one), *one.notes) if note]
    told = Markup("").join(Markup("<p class='muted'>{}.</p>").format(note) for note in notes)
    picture = html_blocks.block(Drawing(partial(trend.picture, one)))
    return Markup('<section class="card"><h2>{}</h2>{}{}{}</section>').format(
        words.head(line), picture, steps, told
    )


def _step(one: Judged, step: Step) -> Markup:
    """A sentence, and where the results on both sides are."""
    links = Markup(" · ").join(_link(name) for name in (step.before.result, step.after.result))
    return Markup('<p class="step {}">{}.<br>{}</p>').format(
        step.kind, words.sentence(one.line, step), links
    )


def _link(name: str) -> Markup:
    return Markup('<a href="{}"><code>{}</code></a>').format(quote(name), name)

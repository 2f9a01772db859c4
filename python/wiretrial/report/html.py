"""The report as one HTML file that needs nothing else: no script, no font, no network.

Knows the order of the page; must not know how a view is made. Pictures are static SVG, drawn twice,
for the page and for a phone: they print, they need no script, and hovering adds figures by titles.
"""

from __future__ import annotations

from importlib.resources import files

from markupsafe import Markup

from wiretrial.report import palette
from wiretrial.report.canvas import NARROW, WIDE, Frame, Picture, inline_svg
from wiretrial.report.model import Group, ReportModel
from wiretrial.report.views import (
    alerts,
    bottlenecks,
    cost,
    factsheet,
    pairs,
    percentiles,
    ranking,
)

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
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


def render(model: ReportModel) -> str:
    """The whole page."""
    sections = (
        *(_ranking(group, model) for group in model.groups),
        _times(model),
        _cost(model),
        _section("Who was the bottleneck", bottlenecks.table(model), bottlenecks.marked(model)),
        _section("Warnings", alerts.items(model)),
        _section("Facts", _again(model), factsheet.sections(model)),
    )
    return str(
        Markup(_PAGE).format(
            title=model.title,
            style=Markup(_style()),
            question=model.question,
            verdict=_verdict(model),
            sections=Markup("\n").join(sections),
            data=factsheet.raw_data(model),
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
    return Markup('<div class="verdict">{}</div>').format(
        Markup("").join(Markup("<p>{}</p>").format(s) for s in model.verdict_sentences)
    )


def _section(title: str, *parts: Markup) -> Markup:
    return Markup("<section>\n<h2>{}</h2>\n{}\n</section>").format(title, Markup("\n").join(parts))


def _fold(summary: str, body: Markup) -> Markup:
    if not body:
        return body
    return Markup("<details><summary>{}</summary>{}</details>").format(summary, body)


def _both(wide: Picture, narrow: Picture) -> Markup:
    """The same picture for the page and for a phone; the style sheet shows one of them."""
    return Markup('<figure class="wide">{}</figure><figure class="narrow">{}</figure>').format(
        Markup(inline_svg(wide, "picture")), Markup(inline_svg(narrow, "picture"))
    )


def _ranking(group: Group, model: ReportModel) -> Markup:
    metric = group.contest.metric
    title = f"{metric.title}: {group.title}" if len(model.groups) > 1 else metric.title
    parts: list[Markup] = []
    if group.is_outside:
        title = f"{metric.title}: outside the verdict"
        parts.append(
            Markup(
                '<p class="muted">Measured in the same blocks and the same way, for orientation; '
                "compared with nothing, outside the verdict.</p>"
            )
        )
    if note := model.group_notes.get(group.title):
        parts.append(Markup("<p>{}</p>").format(note))
    if any(metric.key in scenario.estimates for scenario in group.scenarios):
        wide, narrow = (ranking.picture(group, Frame(width)) for width in (WIDE, NARROW))
        parts.append(_both(wide, narrow))
        parts.append(_key(group))
    else:
        parts.append(Markup("<p>No usable trial.</p>"))
    parts.append(_fold("Figures", ranking.table(group)))
    parts.append(_fold("Pair by pair", pairs.table(group)))
    return _section(title, *parts)


def _key(group: Group) -> Markup:
    """How to read the picture, in one line."""
    text = "Dot: median over trials. Line: 95 % interval. Small dots: trials."
    if any(row.is_marked for s in group.scenarios for row in s.trials):
        text += " Hollow: a marked trial."
    if group.contest.ranking.brackets:
        text += " A bar at the left joins places between which no difference is shown."
    if any(ranking.is_bound(s, group) for s in group.scenarios):
        text += " ≥: the generator was the limit in a trial, the server may do more."
    return Markup('<p class="key muted">{}</p>').format(text)


def _times(model: ReportModel) -> Markup:
    parts: list[Markup] = []
    unit = percentiles.unit_of(model)
    for group in model.groups:
        if not any(scenario.curve for scenario in group.scenarios):
            continue
        wide, narrow = (percentiles.picture(model, group, Frame(w)) for w in (WIDE, NARROW))
        name = "outside the verdict" if group.is_outside else group.title
        parts.append(
            Markup("<h3>{}, {}, log scale{}</h3>").format(
                percentiles.quantity(group), unit.name, f": {name}" if len(model.groups) > 1 else ""
            )
        )
        parts.append(_both(wide, narrow))
        parts.append(_fold("Figures", percentiles.table(model, group)))
    parts.append(
        Markup(
            '<p class="key muted">Line: median over trials. Band: their range. A line ends where '
            "fewer than ten messages of a trial lie beyond.</p>"
        )
    )
    open_loop = any(scenario.is_open_loop for scenario in model.scenarios)
    return _section("Response time" if open_loop else "Service time", *parts)


def _cost(model: ReportModel) -> Markup:
    figures = Markup("").join(
        Markup(
            '<figure><figcaption>{}<span class="muted">{}</span></figcaption>{}</figure>'
        ).format(
            panel.title,
            panel.note or "\u00a0",
            Markup(inline_svg(cost.picture(model, panel), "picture")),
        )
        for panel in cost.panels(model)
    )
    return _section(
        "Cost per message",
        Markup('<div class="panels">{}</div>').format(figures),
        _fold("Figures, with 95 % intervals", cost.table(model)),
    )


def _again(model: ReportModel) -> Markup:
    return Markup(
        "<p>Run it again: <code>{}</code></p><p class='muted'>This file holds all {} trials with "
        "their histograms, as gzipped JSON lines in base64, in its last script element.</p>"
    ).format(model.command, len(model.trials))

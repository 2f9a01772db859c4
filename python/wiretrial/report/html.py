"""The report as one HTML file that needs nothing else: no script, no font, no network.

Knows the order of the page; must not know how a view is made. Pictures are static SVG, drawn twice,
for the page and for a phone: they print, they need no script, and hovering adds figures by titles.
A site shows the same column in a page of its own (`content`, `kept`), with one style sheet for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from markupsafe import Markup

from wiretrial.report import brief, carried, html_blocks, page, palette, sent
from wiretrial.report.blocks import Section
from wiretrial.report.carried import Carried
from wiretrial.report.found import Found
from wiretrial.report.head import HEAD
from wiretrial.report.html_blocks import NOTHING, joined
from wiretrial.report.model import ReportModel

_PAGE = (
    HEAD
    + """<body>
<main>
{content}
</main>
{data}
</body>
</html>
"""
)
AGAIN = "Run it again"
_CONTENT = """<header>
<h1>{title}</h1>
<p class="question">{question}</p>
{sent}
{verdict}
</header>
{sections}"""


def render(model: ReportModel) -> str:
    """The whole page."""
    packed = carried.carry(model)
    return str(
        Markup(_PAGE).format(
            title=model.title,
            style=Markup(style()),
            content=content(model, _held(model, packed)),
            data=carried.raw_data(packed, model.document),
        )
    )


def content(model: ReportModel, note: Markup = NOTHING, answer: Sequence[str] = ()) -> Markup:
    """All that stands in the page's column; `note` tells where the trials are.

    `answer`: what somebody wrote in the place of our own, in short sentences.
    """
    *sections, facts = page.sections(model)
    return Markup(_CONTENT).format(
        title=model.title,
        question=model.question,
        sent=html_blocks.labelled(sent.rows(model)),
        verdict=_verdict(model, answer),
        sections=joined(
            [
                *map(html_blocks.section, sections),
                html_blocks.section(facts, _again(model.command), note),
            ]
        ),
    )


def kept(
    found: Found, title: str, question: str, answer: Sequence[str], pictures: Markup = NOTHING
) -> Markup:
    """The column of a study of which figures are kept, and no trials.

    `answer`: what they say together, in short sentences; without it every finding stands first.
    `pictures` stand below it.
    """
    whole = NOTHING.join(Markup("<p>{}</p>").format(text) for text in found.sentences)
    verdict = Markup('<div class="verdict">{}</div>').format(whole)
    if answer:
        short = NOTHING.join(Markup("<p>{}</p>").format(text) for text in answer)
        verdict = Markup('<div class="verdict">{}</div>{}').format(
            short, html_blocks.fold("Every finding in full", whole)
        )
    sections = (html_blocks.section(Section(one.title, one.blocks)) for one in found.sections)
    return Markup(_CONTENT).format(
        title=title,
        question=question,
        sent="",
        verdict=verdict,
        sections=joined([pictures, *sections, _again(found.command)]),
    )


def plain(
    title: str,
    question: str,
    verdict: Sequence[str],
    sections: Sequence[Section],
    command: str,
    document: str,
    facts: Iterable[tuple[str, str]] = (),
    again: str = AGAIN,
) -> str:
    """A page of something else than trials, with its document as data.

    `facts`: what the verdict rests on, each with its label, in a small table below it. `again`:
    what the command does.
    """
    lines = NOTHING.join(Markup("<p>{}</p>").format(text) for text in verdict)
    told = [html_blocks.section(one) for one in sections if one.blocks]
    below = html_blocks.labelled(rows) if (rows := list(facts)) else NOTHING
    # In a script element only its end could be taken for markup.
    data = Markup('<script type="application/json" id="document">\n{}</script>').format(
        Markup(document.replace("<", "\\u003c"))
    )
    return str(
        Markup(_PAGE).format(
            title=title,
            style=Markup(style()),
            content=Markup(_CONTENT).format(
                title=title,
                question=question,
                sent="",
                verdict=Markup('<div class="verdict">{}</div>').format(lines) + below,
                sections=joined([*told, _again(command, again)]),
            ),
            data=data,
        )
    )


def style() -> str:
    """The style sheet, with the inks of the pictures turned for the dark."""
    sheet = files("wiretrial.report").joinpath("assets/report.css").read_text("utf-8")
    turned = "".join(
        f'svg.picture [{attribute}="{light}"]{{{attribute}:{dark}}}\n'
        for light, dark in palette.DARK.items()
        for attribute in ("fill", "stroke")
    )
    return f"{sheet}@media screen and (prefers-color-scheme: dark){{\n{turned}}}\n"


def _verdict(model: ReportModel, written: Sequence[str] = ()) -> Markup:
    """The answer in a few lines; every sentence behind a fold."""
    muted = model.muted_sentences
    found = model.all_sentences[: -len(muted)]
    whole = [
        *(Markup("<p>{}</p>").format(text) for text in found),
        *(Markup('<p class="aside">{}</p>').format(text) for text in muted),
    ]
    if model.is_run:
        return Markup('<div class="verdict">{}</div>').format(NOTHING.join(whole))
    *answer, limit = brief.answer(model, brief.WIDTH)
    lines = [Markup("<p>{}</p>").format(text) for text in written or answer]
    lines.append(Markup('<p class="aside">{}</p>').format(limit))
    return Markup('<div class="verdict">{}</div>{}').format(
        NOTHING.join(lines), html_blocks.fold("Every finding in full", NOTHING.join(whole))
    )


def _again(command: str, told: str = AGAIN) -> Markup:
    return Markup("<p>{}: <code>{}</code></p>").format(told, command)


def _held(model: ReportModel, carried: Carried) -> Markup:
    """Where in the file its trials are."""
    held, its = f"all {carried.count:,} trials", "their"
    if carried.count == 1:
        held, its = "the trial", "its"
    rest = "load's file" if model.is_run else "folder of the results"
    histograms = f"{its} histograms"
    if carried.histograms != "all":
        kind = "outlines of the histograms" if carried.histograms == "outlined" else "histograms"
        windows = "window" if carried.count == 1 else "windows"
        histograms = f"the {kind} of {its} {windows} (the {rest} has every interval's)"
    return Markup(
        "<p class='muted'>This file holds {} with "
        "{}, as JSON lines in xz and base64, in its last script element.</p>"
    ).format(held, histograms)

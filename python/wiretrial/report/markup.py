"""The page's building blocks: sections, folded parts, figures in two widths, small multiples.

Knows HTML's elements; must not know what they hold.
"""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from wiretrial.report.canvas import Picture, inline_svg

NOTHING = Markup("")
_NO_NOTE = "\u00a0"


def section(title: str, *parts: Markup) -> Markup:
    """A titled part of the page; nothing where it has no content."""
    if not any(parts):
        return NOTHING
    return Markup("<section>\n<h2>{}</h2>\n{}\n</section>").format(title, joined(parts))


def joined(parts: Iterable[Markup]) -> Markup:
    """The parts that there are, one below the other."""
    return Markup("\n").join(part for part in parts if part)


def fold(summary: str, *parts: Markup) -> Markup:
    """A part that opens when it is asked for."""
    if not any(parts):
        return NOTHING
    return Markup("<details><summary>{}</summary>{}</details>").format(summary, joined(parts))


def heading(text: str) -> Markup:
    """A heading within a section."""
    return Markup("<h3>{}</h3>").format(text)


def key(text: str) -> Markup:
    """How to read a picture, in one line."""
    return Markup('<p class="key muted">{}</p>').format(text)


def both(wide: Picture, narrow: Picture) -> Markup:
    """The same picture for the page and for a phone; the style sheet shows one of them."""
    return Markup('<figure class="wide">{}</figure><figure class="narrow">{}</figure>').format(
        Markup(inline_svg(wide, "picture")), Markup(inline_svg(narrow, "picture"))
    )


def panels(captioned: Iterable[tuple[str, str, Picture]]) -> Markup:
    """Small multiples, as many beside each other as there is room for: title, note, picture."""
    rows = list(captioned)
    if not rows:
        return NOTHING
    noted = any(note for _, note, _ in rows)
    figures = (
        Markup("<figure><figcaption>{}{}</figcaption>{}</figure>").format(
            title,
            Markup('<span class="muted">{}</span>').format(note or _NO_NOTE) if noted else NOTHING,
            Markup(inline_svg(picture, "picture")),
        )
        for title, note, picture in rows
    )
    return Markup('<div class="panels">{}</div>').format(Markup("").join(figures))

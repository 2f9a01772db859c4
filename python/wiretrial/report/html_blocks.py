"""Blocks as HTML: sections, tables, folded parts, pictures in two widths, small multiples.

Knows HTML's elements; must not know what the blocks say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch

from markupsafe import Markup

from wiretrial.report import palette
from wiretrial.report.blocks import (
    SIGNS,
    Block,
    Cell,
    Column,
    Drawing,
    Fold,
    Item,
    Items,
    Panels,
    Section,
    Swatches,
    Table,
    Text,
    key,
)
from wiretrial.report.canvas import NARROW, WIDE, Frame, inline_svg

NOTHING = Markup("")
_NO_NOTE = "\u00a0"
_BREAK = Markup("<br>")
_TEXTS = {
    "": Markup("<p>{}</p>"),
    "heading": Markup("<h3>{}</h3>"),
    "key": Markup('<p class="key muted">{}</p>'),
}
_SAID = frozenset({"best", "worst"})
"""Marks that no word of the cell says."""


def section(part: Section, *more: Markup) -> Markup:
    """A titled part of the page, and what else stands in it."""
    inside = joined([*(block(one) for one in part.blocks), *more])
    return Markup("<section>\n<h2>{}</h2>\n{}\n</section>").format(part.title, inside)


def joined(parts: Iterable[Markup]) -> Markup:
    """The parts that there are, one below the other."""
    return Markup("\n").join(part for part in parts if part)


def fold(summary: str, inside: Markup) -> Markup:
    """A part that opens when it is asked for."""
    return Markup("<details><summary>{}</summary>{}</details>").format(summary, inside)


@singledispatch
def block(one: Block) -> Markup:
    """Any block."""
    raise TypeError(one)


@block.register
def _(one: Text) -> Markup:
    return _TEXTS[one.style].format(one.text)


@block.register
def _(one: Fold) -> Markup:
    return fold(one.title, joined(block(part) for part in one.blocks))


@block.register
def _(one: Items) -> Markup:
    return Markup('<ul class="items">{}</ul>').format(NOTHING.join(map(_item, one.items)))


@block.register
def _(one: Drawing) -> Markup:
    wide, narrow = (
        Markup(inline_svg(one.draw(Frame(width)), "picture")) for width in (WIDE, NARROW)
    )
    both = Markup('<figure class="wide">{}</figure><figure class="narrow">{}</figure>')
    return joined([both.format(wide, narrow), *_below(one)])


@block.register
def _(one: Panels) -> Markup:
    noted = any(panel.note for panel in one.panels)
    figures = (
        Markup("<figure><figcaption>{}{}</figcaption>{}</figure>").format(
            panel.title,
            Markup('<span class="muted">{}</span>').format(panel.note or _NO_NOTE)
            if noted
            else NOTHING,
            Markup(inline_svg(panel.draw(), "picture")),
        )
        for panel in one.panels
    )
    shown = Markup('<div class="panels">{}</div>').format(NOTHING.join(figures))
    return joined([shown, *_below(one)])


@block.register
def _(one: Swatches) -> Markup:
    names = (Markup("{}{}").format(swatch(colour), name) for colour, name in one.names)
    return Markup('<p class="key">{}</p>').format(Markup(" ").join(names))


@block.register
def _(one: Table) -> Markup:
    head = NOTHING.join(map(_head, one.columns))
    last = len(one.rows) - 1
    rows = (
        Markup("<tr{}>{}</tr>").format(
            Markup(' class="floor"') if one.has_floor and number == last else NOTHING,
            NOTHING.join(map(_cell, one.columns, row)),
        )
        for number, row in enumerate(one.rows)
    )
    titled = any(column.title for column in one.columns)
    return Markup('<div class="scroll"><table>{}<tbody>{}</tbody></table></div>').format(
        Markup("<thead><tr>{}</tr></thead>").format(head) if titled else NOTHING,
        NOTHING.join(rows),
    )


def labelled(rows: Iterable[tuple[str, str]]) -> Markup:
    """Label and text, line by line, in a box."""
    lines = (Markup('<tr><th scope="row">{}</th><td>{}</td></tr>').format(*row) for row in rows)
    return Markup('<table class="sent"><tbody>{}</tbody></table>').format(NOTHING.join(lines))


def swatch(colour: int) -> Markup:
    """A mark in the colour of the label at that place of the palette."""
    return Markup('<span class="swatch {}" style="background:{}"></span>').format(
        palette.shape(colour), palette.css(palette.scenario(colour))
    )


def _item(item: Item) -> Markup:
    mark = NOTHING if item.colour is None else swatch(item.colour)
    if not item.is_sentence:
        return Markup("<li>{}{}</li>").format(mark, item.line)
    return Markup(
        '<li><p>{}<strong>{}</strong> <span class="muted">{}</span></p><p>{}</p></li>'
    ).format(mark, item.text, item.aside, item.rest)


def _below(one: Drawing | Panels) -> Iterator[Markup]:
    """How to read a picture, and its figures."""
    if one.key:
        yield block(key(one.key))
    if one.table is not None:
        yield fold("Figures", block(one.table))


def _head(column: Column) -> Markup:
    style = Markup(' class="num"') if column.is_figure else NOTHING
    return Markup("<th{}>{}</th>").format(style, _BREAK.join(column.title.split("\n")))


def _cell(column: Column, cell: Cell) -> Markup:
    style = " ".join(filter(None, ("num" if column.is_figure else "", cell.mark)))
    return Markup("<td{}>{}{}{}{}{}</td>").format(
        Markup(' class="{}"').format(style) if style else NOTHING,
        NOTHING if cell.colour is None else swatch(cell.colour),
        Markup('<span class="mark" aria-hidden="true">{}</span> ').format(SIGNS[cell.mark])
        if cell.mark
        else NOTHING,
        cell.text,
        Markup('<span class="said"> ({})</span>').format(cell.mark)
        if cell.mark in _SAID
        else NOTHING,
        Markup("<small>{}</small>").format(_BREAK.join(cell.aside)) if cell.aside else NOTHING,
    )

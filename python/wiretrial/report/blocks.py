"""What a report is made of: sections of text, tables and pictures, as values.

Knows what is said and shown; must not know where: a page, a terminal and Markdown each render the
same blocks, and a study's kept result stores them. A picture is drawn when a page asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from wiretrial.report.canvas import Frame, Picture

NOTHING = "–"
"""A cell without a figure."""

Mark = Literal["", "best", "worst", "stalled", "yes", "no", "known", "untold", "absent"]
"""A sign and a colour beside a cell's text; from `yes` on, the verdict on a claim."""
SIGNS: Final[Mapping[Mark, str]] = {
    "": "",
    "best": "▲",
    "worst": "▼",
    "stalled": "✗",
    "yes": "✓",
    "no": "✗",
    "known": "=",
    "untold": "?",
    "absent": "–",
}


@dataclass(frozen=True)
class Cell:
    """One cell. `value`, `low` and `high`: the figure and its interval in base units."""

    text: str
    aside: tuple[str, ...] = ()
    """What stands small below it, or in brackets behind it; a narrow terminal leaves out those of
    figures."""
    mark: Mark = ""
    colour: int | None = None
    """Place in the palette of the mark before the text; None: no mark."""
    value: float | None = None
    low: float | None = None
    high: float | None = None


NO_FIGURE: Final = Cell(NOTHING)


@dataclass(frozen=True)
class Column:
    """One column. Lines of the title stand below each other where there is room."""

    title: str
    is_figure: bool = True
    """Figures stand right, and are never wrapped; words stand left."""
    is_spare: bool = False
    """Left out where the terminal is too narrow, instead of going into a second table."""


@dataclass(frozen=True)
class Table:
    """Rows of cells. The first `names` columns say whose each row is."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: int = 1
    has_floor: bool = False
    """The last row is what arithmetic gives, no subject's."""

    def part(self, shown: Sequence[int]) -> Table:
        """The same with these columns alone."""
        return replace(
            self,
            columns=tuple(self.columns[index] for index in shown),
            rows=tuple(tuple(row[index] for index in shown) for row in self.rows),
        )


@dataclass(frozen=True)
class Text:
    """A paragraph. A heading stands above what it is for, a key says how to read what is above."""

    text: str
    style: Literal["", "heading", "key"] = ""
    is_detail: bool = False
    """In the page alone."""


@dataclass(frozen=True)
class Item:
    """One entry of a list: what, of whom, and what to do or why."""

    text: str
    aside: str = ""
    rest: str = ""
    colour: int | None = None

    @property
    def is_sentence(self) -> bool:
        """Whether the text is whole by itself, so that the rest is a second sentence."""
        return self.text.endswith(".")

    @property
    def line(self) -> str:
        """All of it in one line."""
        whole = f"{self.text} ({self.aside})" if self.aside else self.text
        between = " " if self.is_sentence else ": "
        return f"{whole}{between}{self.rest}" if self.rest else whole


@dataclass(frozen=True)
class Items:
    """A list. `label` stands before each entry in a terminal; the page has all of them."""

    label: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Drawing:
    """A picture over the whole column, how to read it, and its figures as a table."""

    draw: Callable[[Frame], Picture]
    table: Table | None = None
    key: str = ""


@dataclass(frozen=True)
class Panel:
    """One of several small pictures."""

    title: str
    draw: Callable[[], Picture]
    note: str = ""


@dataclass(frozen=True)
class Panels:
    """Small pictures beside each other, how to read them, and their figures as a table."""

    panels: tuple[Panel, ...]
    table: Table | None = None
    key: str = ""


@dataclass(frozen=True)
class Swatches:
    """Which colour is whose, for pictures without names."""

    names: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Fold:
    """A part that opens when it is asked for: in the page alone."""

    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = Text | Table | Items | Drawing | Panels | Swatches | Fold
Told: TypeAlias = Text | Table | Items
"""What needs no picture: all that a terminal, Markdown and the kept result show."""


@dataclass(frozen=True)
class Section:
    """A titled part of the report. `is_detail`: in the page alone."""

    title: str
    blocks: tuple[Block, ...]
    is_detail: bool = False


def heading(text: str) -> Text:
    """A heading within a section."""
    return Text(text, "heading")


def key(text: str) -> Text:
    """How to read the table above."""
    return Text(text, "key")


def fold(title: str, *blocks: Block | None) -> tuple[Fold, ...]:
    """The part, where there is anything in it."""
    known = tuple(block for block in blocks if block is not None)
    return (Fold(title, known),) if known else ()


def words(*titles: str) -> tuple[Column, ...]:
    """Columns of words."""
    return tuple(Column(title, is_figure=False) for title in titles)


def figures(*titles: str) -> tuple[Column, ...]:
    """Columns of figures."""
    return tuple(Column(title) for title in titles)


def plain(rows: Sequence[Sequence[str]]) -> tuple[tuple[Cell, ...], ...]:
    """Rows of cells that are nothing but text."""
    return tuple(tuple(Cell(text) for text in row) for row in rows)

"""The report as Markdown, for a pull request: the answer, then the tables of the page.

Knows Markdown's tables and lists; must not know what they say, or how wide a reader's screen is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wiretrial.report import brief, page, sent
from wiretrial.report.blocks import SIGNS, Cell, Items, Section, Table, Text, Told
from wiretrial.report.model import ReportModel
from wiretrial.report.shown import told


def render(model: ReportModel) -> str:
    """The whole text."""
    return "\n\n".join(_parts(model)) + "\n"


def sections(shown: Iterable[Section]) -> Iterator[str]:
    """Their tables and texts, each section under a heading."""
    for section in shown:
        if blocks := told(section):
            yield f"### {_text(section.title)}"
            yield from map(_block, blocks)


def _parts(model: ReportModel) -> Iterator[str]:
    yield f"## {_text(model.title)}"
    yield "\n".join(f"- {label}: {_text(text)}" for label, text in sent.rows(model))
    if model.is_run:
        yield from map(_text, model.all_sentences)
    else:
        yield "\n".join(f"- {_text(line)}" for line in brief.answer(model, brief.WIDTH))
        whole = "\n\n".join(map(_text, model.all_sentences))
        yield f"<details><summary>Every finding in full</summary>\n\n{whole}\n\n</details>"
    yield from sections(page.sections(model))
    yield f"Run it again: `{model.command}`"


def _block(block: Told) -> str:
    match block:
        case Text(text=text, style=style):
            return f"**{_text(text)}**" if style == "heading" else _text(text)
        case Items(items=items):
            return "\n".join(f"- {_text(item.line)}" for item in items)
        case Table():
            return _table(block)


def _table(table: Table) -> str:
    heads = (_text(column.title.replace("\n", ", ")) for column in table.columns)
    edges = ("---:" if column.is_figure else "---" for column in table.columns)
    rows = (map(_cell, row) for row in table.rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, edges, *rows))


def _cell(cell: Cell) -> str:
    sign = f"{SIGNS[cell.mark]} " if cell.mark else ""
    aside = f" ({'; '.join(cell.aside)})" if cell.aside else ""
    return _text(f"{sign}{cell.text}{aside}")


def _text(text: str) -> str:
    """So that a name can't become a table's edge or an element."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")

"""The report as Markdown, for a pull request: the answer, then the tables of the page.

Knows Markdown's tables and lists; must not know what they say, or how wide a reader's screen is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wiretrial.report import brief, cells, page, sent
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
            yield f"### {cells.text(section.title)}"
            yield from map(_block, blocks)


def _parts(model: ReportModel) -> Iterator[str]:
    yield f"## {cells.text(model.title)}"
    yield "\n".join(f"- {label}: {cells.text(text)}" for label, text in sent.rows(model))
    if model.is_run:
        yield from map(cells.text, model.all_sentences)
    else:
        yield "\n".join(f"- {cells.text(line)}" for line in brief.answer(model, brief.WIDTH))
        whole = "\n\n".join(map(cells.text, model.all_sentences))
        yield f"<details><summary>Every finding in full</summary>\n\n{whole}\n\n</details>"
    yield from sections(page.sections(model))
    yield f"Run it again: `{model.command}`"


def _block(block: Told) -> str:
    match block:
        case Text(text=text, style=style):
            return f"**{cells.text(text)}**" if style == "heading" else cells.text(text)
        case Items(items=items):
            return "\n".join(f"- {cells.text(item.line)}" for item in items)
        case Table():
            return _table(block)


def _table(table: Table) -> str:
    heads = [cells.text(column.title.replace("\n", ", ")) for column in table.columns]
    figures = [place for place, column in enumerate(table.columns) if column.is_figure]
    rows = ([_cell(cell) for cell in row] for row in table.rows)
    return "\n".join(cells.table(heads, rows, figures))


def _cell(cell: Cell) -> str:
    sign = f"{SIGNS[cell.mark]} " if cell.mark else ""
    aside = f" ({'; '.join(cell.aside)})" if cell.aside else ""
    return cells.text(f"{sign}{cell.text}{aside}")

"""A page as plain lines: what a reader reads of it, whatever elements carry it.

Knows HTML; must not know reports. A heading keeps its level, a table's row is a line of cells,
a picture is the sentence that describes it. What the page only carries (trials, style) is left out.
Of a long table that is folded away the first rows stand for all, and of a long cell its beginning.
"""

from __future__ import annotations

from html.parser import HTMLParser

SILENT = frozenset({"head", "script", "style", "svg"})
"""Elements whose text is not read."""
LINES = {
    "h1": "# ",
    "h2": "## ",
    "h3": "### ",
    "figcaption": "",
    "li": "- ",
    "p": "",
    "summary": "+ ",
    "tr": "",
}
"""Elements that are a line each, with what stands before it."""
CELLS = frozenset({"td", "th"})
VOID = frozenset({"br", "meta"})
BETWEEN_CELLS = " | "
MOST_FOLDED = 6
"""Rows of a folded table, beside its head."""
LONGEST = 200
"""Characters of a cell."""


def lines(source: str) -> list[str]:
    """The page's text, a line per heading, paragraph, row and picture."""
    page = _Page()
    page.feed(source)
    page.close()
    page.end_line()
    return page.lines


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._before = ""
        self._cells: list[str] = [""]
        self._silent: list[str] = []
        self._folds = 0
        self._rows = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if self._silent:
            # A silent element ends with its own tag, however many of its kind lie within.
            if tag == self._silent[-1]:
                self._silent.append(tag)
            return
        if tag == "svg":
            self.end_line()
            self._cells[-1] = f"[{attributes['aria-label']}]"
            self.end_line()
        if tag in SILENT or attributes.get("class") == "narrow":
            self._silent.append(tag)
        elif tag in LINES:
            self.end_line()
            self._before = LINES[tag]
            self._rows += tag == "tr"
        elif tag == "table":
            self._rows = 0
        elif tag == "details":
            self._folds += 1
        elif tag in CELLS:
            self._cells.append("")
        elif tag in VOID or tag == "small" or attributes.get("class") == "muted":
            self._cells[-1] += " "

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.pop()
        elif tag in LINES:
            self.end_line(is_row=tag == "tr")
        elif tag == "details":
            self._folds -= 1
        elif tag == "table" and (more := self._rows - MOST_FOLDED - 1) > 0 and self._folds:
            self.lines.append(f"({more} more)")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._cells[-1] += data

    def end_line(self, *, is_row: bool = False) -> None:
        """What was read since the last line's end becomes a line, if it is anything."""
        cells = [" ".join(cell.split()) for cell in self._cells]
        if is_row:
            cells = [cell[:LONGEST] for cell in cells]
        # The first is what stands outside of any cell.
        told = cells if cells[0] or len(cells) == 1 else cells[1:]
        is_kept = not (is_row and self._folds and self._rows > MOST_FOLDED + 1)
        if any(told) and is_kept:
            self.lines.append(f"{self._before}{BETWEEN_CELLS.join(told)}".rstrip())
        self._before, self._cells = "", [""]

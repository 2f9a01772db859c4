"""Markdown as GitHub renders it: what stands in a cell is what was meant, and no more."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.cli.test_junit import ROWS
from tests.publish.conftest import demo
from wiretrial.cli import comparing_verdict, gating
from wiretrial.report import cells

RENDERED = MarkdownIt("gfm-like", {"linkify": False})


class _Page(HTMLParser):
    """Rows of cells, and all elements that are none of a table."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.others: list[str] = []
        self.edges: list[str | None] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
            if tag == "th":
                self.edges.append(dict(attrs).get("style"))
        elif tag not in ("table", "thead", "tbody"):
            self.others.append(tag)

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip("\n")


def page(lines: list[str]) -> _Page:
    return _Page(RENDERED.render("\n".join(lines)))


@pytest.mark.parametrize(
    "said",
    [
        "a|b",
        "it <b>ended</b> at its start",
        "exit *status* 2",
        "_private_ and snake_case",
        "./mine*",
        "1 < 2 && 3 > 2",
    ],
)
def test_a_name_is_shown_as_it_is(said: str) -> None:
    shown = page(cells.table(("scenario", "found"), [(cells.name(said), "1")]))
    assert shown.rows == [["scenario", "found"], [said, "1"]]
    assert shown.others == []


def test_code_stays_code_and_a_url_is_no_link() -> None:
    shown = page(cells.table(("a", "b"), [(cells.text("`p99 <= 2ms @ a|b_*`"), "")]))
    assert (shown.rows[1][0], shown.others) == ("p99 <= 2ms @ a|b_*", ["code"])
    shown = page(cells.table(("a", "b"), [(cells.name("http://127.0.0.1:8080/a_b"), "")]))
    assert (shown.rows[1][0], shown.others) == ("http://127.0.0.1:8080/a_b", ["code"])


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_a_row_stays_one_row(said: str) -> None:
    lines = cells.table(("a", "b"), [(cells.text(said), "end"), ("next", "end")])
    assert len(lines) == 4
    assert all("\n" not in line and "\x1b" not in line for line in lines)


def test_a_summary_has_its_tables_and_figures_to_the_right() -> None:
    found = page([*comparing_verdict.summary(demo(), ROWS)])
    heads = [row for row in found.rows if row[0] in ("server", "bound")]
    assert [len(head) for head in heads] == [5, 4]
    right = [style == "text-align:right" for style in found.edges]
    assert right == [False, False, True, True, True, False, False, False, False]
    (missing,) = [row for row in found.rows if "❌ missing" in row]
    assert missing[1:] == ["./mine", "❌ missing", "it was asked for and has no figure"]
    assert set(found.others) <= {"h3", "p", "strong", "code"}
    assert "3 ms & <more>" in unescape(gating.as_markdown(ROWS))

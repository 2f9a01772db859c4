"""What a page of the site names: what a browser loads for it, where its links lead.

Knows HTML and CSS; must not know what the site is about.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

LOADED = {"src", "srcset", "data", "poster", "action"}
"""Attributes that a browser loads from, or sends to."""
IN_STYLE = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


class Names(HTMLParser):
    """The addresses and anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self._style = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        for name, value in attrs:
            if value is None:
                continue
            if name in LOADED or (name == "href" and tag == "link"):
                self.loaded.append(value)
            elif name == "href":
                self.links.append(value)
            elif name in {"id", "name"}:
                self.anchors.add(value)
            elif name == "style":
                self.loaded += in_style(value)

    def handle_endtag(self, tag: str) -> None:
        self._style = self._style and tag != "style"

    def handle_data(self, data: str) -> None:
        if self._style:
            self.loaded += in_style(data)


def in_style(text: str) -> list[str]:
    """What CSS loads."""
    return [named or imported for named, imported in IN_STYLE.findall(text)]


def names(page: Path) -> Names:
    """The addresses and anchors of the page at a path."""
    return Names(page.read_text(encoding="utf-8"))

"""Words and rows of Markdown, as GitHub renders it: a name is shown as it is, wherever it stands.

Pure; must not know what is told.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

_CODE = re.compile(r"(`+[^`]*`+)")
_UNDERLINE = re.compile(r"(?<!\w)_|_(?!\w)")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def text(said: str) -> str:
    """On one line, so that nothing in it becomes an element, stress or a table's edge. What stands
    between backticks stays code."""
    one_line = _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", " ".join(said.split("\n")))
    parts = _CODE.split(one_line)
    parts[::2] = [_UNDERLINE.sub(r"\\_", part.replace("*", r"\*")) for part in parts[::2]]
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "".join(parts).replace("|", r"\|")


def name(called: str) -> str:
    """A name. A URL is code: a link to somebody's own machine leads nowhere."""
    return text(f"`{called}`" if "://" in called and "`" not in called else called)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], figures: Collection[int] = ()
) -> list[str]:
    """The lines of a table whose cells are Markdown already. `figures`: columns of numbers."""
    edges = ["---:" if place in figures else "---" for place in range(len(heads))]
    return [f"| {' | '.join(cells)} |" for cells in (heads, edges, *rows)]

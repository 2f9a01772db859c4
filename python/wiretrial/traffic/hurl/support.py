"""The table of what is supported of Hurl, for `docs/traffic.md`.

Knows Markdown; what is supported stands in `words`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wiretrial.traffic.hurl.words import TABLE, Family, Word

_HEADINGS = {
    Family.SECTION: "Sections",
    Family.OPTION: "Options",
    Family.BODY: "Bodies",
    Family.QUERY: "Queries",
    Family.FILTER: "Filters",
    Family.PREDICATE: "Predicates",
    Family.FUNCTION: "Functions in `{{}}`",
}


def markdown() -> str:
    """The supported words with what they do, then the others with what to write instead."""
    return "\n".join([*_supported(), "", *_refused()]) + "\n"


def _supported() -> Iterator[str]:
    yield "| supported | what it does here |"
    yield "|---|---|"
    for family, heading in _HEADINGS.items():
        yield f"| **{heading}** | |"
        for row in _rows(family, is_supported=True):
            yield f"| {_code(row)} | {_cell(row.note)} |"


def _refused() -> Iterator[str]:
    yield "| refused | what to write instead |"
    yield "|---|---|"
    for family, heading in _HEADINGS.items():
        remedies: dict[str, list[str]] = {}
        for row in _rows(family, is_supported=False):
            remedies.setdefault(row.remedy or "", []).append(_code(row))
        if remedies:
            yield f"| **{heading}** | |"
        for remedy, words in remedies.items():
            yield f"| {', '.join(words)} | {_cell(remedy)} |"


def _rows(family: Family, *, is_supported: bool) -> Iterator[Word]:
    return (row for row in TABLE if row.family is family and row.is_supported is is_supported)


def _code(row: Word) -> str:
    word = f"[{row.word}]" if row.family is Family.SECTION else row.word
    # A fence is longer than what it encloses has of them.
    longest = max((len(run) for run in re.findall("`+", word)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{word}{space}{fence}"


def _cell(text: str) -> str:
    """Backticks are what they are: the fences of the format, not of a page."""
    return text.replace("|", "\\|").replace("```", "\\`\\`\\`")

"""Published / here: what others found beside what was found here, and a verdict per claim.

Knows judged claims; must not know how a table is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import figure_words
from wiretrial.report.blocks import NOTHING, Cell, Mark, Table, figures, words
from wiretrial.report.claims import ClaimRow, Verdict

TITLE = "Published / here"

MARKS: dict[Verdict, Mark] = {
    "reproduced": "yes",
    "not reproduced": "no",
    "arithmetic": "known",
    "cannot be told": "untold",
    "not measured here": "absent",
}


def table(rows: Sequence[ClaimRow]) -> Table:
    """A row per claim."""
    return Table((*words("Published"), *figures("There", "Here"), *words("Verdict")), _rows(rows))


def _rows(rows: Sequence[ClaimRow]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (
            Cell(row.text, aside=(f"{row.source}; {_metric(row)}",)),
            Cell(row.published),
            Cell(ratio(row)),
            Cell(row.verdict, aside=(row.why,), mark=MARKS[row.verdict]),
        )
        for row in rows
    )


def ratio(row: ClaimRow) -> str:
    """Our ratio with its interval."""
    return NOTHING if row.here is None else figure_words.interval_ratio(row.here)


def _metric(row: ClaimRow) -> str:
    title = row.metric.title
    return f"{title[:1].lower()}{title[1:]}" if title[1:2].islower() else title

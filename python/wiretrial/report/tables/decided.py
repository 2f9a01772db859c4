"""The declared contrasts that show a difference, a row each.

Knows the declared contrasts of a report; must not know how a table is drawn. A ranking compares all
with the best, or with one baseline; what a study declared between others has its ratio here.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import declared
from wiretrial.report.blocks import NO_FIGURE, Block, Cell, Table, Text, figures, fold, key, words
from wiretrial.report.declared import Contrast
from wiretrial.report.model import ReportModel
from wiretrial.report.tables import cells

TITLE = "Declared contrasts that show a difference"
FEWEST = 4
"""Fewer contrasts are told by the sentences of the report."""
MOST_ROWS = 40
"""More are in the page alone."""
KEY = (
    "Ratio: of the first to the second. Which rows stand here is adjusted for the number of"
    " contrasts (Holm); the intervals are not."
)


def section(model: ReportModel) -> tuple[Block, ...]:
    """Those in the metrics that rank first, and alone where all are too many.

    Empty where little is declared or nothing is shown.
    """
    known = declared.inside(model.families, model.baselines)
    every = [one for one in known if one.pair.comparison]
    shown = [one for one in every if one.pair.winner is not None]
    if len(every) < FEWEST or not shown:
        return ()
    ordered = sorted(shown, key=lambda one: not one.is_ranked)
    ranked = [one for one in ordered if one.is_ranked]
    first = (ordered if len(ordered) <= MOST_ROWS else ranked or ordered)[:MOST_ROWS]
    rest = ordered[len(first) :]
    said = Text(_sentence(every))
    if not rest:
        return (said, _table(first), key(KEY))
    more = f" {len(rest)} more are in the HTML report alone."
    return (said, _table(first), *fold("The others", _table(rest)), key(KEY + more))


def _sentence(every: Sequence[Contrast]) -> str:
    """How many there are in the metrics that rank, and beside them."""
    shares = [
        f"{sum(one.pair.winner is not None for one in own)} of {len(own)}"
        for is_ranked in (True, False)
        if (own := [one for one in every if one.is_ranked is is_ranked])
    ]
    if len(shares) == 1:
        return f"{shares[0]} declared contrasts show one."
    ranked, beside = shares
    return (
        f"{ranked} declared contrasts show one in the metric that ranks, and {beside} in the one"
        " beside it."
    )


def _table(told: Sequence[Contrast]) -> Table:
    columns = (*words("Contrast", "Workload", "Metric"), *figures("Ratio"))
    return Table(columns, tuple(map(_row, told)))


def _row(one: Contrast) -> tuple[Cell, ...]:
    found = one.pair.comparison
    ratio = cells.compared(found) if found else NO_FIGURE
    return (Cell(one.name), Cell(one.where), Cell(one.pair.metric.title), ratio)

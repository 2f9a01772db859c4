"""One figure over a load that grows: a row per level, a column per label.

Knows strips and what was offered; must not know how a table is drawn.
"""

from __future__ import annotations

from wiretrial.report import metrics
from wiretrial.report.blocks import Cell, Column, Table, words
from wiretrial.report.families import Family, Strip, unit_of
from wiretrial.report.metrics import Metric
from wiretrial.report.tables import cells

MAXIMUM = "Theoretical maximum"


def table(family: Family, strip: Strip, metric: Metric) -> Table:
    """The figure at each level of the strip; beside throughput, what was offered there."""
    unit = unit_of(strip.groups, metric)
    has_maximum = metric is metrics.THROUGHPUT
    rows = []
    for group in strip.groups:
        found = [family.of(label, group) for label in family.labels]
        row = [Cell(family.level(group)), *(cells.of(one, metric, unit) for one in found)]
        if has_maximum:
            offered = group.scenarios[0].offered or 0.0
            row.append(Cell(unit.figure(offered), value=offered))
        rows.append(tuple(row))
    corner = cells.column(metric, unit, family.what).title
    heads = [*map(Column, family.labels), *([Column(MAXIMUM)] if has_maximum else [])]
    return Table((*words(corner), *heads), tuple(rows))

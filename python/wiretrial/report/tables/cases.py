"""A time per case as tables: a row per subject, a column per case, its floor below.

Knows the cases and how their marks are read; must not know how a table is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import case_tables, figure_words, units
from wiretrial.report.blocks import NO_FIGURE, SIGNS, Cell, Column, Table, Text, key, words
from wiretrial.report.case_tables import CaseTable, time_words


def table(found: CaseTable) -> Table:
    """One of a family's tables."""
    heads = (Column("\n".join(column.head)) for column in found.columns)
    rows = [
        (Cell(row.label, colour=row.colour), *(_cell(cell) for cell in row.cells))
        for row in found.rows
    ]
    for missing in found.absent:
        empty = (Cell("") for _ in found.columns[1:])
        rows.append((Cell(missing.subject), Cell("unavailable"), *empty))
    if found.has_floors:
        floors = (
            Cell(
                time_words(column.floor_ns),
                aside=((column.formula or "").replace(" x ", " × "),),
                value=column.floor_ns,
            )
            if column.floor_ns
            else Cell("none")
            for column in found.columns
        )
        rows.append((Cell("Floor"), *floors))
    return Table((*words(""), *heads), tuple(rows), has_floor=found.has_floors)


def _cell(cell: case_tables.Cell | None) -> Cell:
    if cell is None:
        return NO_FIGURE
    if cell.estimate is None:
        if not cell.stalls:
            return Cell("no usable trial")
        return Cell("stalled", aside=(cell.stall_words,), mark="stalled")
    estimate = cell.estimate
    low, high = estimate.interval or (None, None)
    unit = units.fitting(units.TIMES, (estimate.median,))
    asides = (
        f"stalled in {cell.stall_words}" if cell.stalls else "",
        _floor_words(cell),
        figure_words.interval_text(estimate, unit) or ("n = 1" if cell.is_single else ""),
    )
    return Cell(
        cell.time_words,
        aside=tuple(filter(None, asides)),
        mark="best" if cell.is_best else "worst" if cell.is_worst else "",
        value=estimate.median,
        low=low,
        high=high,
    )


def _floor_words(cell: case_tables.Cell) -> str:
    if not cell.above_words:
        return ""
    return f"{'on its floor' if cell.is_on_floor else 'floor'} {cell.above_words}"


def how_to_read(found: Sequence[CaseTable]) -> Text:
    """What the marks in those tables say."""
    cells = [cell for table in found for cell in table.cells]
    both = f"{SIGNS['best']} best, {SIGNS['worst']} worst of the case"
    parts = [f"{both}: each shown to differ from all without that mark."]
    if any(cell.is_single for cell in cells):
        parts.append(
            "n = 1: one trial, because its time is mostly waiting; it shows no difference."
        )
    if any(table.has_floors for table in found):
        parts.append(
            "Floor: the theoretical minimum (messages of each producer, t, P / min(P, C), round"
            " trips), and how far above it a time lies."
        )
    if any(cell.is_on_floor for cell in cells):
        within = f"{case_tables.ON_THE_FLOOR:.0%}".replace("%", " %")
        parts.append(
            f"On its floor: within {within} of that minimum. Such a time measures the pause, not"
            " the framework: it is neither fast nor slow, and has no mark."
        )
    if more := case_tables.crowded(found):
        threads, cpus = units.listed(map(str, more[0])), units.plural(more[1], "CPU")
        parts.append(
            f"C = {threads}: server threads that took turns on {cpus}. With t = 0 such columns"
            " compare switching and locks, and not what as many cores would do."
        )
    if (most := case_tables.most_together(found)) > 1:
        parts.append(f"Trials that mostly wait ran {most} at a time.")
    if any(cell.stalls for cell in cells):
        parts.append(
            f"{SIGNS['stalled']} stalled: the server stopped answering, and the trial was ended"
            " for it."
        )
    if any(cell.is_bound for cell in cells):
        parts.append("≤: the generator was the limit in a trial, the server may be faster.")
    if any(cell is None for table in found for row in table.rows for cell in row.cells):
        parts.append("–: not part of the study.")
    return key(" ".join(parts))

"""Cases as tables: a row per subject; best green, worst red, a mark for either; floors below."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from wiretrial.report import case_tables, markup, sentences, units
from wiretrial.report.case_tables import CaseTable, Cell, Column
from wiretrial.report.families import Family, Group
from wiretrial.report.marks import BEST, STALLED, WORST
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.views.ranking import swatch
from wiretrial.results.absent import Absent


def tables(family: Family, absent: Sequence[Absent]) -> Markup:
    """A row per label, a column per case; as many tables as that needs."""
    found = case_tables.tables(family, absent)
    parts: list[Markup] = []
    for index, table in enumerate(found):
        parts += [markup.heading(table.title)] if table.title else []
        parts.append(_cases(table, is_first=index == 0))
    return markup.joined([*parts, markup.key(_how_to_read(found))])


def levels(family: Family) -> Markup:
    """A row per level, a column per label, or the other way round: the longer goes downwards."""
    named = [
        Markup("{}{}").format(swatch(_colour(family, label)), label) for label in family.labels
    ]
    told = [Markup("{}").format(family.level(group)) for group in family.groups]
    grid = [
        [_level(family.of(label, group), group, family.metric) for label in family.labels]
        for group in family.groups
    ]
    across, down = named, told
    if len(named) > len(told):
        across, down, grid = told, named, [list(column) for column in zip(*grid, strict=True)]
    head = Markup("").join(Markup('<th class="num">{}</th>').format(text) for text in across)
    rows = Markup("").join(
        Markup("<tr><td>{}</td>{}</tr>").format(name, Markup("").join(cells))
        for name, cells in zip(down, grid, strict=True)
    )
    return Markup(
        '<div class="scroll"><table class="cases"><thead><tr><th></th>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
        '<p class="key muted">{} best, {} worst of the case; several where no difference between '
        "them is shown, none where none is shown at all.</p>"
    ).format(head, rows, BEST, WORST)


def _cases(table: CaseTable, *, is_first: bool) -> Markup:
    head = Markup("").join(
        Markup('<th class="num">{}</th>').format(Markup("<br>").join(column.head))
        for column in table.columns
    )
    rows = [
        Markup("<tr><th>{}{}</th>{}</tr>").format(
            swatch(row.colour), row.label, Markup("").join(_cell(cell) for cell in row.cells)
        )
        for row in table.rows
    ]
    rows += [
        Markup('<tr><th>{}</th><td class="reason" colspan="{}">unavailable{}</td></tr>').format(
            missing.subject, len(table.columns), _why(missing, is_first)
        )
        for missing in table.absent
    ]
    if table.has_floors:
        floors = Markup("").join(_floor(column) for column in table.columns)
        rows.append(Markup('<tr class="floor"><th>Floor</th>{}</tr>').format(floors))
    return Markup(
        '<div class="scroll"><table class="cases"><thead><tr><th></th>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(head, Markup("").join(rows))


def _why(missing: Absent, is_first: bool) -> Markup:
    """The reason with its remedy, once; the other tables leave it at the word."""
    return Markup("<small>{}</small>").format(missing.reason) if is_first else Markup("")


def _cell(cell: Cell | None) -> Markup:
    if cell is None:
        return Markup('<td class="num muted">–</td>')
    if cell.estimate is None:
        what = "stalled" if cell.stalls else "no usable trial"
        return Markup(
            '<td class="num {}"><span aria-hidden="true">{}</span> {}<small>{}</small></td>'
        ).format(
            "stalled" if cell.stalls else "",
            STALLED if cell.stalls else "",
            what,
            cell.stall_words,
        )
    style, mark, word = ("", "", "")
    if cell.is_best:
        style, mark, word = "best", BEST, " (best)"
    elif cell.is_worst:
        style, mark, word = "worst", WORST, " (worst)"
    unit = units.fitting(units.TIMES, (cell.estimate.median,))
    interval = sentences.interval_text(cell.estimate, unit)
    asides = [
        cell.stall_words,
        f"floor {cell.above_words}" if cell.above_words else "",
        interval or ("n = 1" if cell.is_single else ""),
    ]
    return Markup(
        '<td class="num {}"><span aria-hidden="true">{}</span> {}'
        '<span class="said">{}</span><small>{}</small></td>'
    ).format(
        style,
        mark,
        cell.time_words,
        word,
        Markup("<br>").join(aside for aside in asides if aside) or "–",
    )


def _floor(column: Column) -> Markup:
    if not column.floor_ns:
        return Markup('<td class="num muted">none</td>')
    return Markup('<td class="num">{}<small>{}</small></td>').format(
        case_tables.time_words(column.floor_ns), (column.formula or "").replace(" x ", " × ")
    )


def _how_to_read(found: Sequence[CaseTable]) -> str:
    cells = [cell for table in found for cell in table.cells]
    text = (
        f"{BEST} best, {WORST} worst of the case: each shown to differ from all without that mark."
    )
    if any(cell.is_single for cell in cells):
        text += " n = 1: one trial, because its time is mostly waiting; it shows no difference."
    if any(table.has_floors for table in found):
        text += (
            " Floor: the theoretical minimum (messages of each producer, t, P / min(P, C),"
            " round trips), and how far above it a time lies."
        )
    if (most := case_tables.most_together(found)) > 1:
        text += f" Trials that mostly wait ran {most} at a time."
    if any(cell.stalls for cell in cells):
        text += f" {STALLED} stalled: the server stopped answering, and the trial was ended for it."
    if any(cell.is_bound for cell in cells):
        text += " ≤: the generator was the limit in a trial, the server may be faster."
    if any(cell is None for table in found for row in table.rows for cell in row.cells):
        text += " –: not part of the study."
    return text


def _level(scenario: ScenarioResult | None, group: Group, metric: Metric) -> Markup:
    estimate = None if scenario is None else scenario.estimates.get(metric.key)
    if scenario is None or estimate is None:
        return Markup('<td class="num">–</td>')
    best, worst = group.contest.extremes
    is_best = scenario.name in best
    is_worst = scenario.name in worst
    style, mark = ("best", BEST) if is_best else ("worst", WORST) if is_worst else ("", "")
    unit = units.fitting(metric.units, (estimate.median,))
    word = " (best)" if is_best else " (worst)" if is_worst else ""
    return Markup(
        '<td class="num {}"><span aria-hidden="true">{}</span> {}{}'
        '<span class="said">{}</span><small>{}</small></td>'
    ).format(
        style,
        mark,
        scenario.bound(metric),
        unit.text(estimate.median),
        word,
        sentences.interval_text(estimate, unit) or "–",
    )


def _colour(family: Family, label: str) -> int:
    return next(s.colour for g in family.groups if (s := family.of(label, g)) is not None)

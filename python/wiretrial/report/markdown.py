"""The report as Markdown, for a pull request: verdict, rankings, claims, warnings.

Knows tables and lists; must not know how wide a reader's screen is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wiretrial.report import (
    adoption,
    break_even,
    brief,
    case_tables,
    clients,
    held,
    metrics,
    sentences,
    units,
)
from wiretrial.report.case_tables import Cell, time_words
from wiretrial.report.families import Family, Group, unit_of
from wiretrial.report.marks import BEST, CLAIM_MARKS, STALLED, WORST, claim_ratio
from wiretrial.report.model import ReportModel
from wiretrial.results.absent import Absent

BESIDE = (metrics.SERVER, metrics.P50, metrics.P99)


def render(model: ReportModel) -> str:
    """The whole text."""
    return "\n\n".join(_parts(model)) + "\n"


def _parts(model: ReportModel) -> Iterator[str]:
    yield f"## {_text(model.title)}"
    if model.is_run:
        yield from map(_text, model.all_sentences)
    else:
        yield "\n".join(f"- {_text(line)}" for line in brief.answer(model, brief.WIDTH))
        whole = "\n\n".join(map(_text, model.all_sentences))
        yield f"<details><summary>Every finding in full</summary>\n\n{whole}\n\n</details>"
    for table in clients.tables(model):
        yield f"### Round trip / client CPU, µs: {table.title}"
        yield _clients(table)
        if table.floor:
            yield f"Below them: {table.floor}."
    for family in sorted(model.families, key=lambda family: family.is_outside):
        if family.metric is not metrics.WALL:
            yield from _family(family, model)
    yield from _knees(model)
    for place in model.places:
        yield f"### Break-even, {_text(place.title)} (HTTP, then the socket)"
        yield _table([*break_even.HEAD], [[*row] for row in break_even.rows(place)])
    yield from _held(model)
    yield from _adopted(model)
    yield from _claims(model)
    yield from _absent(model)
    if model.warnings:
        yield "### Warnings"
        yield "\n".join(
            f"- **{_text(row.message)}**{f' ({_text(row.where)})' if row.where else ''}. "
            f"{_text(row.advice)}"
            for row in model.warnings
        )
    yield f"Run it again: `{model.command}`"


def _family(family: Family, model: ReportModel) -> Iterator[str]:
    """One table over its levels, or one with more figures where there is one level."""
    aside = " (outside the verdict)" if family.is_outside else ""
    yield f"### {_text(family.heading)}{aside}"
    for group in family.groups:
        if note := model.group_notes.get(group.title):
            yield _text(note)
    if family.is_cases:
        yield from _cases(family, model.absent)
    elif len(family.groups) > 1:
        yield _levels(family)
    else:
        yield _ranking(family.groups[0])


def _clients(table: clients.Table) -> str:
    """A row per library, its figures as the published study writes them."""
    rows = []
    for row in table.rows:
        cells = [row.cells.get(protocol) for protocol in table.protocols]
        rows.append([row.name, *(_client(cell) for cell in cells)])
    return _table(["Library", *table.protocols], rows)


def _client(cell: clients.Cell | None) -> str:
    if cell is None:
        return "–"
    both = (cell.scenario.median(metric) for metric in (metrics.WALL, metrics.CLIENT))
    return " / ".join("–" if v is None else units.MICROSECONDS.figure(v) for v in both)


def _cases(family: Family, absent: Sequence[Absent]) -> Iterator[str]:
    """A table per way to connect and environment: a row per label, a column per case."""
    found = case_tables.tables(family, absent)
    for table in found:
        if table.title:
            yield f"**{_text(table.title)}**"
        rows = [[row.label, *map(_case, row.cells)] for row in table.rows]
        rows += [
            [missing.subject, *("unavailable" for _ in table.columns)] for missing in table.absent
        ]
        if table.has_floors:
            floors = (column.floor_ns for column in table.columns)
            rows.append(["floor", *(time_words(ns) if ns else "none" for ns in floors)])
        yield _table(["", *(", ".join(column.head) for column in table.columns)], rows)
    if (most := case_tables.most_together(found)) > 1:
        yield f"Trials that mostly wait ran {most} at a time."


def _case(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    if cell.estimate is None:
        return f"{STALLED} stalled: {cell.stall_words}" if cell.stalls else "no usable trial"
    mark = f"{BEST} " if cell.is_best else f"{WORST} " if cell.is_worst else ""
    unit = units.fitting(units.TIMES, (cell.estimate.median,))
    asides = (
        sentences.interval_text(cell.estimate, unit) or ("n = 1" if cell.is_single else ""),
        f"floor {cell.above_words}" if cell.above_words else "",
        f"stalled in {cell.stall_words}" if cell.stalls else "",
    )
    told = "; ".join(aside for aside in asides if aside)
    return f"{mark}{cell.time_words}{f' ({told})' if told else ''}"


def _levels(family: Family) -> str:
    metric = family.metric
    unit = unit_of(family.groups, metric)
    rows = [
        [
            label,
            *(
                sentences.figure_text(family.of(label, group), metric, unit)
                for group in family.groups
            ),
        ]
        for label in family.labels
    ]
    return _table([unit.name, *(family.level(group) for group in family.groups)], rows)


def _ranking(group: Group) -> str:
    ranked = group.contest.metric
    known = {key for scenario in group.scenarios for key in scenario.estimates}
    beside = metrics.HELD if ranked is metrics.CONNECT_RATE else BESIDE
    shown = [ranked, *(m for m in beside if m is not ranked and m.key in known)]
    fitted = {metric.key: unit_of((group,), metric) for metric in shown}
    rows = [
        [
            str(group.contest.ranking.ranks.get(scenario.name, "–")),
            group.called[scenario.name],
            *(sentences.figure_text(scenario, metric, fitted[metric.key]) for metric in shown),
        ]
        for scenario in group.ranked
    ]
    heads = [f"{metric.title}, {fitted[metric.key].name}" for metric in shown]
    return _table(["Place", "Scenario", *heads], rows)


def _knees(model: ReportModel) -> Iterator[str]:
    for group in dict.fromkeys(knee.group for knee in model.knees):
        knees = [knee for knee in model.knees if knee.group == group]
        yield f"### Highest rate with {knees[0].objective.words}: {_text(group)}"
        rows = [
            [knee.label, knee.figure, "yes" if knee.is_confirmed else "no", knee.why]
            for knee in sorted(knees, key=lambda knee: knee.sustained or 0.0, reverse=True)
        ]
        yield _table(["Subject", "Sustained, messages/s", "Confirmed", "No more because"], rows)


def _held(model: ReportModel) -> Iterator[str]:
    for table in held.tables(model):
        yield f"### {table.title}"
        yield _table(["Server", *(head for head, _ in table.columns)], table.rows)
        yield table.key


def _adopted(model: ReportModel) -> Iterator[str]:
    if model.adopted:
        yield "### What each is like to adopt"
        yield _table(["", *(title for title, _ in adoption.COLUMNS)], adoption.rows(model.adopted))
        yield adoption.KEY


def _claims(model: ReportModel) -> Iterator[str]:
    if not model.claims:
        return
    yield "### Published / here"
    rows = [
        [
            f"{row.text} ({row.claim.source})",
            row.published,
            claim_ratio(row),
            f"{CLAIM_MARKS[row.verdict]} {row.verdict}: {row.why}",
        ]
        for row in model.claims
    ]
    yield _table(["Published", "There", "Here", "Verdict"], rows)


def _absent(model: ReportModel) -> Iterator[str]:
    if model.absent:
        yield "### Not measured"
        yield "\n".join(f"- {_text(row.subject)}: {_text(row.reason)}" for row in model.absent)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_text, line))} |" for line in lines)


def _text(text: str) -> str:
    """So that a name can't become a table's edge or an element."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")

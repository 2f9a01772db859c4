"""What a study found, small enough to be kept beside it: figures as JSON, and as a page.

Knows a report and the form that is kept; must not know how anything was measured. The page of a
study's figures is made from what is kept, and from nothing else.
Usage: python -m wiretrial.report.found studies/NAME
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wiretrial.report import (
    adoption,
    break_even,
    case_tables,
    clients,
    facts,
    held,
    metrics,
    sentences,
    units,
)
from wiretrial.report.case_tables import CaseTable, Cell, excess, time_words
from wiretrial.report.claims import Verdict
from wiretrial.report.families import Family, unit_of
from wiretrial.report.marks import BEST, CLAIM_MARKS, STALLED, WORST, claim_ratio
from wiretrial.report.model import ReportModel
from wiretrial.results.absent import Absent
from wiretrial.results.adoption import Adopted
from wiretrial.results.answers import KEPT

SCHEMA: Final = "wiretrial-found"
PAGE = "RESULTS.md"
NOTHING_YET = "Nothing is kept yet: the study has not been run whole."


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class FoundCell(_Part):
    """One subject in one case. Times in nanoseconds; None: no trial came to its end."""

    trials: int
    median_ns: float | None = None
    low_ns: float | None = None
    high_ns: float | None = None
    stalled: str | None = None
    is_bound: bool = False
    """The generator was the limit in a trial: the server may be faster."""
    mark: Literal["best", "worst"] | None = None


class FoundTable(_Part):
    """Cases side by side, as the report shows them."""

    title: str
    heads: tuple[str, ...]
    floors_ns: tuple[float | None, ...]
    rows: dict[str, tuple[FoundCell | None, ...]]
    unavailable: tuple[str, ...]


class FoundRow(_Part):
    """One scenario of a group that is ranked by something else than a time per case."""

    label: str
    figure: str
    interval: str
    trials: int


class FoundRanking(_Part):
    """One such group, best first."""

    title: str
    rows: tuple[FoundRow, ...]


class FoundLevels(_Part):
    """One figure of a workload at all its levels, in words."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """What stands before the columns first."""


class FoundClient(_Part):
    """One client library over one protocol. Nanoseconds per round trip; None: it can't be told."""

    wall_ns: float
    client_ns: float | None
    wall_ratio: float | None
    """How many times the baseline's; None: it is the baseline, or there is none."""
    client_ratio: float | None


class FoundClients(_Part):
    """Client libraries side by side, as the report shows them."""

    protocols: tuple[str, ...]
    rows: dict[str, tuple[FoundClient | None, ...]]
    floor: str
    """What one of them alone speaks, in words."""


class FoundBreakEven(_Part):
    """Set-up and message on both sides, and where they cross, in words."""

    title: str
    rows: tuple[tuple[str, ...], ...]


class FoundHeld(_Part):
    """A table of held connections, in words; the server's name stands before the columns."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    key: str


class FoundKnee(_Part):
    """One search for the highest rate that is sustained."""

    title: str
    """The objective, and the group that it is one of."""
    label: str
    figure: str
    """With its bound, in words; `none`."""
    is_confirmed: bool
    why: str
    """Why no higher rate counts."""


class FoundWarning(_Part):
    """One warning. `where`: which trials gave cause; empty: it is about the study."""

    code: str
    message: str
    advice: str
    where: str


class FoundClaim(_Part):
    """One claim with its verdict."""

    text: str
    published: str
    here: str
    verdict: Verdict
    why: str


class Found(_Part):
    """Everything that is kept of a study's report."""

    schema_name: Literal["wiretrial-found"] = Field(default=SCHEMA, alias="schema")
    version: Literal[1] = 1
    study: str
    command: str
    date: str
    machine: str
    trials: int
    sentences: tuple[str, ...]
    tables: tuple[FoundTable, ...]
    rankings: tuple[FoundRanking, ...]
    levels: tuple[FoundLevels, ...] = ()
    clients: FoundClients | None = None
    break_even: tuple[FoundBreakEven, ...] = ()
    held: tuple[FoundHeld, ...] = ()
    knees: tuple[FoundKnee, ...] = ()
    claims: tuple[FoundClaim, ...]
    adoption: tuple[Adopted, ...]
    absent: tuple[Absent, ...]
    warnings: tuple[FoundWarning, ...] = ()


def of_report(model: ReportModel) -> Found:
    """What is kept of a report."""
    first = model.trials[0]
    cases = [family for family in model.families if family.is_cases]
    rest = [f for f in model.families if not f.is_cases and f.metric is not metrics.WALL]
    return Found(
        study=first.study,
        command=model.command,
        date=max(trial.started_at for trial in model.trials)[:10],
        machine=facts.machine_words(first.machine.facts),
        trials=len(model.trials),
        sentences=model.all_sentences,
        tables=tuple(_kept(table) for f in cases for table in case_tables.tables(f, model.absent)),
        rankings=tuple(ranking for f in rest if not _is_table(f) for ranking in _rankings(f)),
        levels=tuple(table for f in rest if _is_table(f) for table in _levels(f)),
        clients=_clients(model),
        break_even=tuple(
            FoundBreakEven(title=place.title, rows=tuple(break_even.rows(place)))
            for place in model.places
        ),
        held=tuple(
            FoundHeld(
                title=table.title,
                heads=tuple(head for head, _ in table.columns),
                rows=tuple(table.rows),
                key=table.key,
            )
            for table in held.tables(model)
        ),
        claims=tuple(
            FoundClaim(
                text=row.text,
                published=row.published,
                here=claim_ratio(row),
                verdict=row.verdict,
                why=row.why,
            )
            for row in model.claims
        ),
        knees=tuple(
            FoundKnee(
                title=f"{knee.objective.words}: {knee.group}",
                label=knee.label,
                figure=knee.figure,
                is_confirmed=knee.is_confirmed,
                why=knee.why,
            )
            for knee in sorted(model.knees, key=lambda one: one.sustained or 0.0, reverse=True)
        ),
        adoption=model.adopted,
        absent=model.absent,
        warnings=tuple(
            FoundWarning(code=row.code, message=row.message, advice=row.advice, where=row.where)
            for row in model.warnings
        ),
    )


def page(name: str, found: Found | None) -> str:
    """The page of a study's figures, Markdown."""
    made = (
        "Every figure that is kept. What they say together is in [README.md](README.md). This page "
        "is made from [results/found.json](results/found.json) by "
        f"`python -m wiretrial.report.found studies/{name}`; a test holds it against that."
    )
    figures = f"{NOTHING_YET}\n" if found is None else section(found)
    return f"# Results of {name}\n\n{made}\n\n{figures}"


def section(found: Found) -> str:
    """The figures: what was found first, then table after table."""
    return "\n\n".join(_section(found)) + "\n"


def read(study: Path) -> Found | None:
    """What is kept in a study's folder; None where nothing is."""
    path = study / KEPT
    return Found.model_validate_json(path.read_bytes()) if path.is_file() else None


def _kept(table: CaseTable) -> FoundTable:
    return FoundTable(
        title=table.title,
        heads=tuple(", ".join(column.head) for column in table.columns),
        floors_ns=tuple(column.floor_ns for column in table.columns),
        rows={row.label: tuple(cell and _cell(cell) for cell in row.cells) for row in table.rows},
        unavailable=tuple(row.subject for row in table.absent),
    )


def _cell(cell: Cell) -> FoundCell:
    estimate = cell.estimate
    return FoundCell(
        trials=len(cell.scenario.trials),
        median_ns=estimate and round(estimate.median),
        low_ns=round(estimate.low) if estimate and estimate.low else None,
        high_ns=round(estimate.high) if estimate and estimate.high else None,
        stalled=cell.stall_words or None,
        is_bound=cell.is_bound,
        mark="best" if cell.is_best else "worst" if cell.is_worst else None,
    )


def _clients(model: ReportModel) -> FoundClients | None:
    tables = clients.tables(model)
    if not tables:
        return None
    # The first of them has every library.
    table = tables[0]
    return FoundClients(
        protocols=table.protocols,
        rows={
            row.name: tuple(_client(row.cells.get(protocol)) for protocol in table.protocols)
            for row in table.rows
        },
        floor=table.floor,
    )


def _client(cell: clients.Cell | None) -> FoundClient | None:
    if cell is None:
        return None
    wall, cpu = (cell.scenario.median(metric) for metric in (metrics.WALL, metrics.CLIENT))
    return FoundClient(
        wall_ns=round(wall or 0.0),
        client_ns=None if cpu is None else round(cpu),
        wall_ratio=cell.wall_ratio and round(cell.wall_ratio, 3),
        client_ratio=cell.client_ratio and round(cell.client_ratio, 3),
    )


def _is_table(family: Family) -> bool:
    """Whether levels and labels cross: a table of both says it in less than a ranking each."""
    return len(family.groups) > 1 and len(family.labels) > 1


def _levels(family: Family) -> Iterator[FoundLevels]:
    """What is ranked, and what stands beside it; the longer of labels and levels goes down."""
    levels = [family.level(group) for group in family.groups]
    for metric in (family.metric, metrics.beside(family.metric)):
        sides = [[family.of(label, group) for group in family.groups] for label in family.labels]
        known = [v for row in sides for s in row if s and (v := s.median(metric)) is not None]
        if not known:
            continue
        unit = units.fitting(metric.units, known)
        cells = [[sentences.figure_text(s, metric, unit) for s in row] for row in sides]
        across, down = (family.labels, levels), (levels, family.labels)
        is_long = len(levels) > len(family.labels)
        heads, names = across if is_long else down
        columns = zip(*cells, strict=True) if is_long else cells
        yield FoundLevels(
            title=f"{metric.title}, {unit.name}: {family.title}",
            heads=tuple(heads),
            rows=tuple((name, *row) for name, row in zip(names, columns, strict=True)),
        )


def _rankings(family: Family) -> Iterator[FoundRanking]:
    for group in family.groups:
        metric = group.contest.metric
        unit = unit_of((group,), metric)
        rows = []
        for scenario in group.ranked:
            estimate = scenario.estimates.get(metric.key)
            interval = sentences.interval_text(estimate, unit) if estimate else ""
            rows.append(
                FoundRow(
                    label=scenario.label,
                    figure="–"
                    if estimate is None
                    else f"{scenario.bound(metric)}{unit.text(estimate.median)}",
                    interval=interval or "–",
                    trials=scenario.usable,
                )
            )
        yield FoundRanking(title=f"{metric.title}: {group.title}", rows=tuple(rows))


def _section(found: Found) -> Iterator[str]:
    yield (
        f"{found.date}, {found.machine}; {units.plural(found.trials, 'trial')} of"
        f" `{found.command}`."
    )
    yield from found.sentences
    for table in found.tables:
        if table.title:
            yield f"**{table.title}**"
        yield _times(table)
    if found.tables:
        yield (
            f"{BEST} best, {WORST} worst of the case: each shown to differ from all without that"
            f" mark; {STALLED} stalled; in brackets how far above the floor; n = 1: one trial,"
            " because its time is mostly waiting; ≤: the generator was the limit, the server may"
            " be faster; –: not part of the study."
        )
    if found.clients:
        yield "**Round trip / client CPU, µs, and in brackets how many times the bare socket's**"
        yield _side_by_side(found.clients)
        if found.clients.floor:
            yield f"Below them: {found.clients.floor}."
    for told in found.held:
        yield f"**{told.title}**"
        yield _table(["", *told.heads], [list(row) for row in told.rows])
        yield told.key
    for ranking in found.rankings:
        yield f"**{ranking.title}**"
        rows = [[row.label, row.figure, row.interval, str(row.trials)] for row in ranking.rows]
        yield _table(["", "median", "95 % interval", "trials"], rows)
    for grid in found.levels:
        yield f"**{grid.title}**"
        yield _table(["", *grid.heads], [list(row) for row in grid.rows])
    for place in found.break_even:
        yield f"**Break-even, {place.title} (HTTP, then the socket)**"
        yield _table([*break_even.HEAD], [[*row] for row in place.rows])
    for title in dict.fromkeys(knee.title for knee in found.knees):
        yield f"**Highest rate with {title}**"
        rows = [
            [knee.label, knee.figure, "yes" if knee.is_confirmed else "no", knee.why]
            for knee in found.knees
            if knee.title == title
        ]
        yield _table(["", "sustained, messages/s", "confirmed", "no more because"], rows)
    if found.claims:
        yield "**Published / here**"
        rows = [[row.text, row.published, row.here, _verdict(row)] for row in found.claims]
        yield _table(["published", "there", "here", "verdict"], rows)
    if found.adoption:
        yield "**What each is like to adopt**"
        yield _table(["", *(title for title, _ in adoption.COLUMNS)], adoption.rows(found.adoption))
        yield adoption.KEY
    if found.absent:
        yield "**Not measured**"
        yield "\n".join(f"- {row.subject}: {row.reason}" for row in found.absent)
    if found.warnings:
        yield "**Warnings**"
        yield "\n".join(
            f"- {row.message}{f' ({row.where})' if row.where else ''}. {row.advice}"
            for row in found.warnings
        )


def _verdict(row: FoundClaim) -> str:
    return f"{CLAIM_MARKS[row.verdict]} {row.verdict}: {row.why}"


def _side_by_side(found: FoundClients) -> str:
    rows = [[name, *map(_both, cells)] for name, cells in found.rows.items()]
    return _table(["", *found.protocols], rows)


def _both(cell: FoundClient | None) -> str:
    """`70.1 / 33.2 (1.40 / 2.21)`."""
    if cell is None:
        return "–"
    figures = (None if ns is None else ns / 1e3 for ns in (cell.wall_ns, cell.client_ns))
    text = " / ".join("–" if one is None else units.significant(one) for one in figures)
    if cell.wall_ratio is None or cell.client_ratio is None:
        return text
    ratios = (units.significant(ratio) for ratio in (cell.wall_ratio, cell.client_ratio))
    return f"{text} ({' / '.join(ratios)})"


def _times(table: FoundTable) -> str:
    rows = [
        [
            label,
            *(_time(cell, floor) for cell, floor in zip(cells, table.floors_ns, strict=True)),
        ]
        for label, cells in table.rows.items()
    ]
    rows += [[name, *("unavailable" for _ in table.heads)] for name in table.unavailable]
    if any(table.floors_ns):
        rows.append(["floor", *(time_words(ns) if ns else "none" for ns in table.floors_ns)])
    return _table(["", *table.heads], rows)


def _time(cell: FoundCell | None, floor_ns: float | None) -> str:
    if cell is None:
        return "–"
    if cell.median_ns is None:
        return f"{STALLED} stalled" if cell.stalled else "no usable trial"
    mark = {"best": f"{BEST} ", "worst": f"{WORST} "}.get(cell.mark or "", "")
    asides = [excess(cell.median_ns / floor_ns - 1)] if floor_ns else []
    if cell.low_ns and cell.high_ns:
        unit = units.fitting(units.TIMES, (cell.median_ns,))
        asides.append(f"{unit.figure(cell.low_ns)} to {unit.figure(cell.high_ns)}")
    elif cell.trials == 1:
        asides.append("n = 1")
    aside = f" ({'; '.join(asides)})" if asides else ""
    bound = "≤ " if cell.is_bound else ""
    return f"{mark}{bound}{time_words(cell.median_ns)}{aside}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_clean(text) for text in line)} |" for line in lines)


def _clean(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("|", "\\|"))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / PAGE).write_text(page(folder.resolve().name, read(folder)), "utf-8")

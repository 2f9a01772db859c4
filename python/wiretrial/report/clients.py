"""Client libraries side by side: a row per library and use of connections, a column per protocol.

Knows driven scenarios; must not know how the rows are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wiretrial.report import leading, metrics, receiving, units
from wiretrial.report.families import Group
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult

NATIVE = ("C", "C++")
MODES = {"kept": "", "fresh": ", reinit"}
"""What a row is called by: the published study's word for a new handle each time."""
SUFFIX = "-client"
"""What a row leaves out of the names of drivers, which all have it."""
APART = ("workload", "payload", "ipv6", "environment", "server_threads")
"""Factors that tell rows of one library apart, where they vary."""


@dataclass(frozen=True)
class Cell:
    """One scenario, and how many times the bare socket's its figures are."""

    scenario: ScenarioResult
    wall_ratio: float | None
    client_ratio: float | None


@dataclass(frozen=True)
class Row:
    """One library, used in one way."""

    name: str
    language: str
    colour: int
    cells: Mapping[str, Cell]
    """By protocol."""


@dataclass(frozen=True)
class Table:
    """Rows of one or more languages."""

    title: str
    protocols: tuple[str, ...]
    """The columns: what two libraries or more speak."""
    rows: tuple[Row, ...]
    alone: tuple[Row, ...]
    """Rows with what nobody else speaks: the floor below all protocols."""

    @property
    def floor(self) -> str:
        """That in words; empty where there is none."""
        parts = [
            f"{row.name} over {protocol} {_words_of(cell)}"
            for row in self.alone
            for protocol, cell in row.cells.items()
        ]
        return units.listed(parts)


def tables(model: ReportModel) -> tuple[Table, ...]:
    """All libraries; and those of C and C++ by themselves, as the published study has them."""
    rows = _rows(model)
    if not rows:
        return ()
    native = tuple(row for row in rows if row.language in NATIVE)
    found = [_table("All languages", rows)]
    if native and len(native) < len(rows):
        found.append(_table("C and C++", native))
    elif native:
        found = [_table("C and C++", rows)]
    return tuple(found)


def _table(title: str, rows: Sequence[Row]) -> Table:
    speakers = Counter(protocol for row in rows for protocol in row.cells)
    shared = tuple(name for name, count in speakers.items() if count > 1 or len(rows) == 1)
    return Table(
        title,
        protocols=shared or tuple(speakers),
        rows=tuple(row for row in rows if not shared or set(row.cells) & set(shared)),
        alone=tuple(
            replace(row, cells=cells)
            for row in rows
            if shared and (cells := {p: c for p, c in row.cells.items() if p not in shared})
        ),
    )


def _rows(model: ReportModel) -> tuple[Row, ...]:
    """In the order of the study, each library's own rows together."""
    found: dict[tuple[str, str, tuple[str, ...]], dict[str, Cell]] = {}
    about: dict[str, ScenarioResult] = {}
    alike = _alike(model)
    placed = {scenario.name for sharing in alike.values() for scenario in sharing}
    for group in model.groups:
        for scenario in group.scenarios:
            if not scenario.is_driven or scenario.median(metrics.WALL) is None:
                continue
            if scenario.name not in placed:
                continue
            about.setdefault(scenario.label, scenario)
            key = (scenario.label, _mode(scenario), _apart(scenario, alike[_place(scenario)]))
            cells = found.setdefault(key, {})
            cells.setdefault(scenario.protocol, _cell(model, group, scenario))
    order = {label: place for place, label in enumerate(about)}
    modes = list(MODES)
    keys = sorted(found, key=lambda key: (order[key[0]], modes.index(key[1])))
    return tuple(
        Row(
            name=f"{', '.join((label.replace(SUFFIX, '', 1), *apart))}{MODES[mode]}",
            language=about[label].language,
            colour=about[label].colour,
            cells=found[label, mode, apart],
        )
        for label, mode, apart in keys
    )


def _mode(scenario: ScenarioResult) -> str:
    return str(scenario.levels.get("mode", "kept"))


def _place(scenario: ScenarioResult) -> tuple[str, str, str]:
    """Where the scenario stands, as far as rows and columns alone tell."""
    return (scenario.label, _mode(scenario), scenario.protocol)


def _alike(model: ReportModel) -> dict[tuple[str, str, str], list[ScenarioResult]]:
    """The scenarios that would share a place.

    What was measured again to tell who pays for receiving has a section of its own, and a place
    only where nothing else has it.
    """
    again = receiving.repeated(model.families)
    found: dict[tuple[str, str, str], list[ScenarioResult]] = {}
    others: dict[tuple[str, str, str], list[ScenarioResult]] = {}
    for group in model.groups:
        for scenario in group.scenarios:
            places = others if group.title in again else found
            places.setdefault(_place(scenario), []).append(scenario)
    return others | found


def _apart(scenario: ScenarioResult, alike: Sequence[ScenarioResult]) -> tuple[str, ...]:
    """What tells it from those that would share its place."""
    return tuple(
        _words(name, scenario.levels[name])
        for name in APART
        if name in scenario.levels and len({other.levels.get(name) for other in alike}) > 1
    )


def _words(factor: str, level: int | float | str) -> str:
    if factor == "payload":
        return f"{level:,} bytes"
    if factor == "ipv6":
        return f"::1 {'refuses' if level == 'refused' else 'is silent'}"
    if factor == "server_threads":
        return f"{level} server threads"
    return f"over {level}" if factor == "environment" else str(level)


def _words_of(cell: Cell) -> str:
    wall, cpu = (cell.scenario.median(metric) for metric in (metrics.WALL, metrics.CLIENT))
    text = units.duration(wall or 0.0)
    return f"{text} (CPU {units.duration(cpu)})" if cpu else text


def _cell(model: ReportModel, group: Group, scenario: ScenarioResult) -> Cell:
    base = leading.base_of(group, model.baselines)
    if base is None or base.name == scenario.name:
        return Cell(scenario, None, None)
    wall, client = (
        leading.ratio(group, scenario, base, metric) or None
        for metric in (metrics.WALL, metrics.CLIENT)
    )
    return Cell(scenario, wall, client)

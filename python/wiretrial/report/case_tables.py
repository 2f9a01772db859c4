"""A time per case as tables: a row per subject, a column per case, its floor below.

Knows families and floors; must not know how a table is written. Where a family has many cases,
those of one environment and one way to connect make a table of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wiretrial.report import units
from wiretrial.report.families import Family, Group
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.results.absent import Absent
from wiretrial.stats.summary import Estimate

MOST_COLUMNS = 6
APART = ("environment", "requests_per_connection")
"""The factors that make tables of their own, where one table would be too wide."""
ON_THE_FLOOR = 0.01
"""A time that is no more than this share above its floor has measured the floor: who needed it is
neither fast nor slow."""
UNTOLD = {"environment": "loopback", "requests_per_connection": "kept"}
"""Levels of scenarios that do not name the factor."""


@dataclass(frozen=True)
class Cell:
    """One subject in one case. `estimate` is None where no trial came to its end."""

    scenario: ScenarioResult
    estimate: Estimate | None
    floor_ns: float | None
    is_best: bool
    is_worst: bool

    @property
    def above(self) -> float | None:
        """How far the time lies above its floor, as a share of it."""
        if self.estimate is None or not self.floor_ns:
            return None
        return self.estimate.median / self.floor_ns - 1

    @property
    def above_words(self) -> str:
        """`+0.4 %` or `x 2.3`; empty where there is no floor."""
        return "" if self.above is None else excess(self.above)

    @property
    def is_on_floor(self) -> bool:
        """Whether the time is what arithmetic gives: it measures the pause, not the subject."""
        return self.above is not None and self.above <= ON_THE_FLOOR

    @property
    def is_bound(self) -> bool:
        """Whether the generator was the limit in a trial: the server may be faster."""
        return self.estimate is not None and self.scenario.at_least

    @property
    def time_words(self) -> str:
        """The time, with a sign before it where it is only a bound; empty where there is none."""
        if self.estimate is None:
            return ""
        return f"{'≤ ' if self.is_bound else ''}{time_words(self.estimate.median)}"

    @property
    def stalls(self) -> int:
        """In how many trials the server stopped answering."""
        return sum(row.verdict == "stalled" for row in self.scenario.trials)

    @property
    def stall_words(self) -> str:
        """After how many replies, from the first trial that stalled; empty where none did."""
        rows = [row for row in self.scenario.trials if row.verdict == "stalled"]
        if not rows:
            return ""
        among = f"{len(rows)} of {len(self.scenario.trials)} trials; " if self.estimate else ""
        return f"{among}{rows[0].evidence}"

    @property
    def is_single(self) -> bool:
        """Whether the time is that of one trial."""
        return self.estimate is not None and self.estimate.trials == 1


@dataclass(frozen=True)
class Column:
    """One case."""

    group: Group
    head: tuple[str, ...]
    floor_ns: float | None
    formula: str | None


@dataclass(frozen=True)
class Row:
    """One subject in all cases of a table; None: not measured in that one."""

    label: str
    colour: int
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class CaseTable:
    """Cases side by side."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    absent: tuple[Absent, ...]
    """Subjects that could not be had: rows without a figure."""

    @property
    def has_floors(self) -> bool:
        """Whether arithmetic gives a floor in any of its cases."""
        return any(column.floor_ns for column in self.columns)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells that were measured."""
        return tuple(cell for row in self.rows for cell in row.cells if cell)


def most_together(found: Sequence[CaseTable]) -> int:
    """How many trials ran at the same time at most; 1: each had the machine to itself."""
    return max((cell.scenario.together for table in found for cell in table.cells), default=1)


def crowded(found: Sequence[CaseTable]) -> tuple[tuple[int, ...], int] | None:
    """The numbers of server threads that were more than its CPUs, and how many CPUs it had."""
    known = {
        (threads, cell.scenario.server_cpus)
        for table in found
        for cell in table.cells
        if isinstance(threads := cell.scenario.levels.get("server_threads"), int)
    }
    more = [(threads, cpus) for threads, cpus in known if cpus and threads > cpus]
    if not more:
        return None
    return tuple(sorted({threads for threads, _ in more})), max(cpus for _, cpus in more)


def tables(family: Family, absent: Sequence[Absent] = ()) -> tuple[CaseTable, ...]:
    """The family's cases, in as many tables as they need."""
    found: dict[tuple[str, ...], list[Group]] = {}
    splits = len(family.groups) > MOST_COLUMNS
    for group in family.groups:
        key = tuple(_said(name, _level(group, name)) for name in APART) if splits else ()
        found.setdefault(key, []).append(group)
    missing = nowhere(family, absent)
    made = [_table(family, key, groups, missing) for key, groups in found.items()]
    return tuple(sorted(made, key=lambda table: _place(table, family)))


def nowhere(family: Family, absent: Sequence[Absent]) -> tuple[Absent, ...]:
    """The subjects of which the family has not a single scenario."""
    here = {s.subject for group in family.groups for s in group.scenarios}
    found = {row.subject: row for row in reversed(absent) if row.subject not in here}
    return tuple(reversed(found.values()))


def excess(above: float) -> str:
    """`+0.4 %`; from twice the floor on `× 2.3`; a clock's grain below it is none."""
    if above >= 1:
        return f"× {units.significant(1 + above, 2)}"
    if abs(above) < 0.0005:
        return "+0.0 %"
    return f"{'+' if above > 0 else '−'}{abs(100 * above):.{1 if abs(above) < 0.1 else 0}f} %"


def time_words(ns: float) -> str:
    """`40.3 s`, `512 ms`; from a minute on with a tenth of a second: `2:04.9`."""
    seconds = ns / 1e9
    if 0.9995 <= seconds < 59.95:
        return f"{units.significant(seconds)} s"
    if seconds < 1:
        return units.fitting(units.TIMES, (ns,)).text(ns)
    minutes, rest = divmod(round(seconds, 1), 60)
    return f"{minutes:.0f}:{rest:04.1f}"


def _table(
    family: Family, key: tuple[str, ...], groups: Sequence[Group], missing: tuple[Absent, ...]
) -> CaseTable:
    title = ", ".join(key)
    varied = [name for name in family.varied if not (key and name in APART)]
    columns = tuple(Column(group, _head(family, group, varied), *_floor(group)) for group in groups)
    cells = {
        label: tuple(_cell(family.of(label, group), group) for group in groups)
        for label in family.labels
    }
    rows = tuple(
        Row(label, next(cell.scenario.colour for cell in found if cell), found)
        for label, found in cells.items()
        if any(found)
    )
    return CaseTable(title[:1].upper() + title[1:], columns, rows, missing)


def _place(table: CaseTable, family: Family) -> tuple[bool, int]:
    """Local before far, else in the order of the study."""
    first = table.columns[0].group
    return (_level(first, "environment") != "loopback", family.groups.index(first))


def _cell(scenario: ScenarioResult | None, group: Group) -> Cell | None:
    if scenario is None:
        return None
    best, worst = group.contest.extremes
    estimate = scenario.estimates.get(group.contest.metric.key)
    cell = Cell(scenario, estimate, scenario.floor_ns, is_best=False, is_worst=False)
    if cell.stalls:
        return replace(cell, is_worst=True)
    if cell.is_on_floor:
        return cell
    return replace(cell, is_best=scenario.name in best, is_worst=scenario.name in worst)


def _floor(group: Group) -> tuple[float | None, str | None]:
    known = [s for s in group.scenarios if s.floor_ns]
    return (known[0].floor_ns, known[0].floor_formula) if known else (None, None)


def _head(family: Family, group: Group, varied: Sequence[str]) -> tuple[str, ...]:
    """What tells the case from the others, a line each."""
    said = (_said(name, _level(group, name)) for name in varied if name in _SHORT)
    return tuple(words for words in said if words) or (family.level(group),)


def _level(group: Group, factor: str) -> int | float | str | None:
    return group.scenarios[0].levels.get(factor, UNTOLD.get(factor))


def _said(factor: str, level: int | float | str | None) -> str:
    if level is None:
        return ""
    if factor in _NAMES and level in _NAMES[factor]:
        return _NAMES[factor][level]
    number = units.asked(level) if isinstance(level, int | float) else level
    return _SHORT.get(factor, "{}").format(number)


_NAMES: dict[str, dict[int | float | str, str]] = {
    "environment": {"loopback": "local", "vpn": "over a VPN"},
    "requests_per_connection": {
        "kept": "kept connections",
        "opened": "set-up included",
        1: "a new connection per request",
    },
    "delay_ms": {0: "t = 0"},
    "call": {
        "unary": "unary",
        "server": "from the server",
        "client": "from the client",
        "bidi": "both ways",
    },
}
_SHORT = {
    "pattern": "{}",
    "environment": "over {}",
    "requests_per_connection": "{} requests per connection",
    "server_threads": "C = {}",
    "requests_each": "N = {}",
    "requests": "{} messages",
    "delay_ms": "t = {} ms",
    "connections": "{} connections",
    "payload": "{} bytes",
    "call": "{}",
    "messages_per_call": "{} messages per call",
    "header_profile": "header profile {}",
    "streams": "{} streams on each",
    "depth": "depth {}",
}

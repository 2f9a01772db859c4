"""Held connections as a table: how fast they were opened, what each weighs, whether each was alive.

Knows which figures belong there; must not know how a table is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from wiretrial.report import figure_words, metrics, units
from wiretrial.report.blocks import (
    NO_FIGURE,
    NOTHING,
    Block,
    Cell,
    Table,
    figures,
    heading,
    key,
    words,
)
from wiretrial.report.measures import Measured
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.sums import total
from wiretrial.report.tables import cells
from wiretrial.results.model import Trial
from wiretrial.results.observation import PerConnection
from wiretrial.stats import cost

TITLE = "Held connections"
COLUMNS = (
    *words("Server"),
    *figures(
        "Connections",
        "Copies x threads",
        "Opened, per ms",
        "User memory each, bytes",
        "Kernel memory each, bytes",
        "Alive",
        "All answered in",
    ),
)
KEY = (
    "User memory: growth of the server's proportional set size from before the first connection to"
    " when all stood idle. Kernel memory: sockets and their buffers, both ends of each connection."
    " Alive: connections that answered a message after they had been idle, in the worst trial."
    f" {figure_words.INTERVALS}"
)
SLOPES_TITLE = "Memory of one more connection"
SLOPE_COLUMNS = (*words("Server"), *figures("User, bytes", "Kernel, bytes"), *words("From"))
SLOPES_KEY = (
    "The slope of the growth over all numbers of connections that were held, with what does not"
    " depend on their number apart; weighted least squares, 95 % intervals, over occasions where"
    " there are three or more. –: lost in the noise,"
    " memory did not grow in each trial."
)


def blocks(model: ReportModel) -> tuple[Block, ...]:
    """The tables that have rows: connections as they were held, and what one more weighs."""
    found: list[Block] = []
    if rows := _rows(model):
        found += [Table(COLUMNS, rows), key(KEY)]
    if slopes := _slopes(model):
        found += [heading(SLOPES_TITLE)] if found else []
        found += [Table(SLOPE_COLUMNS, slopes), key(SLOPES_KEY)]
    return tuple(found)


def _rows(model: ReportModel) -> tuple[tuple[Cell, ...], ...]:
    """A row for each scenario that was held: its label, then the columns."""
    found = (
        (scenario, trials)
        for group in model.groups
        for scenario in group.ranked
        if (trials := _held(model, scenario.name))
    )
    return tuple(_row(scenario, trials) for scenario, trials in found)


def _slopes(model: ReportModel) -> tuple[tuple[Cell, ...], ...]:
    """A row for each server that was held at several numbers of connections."""
    by_label: dict[str, list[Trial]] = {}
    for trial in model.trials:
        if Measured(trial).is_opening and Measured(trial).is_usable:
            by_label.setdefault(trial.scenario.label or trial.scenario.name, []).append(trial)
    return tuple(row for label, trials in by_label.items() for row in _slope_row(label, trials))


def _held(model: ReportModel, name: str) -> list[Trial]:
    return [t for t in model.trials if t.scenario.name == name and Measured(t).is_opening]


def _row(scenario: ScenarioResult, trials: Sequence[Trial]) -> tuple[Cell, ...]:
    connections = trials[0].plan.load.connections
    alive = min(trial.summary.counters.ok for trial in trials)
    answered = scenario.estimates.get(metrics.ALIVE.key)
    return (
        Cell(scenario.label),
        Cell(f"{connections:,}"),
        Cell(_processes(trials[0])),
        cells.of(scenario, metrics.CONNECT_RATE, units.CONNECT_RATES[-1]),
        cells.of(scenario, metrics.USER_MEMORY, units.BYTES[0]),
        cells.of(scenario, metrics.KERNEL_MEMORY, units.BYTES[0]),
        Cell("all" if alive == connections else f"{alive:,}"),
        Cell(units.duration(answered.median) if answered else NOTHING),
    )


def _processes(trial: Trial) -> str:
    subject = trial.subject
    if subject is None:
        return "unknown"
    return f"{subject.copies} x {subject.threads or '?'}"


@dataclass(frozen=True)
class _Grown:
    """The growth of some memory in one trial, and the connections that it is due to."""

    connections: int
    bytes: float
    occasion: int


def _slope_row(label: str, trials: Sequence[Trial]) -> Iterator[tuple[Cell, ...]]:
    levels = sorted({trial.plan.load.connections for trial in trials})
    if len(levels) < 2:
        return
    user = _slope(trials, lambda each: each.pss_bytes)
    kernel = _slope(trials, lambda each: total(each.tcp_memory_bytes, each.socket_slab_bytes))
    if user is None and kernel is None:
        return
    span = f"{units.plural(len(trials), 'trial')} at {levels[0]:,} to {levels[-1]:,} connections"
    yield (Cell(label), user or NO_FIGURE, kernel or NO_FIGURE, Cell(span))


def _slope(trials: Sequence[Trial], of: Callable[[PerConnection], float | None]) -> Cell | None:
    grown = [found for trial in trials if (found := _grown(trial, of))]
    try:
        model = cost.fit(
            [one.bytes for one in grown],
            [0.0] * len(grown),
            [float(one.connections) for one in grown],
            occasions=[one.occasion for one in grown],
        )
    except ValueError:
        # Too few trials, their number of connections does not vary, or memory did not grow in one
        # of them: to leave out only that one would make a connection heavier.
        return None
    each = model.per_connection
    if each is None:
        return None
    if math.isinf(each.high):
        return Cell(units.significant(each.value), value=each.value)
    low, high = (units.significant(max(edge, 0.0)) for edge in (each.low, each.high))
    return Cell(
        units.significant(each.value),
        aside=(f"{low} to {high}",),
        value=each.value,
        low=each.low,
        high=each.high,
    )


def _grown(trial: Trial, of: Callable[[PerConnection], float | None]) -> _Grown | None:
    seen = trial.observation
    each = of(seen.per_connection) if seen and seen.per_connection else None
    if each is None:
        return None
    connections = trial.plan.load.connections
    return _Grown(connections, each * connections, trial.occasion)

"""What a receiver of published events takes of its server's memory: what many take more than few.

Knows which trials tell it; must not know how a table is drawn. Memory is read when the load has
ended and receivers still hear: a connection that stands has not yet asked for anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wiretrial.report import figure_words, units
from wiretrial.report.blocks import Block, Cell, Column, Table, key, words
from wiretrial.report.measures import Measured
from wiretrial.report.tables import cells
from wiretrial.results.model import Trial
from wiretrial.stats.summary import Estimate, summarise

TITLE = "Memory of receivers"
KEY = (
    "The server's proportional set size when the load has ended and all receivers are held still."
    " Per receiver: what it is more with the most receivers than with the fewest of the same block,"
    " by their difference; what the kernel keeps is not in it. " + figure_words.INTERVALS
)
_VARIED = frozenset({"connections", "streams", "layout"})
"""Levels that say how many receivers there are."""


@dataclass(frozen=True)
class _Row:
    """One way to hear of events: how much memory its receivers take."""

    name: str
    fewest: int
    most: int
    whole: Estimate
    """With the most receivers, bytes."""
    each: Estimate
    """Per receiver, bytes."""


def blocks(trials: Sequence[Trial]) -> tuple[Block, ...]:
    """A row for each way that was measured with several numbers of receivers, the least first."""
    rows = sorted(_rows(trials), key=lambda row: row.each.median)
    if not rows:
        return ()
    whole = units.fitting(units.BYTES, [row.whole.median for row in rows])
    each = units.fitting(units.BYTES, [row.each.median for row in rows])
    columns = (
        *words("Scenario"),
        Column("Receivers"),
        Column(f"Per receiver, {each.name}"),
        Column(f"Server with the most, {whole.name}"),
    )
    told = tuple(
        (
            Cell(row.name),
            Cell(f"{row.fewest:,} and {row.most:,}"),
            cells.estimated(row.each, each, each.figure(row.each.median)),
            cells.estimated(row.whole, whole, whole.figure(row.whole.median)),
        )
        for row in rows
    )
    return (Table(columns, told), key(KEY))


def _rows(trials: Sequence[Trial]) -> Iterator[_Row]:
    ways: dict[tuple[str, ...], list[Trial]] = {}
    for trial in trials:
        is_told = trial.plan.publish is not None and trial.scenario.twin_of is None
        if is_told and Measured(trial).is_usable:
            ways.setdefault(_way(trial), []).append(trial)
    workloads = {way[0] for way in ways}
    for (workload, label, *_), own in ways.items():
        name = label if len(workloads) == 1 else f"{label}: {workload}"
        if row := _row(name, own):
            yield row


def _way(trial: Trial) -> tuple[str, ...]:
    """What must be alike for memory to differ by the number of receivers alone."""
    scenario = trial.scenario
    others = (f"{k}={v}" for k, v in sorted(scenario.levels.items()) if k not in _VARIED)
    workload = str(scenario.levels.get("workload", scenario.group))
    return (workload, scenario.label or scenario.name, *others)


def _row(name: str, trials: Sequence[Trial]) -> _Row | None:
    """None where no block has memory with two numbers of receivers."""
    numbers = sorted({trial.plan.load.slots for trial in trials})
    if len(numbers) < 2:
        return None
    fewest, most = numbers[0], numbers[-1]
    few, many = _by_block(trials, fewest), _by_block(trials, most)
    both = sorted(few.keys() & many.keys())
    if not both:
        return None
    occasions = [occasion for occasion, _ in both]
    grown = [(many[block] - few[block]) / (most - fewest) for block in both]
    return _Row(
        name,
        fewest,
        most,
        whole=summarise([many[block] for block in both], occasions=occasions),
        each=summarise(grown, occasions=occasions),
    )


def _by_block(trials: Sequence[Trial], receivers: int) -> dict[tuple[int, int], int]:
    """Memory at the end, by occasion and block."""
    return {
        (trial.occasion, trial.block): memory
        for trial in trials
        if trial.plan.load.slots == receivers and (memory := _at_end(trial)) is not None
    }


def _at_end(trial: Trial) -> int | None:
    plateaus = trial.observation.plateaus if trial.observation else ()
    return next((one.pss_bytes for one in plateaus if one.name == "end"), None)

"""Who pays for receiving: a table per metric, a row per scenario in both environments.

Knows what `receiving` compared; must not know how a table is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wiretrial.report import figure_words, metrics, units
from wiretrial.report.blocks import (
    NO_FIGURE,
    NOTHING,
    Block,
    Cell,
    Column,
    Mark,
    Table,
    Text,
    heading,
    key,
    words,
)
from wiretrial.report.cpus import OTHER_WORK
from wiretrial.report.families import unit_of
from wiretrial.report.metrics import PER_MESSAGE
from wiretrial.report.receiving import STEERED, Charged, Row, Side
from wiretrial.report.tables import cells
from wiretrial.stats.agreement import Agreement

TITLE = "Who pays for receiving"
WHY = (
    "Over loopback the sender's CPU runs the receiver's TCP: what is charged to one side holds part"
    f" of the other's work. In {STEERED} each side's own CPUs take in what comes to that side."
)
KEY = (
    "survives: both environments show the same, which is that the ratio is above 1, below 1 (the"
    " 95 % interval leaves out 1), or 1 within 3 %. turns: they show different things. cannot be"
    " told: one of them shows nothing, or a rate was not reached. Each row is judged by itself,"
    " without a correction for their number."
)
MARKS: dict[Agreement, Mark] = {"survives": "yes", "turns": "no", "cannot be told": "untold"}


def blocks(found: Sequence[Charged]) -> Iterator[Block]:
    """What it is about, then a sentence and a table for each metric of each pair of groups."""
    if not found:
        return
    yield Text(WHY)
    title = ""
    for one in found:
        if one.title != title:
            yield heading(one.title[:1].upper() + one.title[1:])
            title = one.title
        yield Text(sentence(one))
        yield table(one)
    yield key(KEY)
    for metric, side in ((metrics.SERVER, "server"), (metrics.CLIENT, "client")):
        if any(one.metric is metric for one in found):
            yield key(charges(side))


def charges(side: str) -> str:
    """What the CPU of this side does not hold, and where it stands instead."""
    return (
        f"What comes in while the {side} sleeps is charged to no process: it is in the busy time of"
        f" the {side}'s CPUs, and not in the {side}'s CPU. Soft interrupts: their share of that"
        f" busy time. Both are missing where other work took more than {100 * OTHER_WORK:g} % of"
        " those CPUs."
    )


def sentence(found: Charged) -> str:
    """`Server CPU per message at 10,000 messages/s: 7 of 9 ratios to ws survive, 1 turns.`"""
    counts = found.outcomes
    many = sum(counts.values())
    survive, turn = counts.get("survives", 0), counts.get("turns", 0)
    untold = counts.get("cannot be told", 0)
    verb = "survives" if 1 in (survive, many) else "survive"
    told = [f"{survive} of {units.plural(many, 'ratio')} to {_base(found)} {verb}"]
    told += [f"{turn} {'turns' if turn == 1 else 'turn'}"] if turn else []
    told += [f"{untold} cannot be told"] if untold else []
    what = found.groups[0].what
    quantity = found.metric.quantity(what)
    load = f" at {units.asked(found.offered)} {what.many}/s" if found.offered else ""
    return f"{quantity[:1].upper()}{quantity[1:]}{load}: {', '.join(told)}."


def table(found: Charged) -> Table:
    """A row per scenario, in the order of its place over loopback."""
    metric, what = found.metric, found.groups[0].what
    unit = unit_of(found.groups, metric)
    per = f" per {what.one}" if metric in PER_MESSAGE else ""
    columns = (
        *words("Scenario"),
        Column(f"Loopback, {unit.name}{per}"),
        Column(f"{STEERED}, {unit.name}{per}"),
        Column(f"Ratio to {_base(found)}, loopback"),
        Column(f"Ratio to {_base(found)}, {STEERED}"),
        *words("Verdict"),
        Column("Soft interrupts, loopback", is_spare=True),
        Column(f"Soft interrupts, {STEERED}", is_spare=True),
    )
    rows = tuple(
        (
            Cell(row.label, colour=row.loopback.scenario.colour),
            *(cells.of(side.scenario, metric, unit) for side in (row.loopback, row.steered)),
            *(_ratio(side) for side in (row.loopback, row.steered)),
            _verdict(row),
            *(_share(side) for side in (row.loopback, row.steered)),
        )
        for row in found.rows
    )
    has_shares = metric in (metrics.SERVER, metrics.CLIENT)
    shown = range(len(columns)) if has_shares else range(len(columns) - 2)
    return Table(columns, rows).part(shown)


def _base(found: Charged) -> str:
    return found.base or "its baseline"


def _ratio(side: Side) -> Cell:
    return NO_FIGURE if side.ratio is None else cells.compared(side.ratio)


def _verdict(row: Row) -> Cell:
    aside: tuple[str, ...] = ()
    if row.short:
        aside = (f"rate not reached: {units.listed(row.short)}",)
    if row.outcome is None:
        return Cell("baseline", aside)
    if row.outcome == "cannot be told" and not aside:
        aside = tuple(filter(None, [figure_words.unseen(row.resolution).strip(" ()")]))
    return Cell(row.outcome, aside, mark=MARKS[row.outcome])


def _share(side: Side) -> Cell:
    value = side.scenario.median(metrics.SOFTIRQ_OF_BUSY)
    text = NOTHING if value is None else units.PERCENT.text(value)
    return Cell(text, value=value)

"""Predicted against measured capacities: how far they are off, why, and each of them.

Knows capacities; must not know how a table is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from wiretrial.report import capacities, units
from wiretrial.report.blocks import (
    NO_FIGURE,
    Block,
    Cell,
    Column,
    Item,
    Items,
    Table,
    Text,
    figures,
    heading,
    key,
    words,
)
from wiretrial.report.capacities import Capacity, Errors

TITLE = "How big a machine: predicted and measured"
KEY = (
    "Predicted: the rate at which all CPU time of the size is used, by a curve through levels at"
    " shares of what was measured, with the 95 % interval in which the measured should lie."
    " Measured: {}. Used: the share of its CPU time that the server used there. Dearer: how much"
    " more CPU a message took there than at the highest level below, beyond what the curve has."
    " Held back: the share of the limit's periods in which the server waited for the next. Who has"
    " no row stands under “Not measured”, with the reason."
)
IN_A_LOOP = "the median over trials of a closed loop, with its 95 % interval"
BY_A_SEARCH = (
    "the highest rate with {}, found by a search, and the lowest rate that it refused: the error is"
    " against their geometric middle, and the interval holds where it reaches between the two"
)
ERRORS_KEY = (
    "Size of the error: without its sign. Middle error: its median with its sign, below 0 where too"
    " little is predicted. A level off the curve: by how much a single level differs from the curve"
    " through all of them, as a share of a message's CPU time at the capacity, in the middle."
)
MOST_NAMED = 6


def blocks(found: Sequence[Capacity]) -> tuple[Block, ...]:
    """The distribution of errors, where it is worse and why, and a table per workload."""
    return tuple(_blocks(found)) if found else ()


def _blocks(found: Sequence[Capacity]) -> Iterator[Block]:
    if told := capacities.distributions(found):
        yield from map(Text, capacities.sentences(found))
        yield distribution(told)
        yield key(ERRORS_KEY)
    if causes := capacities.by_cause(found):
        yield heading("Where it is worse, and why")
        yield Items(
            "worse",
            tuple(
                Item(f"{len(some)} x: {capacities.CAUSES[cause]}", rest=_named(some))
                for cause, some in causes.items()
            ),
        )
    workloads = list(dict.fromkeys(one.workload for one in found))
    for workload in workloads:
        yield heading(workload or "Each of them")
        yield each([one for one in found if one.workload == workload])
    goals = sorted({one.goal for one in found if one.goal})
    ways = [BY_A_SEARCH.format(" or ".join(goals))] if goals else []
    ways += [IN_A_LOOP] if any(one.goal is None for one in found) else []
    yield key(KEY.format("; or ".join(ways)))


def distribution(told: Sequence[Errors]) -> Table:
    """A row for all, for each of several occasions, for each workload and for each size."""
    columns = (
        *words(""),
        Column("Predicted"),
        *figures("Size of the error\nmedian, %", "Nine in ten within\n%"),
        Column("Middle error\n%", is_spare=True),
        *figures("Within 10 %\n% of them", "Interval holds\n% of them"),
        Column("A level off the curve\n%", is_spare=True),
    )
    rows = tuple(
        (
            Cell(one.title, (one.machine,) if one.machine else ()),
            Cell(str(one.count), value=one.count),
            _percent(one.middle),
            _percent(one.ninetieth),
            Cell(_signed(one.bias), value=one.bias),
            _percent(one.near),
            _percent(one.held),
            _percent(one.scatter),
        )
        for one in told
    )
    return Table(columns, rows)


def each(found: Sequence[Capacity]) -> Table:
    """A row per server and size, and per occasion where there are several."""
    is_of_several = len({one.occasion for one in found}) > 1
    of_what = "sessions/s" if any(one.is_of_sessions for one in found) else "/s"
    columns = (
        *words("Server", "CPUs"),
        *(words("Occasion") if is_of_several else ()),
        *figures(f"Predicted\n{of_what}", f"Measured\n{of_what}", "Error\n%"),
        *words("Interval holds"),
        Column("Used\n%", is_spare=True),
        Column("Dearer\n%", is_spare=True),
        Column("Held back\n%", is_spare=True),
    )
    order = {label: place for place, label in enumerate(dict.fromkeys(o.label for o in found))}
    rows = tuple(
        (
            Cell(one.label),
            Cell(f"{one.cpus:g}", value=one.cpus),
            *((Cell(str(one.occasion)),) if is_of_several else ()),
            _predicted(one),
            _measured(one),
            NO_FIGURE if one.error is None else Cell(_signed(one.error), value=one.error),
            Cell(_holds(one)),
            NO_FIGURE if one.busy is None else _percent(one.busy),
            NO_FIGURE if one.change is None else Cell(_signed(one.change), value=one.change),
            NO_FIGURE if one.throttled is None else _percent(one.throttled),
        )
        for one in sorted(found, key=lambda one: (order[one.label], one.cpus, one.occasion))
    )
    return Table(columns, rows, names=2)


def _holds(one: Capacity) -> str:
    if one.why_untold:
        return one.why_untold
    return "yes" if one.is_held else "no"


def _predicted(one: Capacity) -> Cell:
    made = one.predicted
    if made is None:
        return NO_FIGURE
    is_closed = made.high < math.inf
    low = units.trimmed(made.low)
    aside = [f"{low} to {units.trimmed(made.high)}" if is_closed else f"{low} or more"]
    if made.is_extrapolated:
        aside.append("extrapolated")
    ends = (made.low, made.high) if is_closed else (None, None)
    return Cell(units.trimmed(made.rate), tuple(aside), value=made.rate, low=ends[0], high=ends[1])


def _measured(one: Capacity) -> Cell:
    found = one.measured
    if found is None:
        return NO_FIGURE
    shown = f"{'≥ ' if one.is_bound else ''}{units.trimmed(found.median)}"
    ends = found.interval
    aside = (f"{units.trimmed(ends[0])} to {units.trimmed(ends[1])}",) if ends else ()
    if one.refused is not None and not one.is_bound:
        aside = (f"below {units.trimmed(one.refused)}",)
    low, high = ends or (None, None)
    return Cell(shown, aside, value=found.median, low=low, high=high)


def _named(found: Sequence[Capacity]) -> str:
    told = [f"{one.scenario} ({capacities.signed(one.error or 0.0)})" for one in found]
    more = len(told) - MOST_NAMED
    shown = "; ".join(told[:MOST_NAMED])
    return f"{shown}; and {more} more" if more > 0 else shown


def _percent(share: float) -> Cell:
    return Cell(f"{100 * share:.1f}" if share < 0.1 else f"{100 * share:.0f}", value=share)


def _signed(share: float) -> str:
    return capacities.signed(share).removesuffix(" %")

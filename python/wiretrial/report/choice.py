"""Which server and protocol, in words and as a table.

Knows the document of a choice; must not know how it was worked out, nor terminals or pages.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretrial.report import advice, units
from wiretrial.report.blocks import NO_FIGURE, Cell, Column, Section, Table, key
from wiretrial.results.choice import Choice, Chosen

FURTHEST = 2
"""Times the connections that one server held."""
MOST = 10
"""Servers in a terminal; the page has all."""


VOID = (
    "your server does more than answer; other machine or version; uneven load; a connection per"
    " message; a goal of time (measure one: `wiretrial advise URL`)"
)


def headline(told: Chosen) -> str:
    """The answer in one line."""
    first = told.choices[0]
    carried = f"{units.trimmed(told.demand.highest)} messages/s"
    if told.demand.users is not None:
        carried = f"{told.demand.users:,} users"
    verb = "carries" if first.instances == 1 else "carry"
    return (
        f"{units.plural(first.instances, 'core')} of {_named(first)} {verb} {carried};"
        f" {first.instances + 1} if one may fail."
    )


def lines(told: Chosen) -> Iterator[tuple[str, str]]:
    """What it rests on, each with its label."""
    first, demand = told.choices[0], told.demand
    each = f", one per user every {units.length(demand.think_ns)}" if demand.users else ""
    peak = f", {demand.peak:.3g} times the average" if demand.peak != 1 else ""
    yield (
        "Demand",
        f"{units.trimmed(demand.highest)} messages/s of {told.payload:,} bytes{peak}{each}",
    )
    yield "First", _capacity(first)
    for one in told.by_protocol:
        if one.protocol != first.protocol:
            yield "Instead", _other(one, first)
    if first.keeps_connections and demand.users is not None:
        yield "Connections", _connections(first, demand.users)
    if told.purchases:
        yield "Machines", advice.purchases(told.purchases)
    yield "Evidence", _evidence(told)
    yield "Void if", VOID


def table(told: Chosen, most: int | None = None) -> Table:
    """A row per server and protocol, that which needs least first."""
    columns = (
        Column("Server", is_figure=False),
        Column("Protocol", is_figure=False),
        Column("Cores"),
        Column("Highest of\none core, /s"),
        Column("CPU per\nmessage"),
        Column("Memory per\nconnection", is_spare=True),
        Column("Study", is_figure=False, is_spare=True),
    )
    return Table(columns, tuple(map(_row, told.choices[:most])), names=1)


def sections(told: Chosen) -> tuple[Section, ...]:
    """The page."""
    return (
        Section(
            "Servers",
            (
                table(told),
                key(
                    "One core each. Cores: at 60 % of the highest throughput, by the lower end of"
                    " its interval, or on the slowest of several occasions. ≥: the load generator"
                    " was the limit. Our own servers, which do nothing else, are left out."
                ),
            ),
        ),
    )


def _named(one: Choice) -> str:
    return f"{one.server} over {one.protocol}"


def _capacity(one: Choice) -> str:
    at_least = "at least " if one.is_at_least else ""
    ends = ""
    if one.low is not None and one.high is not None:
        ends = f" ({units.trimmed(one.low)} to {units.trimmed(one.high)})"
    asked = "less than 1 %" if one.busy < 0.01 else units.percent(one.busy)
    told = (
        f"a core answers {at_least}{units.trimmed(one.throughput)}/s{ends}; {asked} of it is asked"
    )
    if one.near is not None:
        near = f"{units.duration(one.near.p99_ns)} at {units.trimmed(one.near.rate)}/s"
        told += f"; p99 was {near}, as measured"
    return told


def _other(one: Choice, first: Choice) -> str:
    at_least = "at least " if one.is_at_least else ""
    answered = f"{at_least}{units.trimmed(one.throughput)}/s"
    return (
        f"{one.protocol}: {one.instances} instead of {first.instances} ({one.server}, {answered} on"
        f" {units.plural(one.connections, 'connection')})"
    )


def _connections(first: Choice, users: int) -> str:
    told = f"{units.trimmed(users / first.instances)} on each core"
    if first.memory_bytes is not None:
        whole = units.octets(users * first.memory_bytes)
        told += f", {units.octets(first.memory_bytes)} each, {whole} in all"
    most = first.most_connections
    return f"{told}; only {most:,} were held" if users / first.instances > FURTHEST * most else told


def _evidence(told: Chosen) -> str:
    first = told.choices[0]
    carried = "no payload" if first.payload is None else f"{first.payload:,} bytes"
    on = f" on {first.occasions} occasions" if first.occasions > 1 else ""
    return (
        f"{units.plural(first.trials, 'trial')}{on} of {first.version} in {first.study},"
        f" {first.date}:"
        f" {carried}, {units.plural(first.connections, 'connection')}; nothing was measured now"
    )


def _row(one: Choice) -> tuple[Cell, ...]:
    sign = "≥ " if one.is_at_least else ""
    memory = one.memory_bytes
    return (
        Cell(one.server),
        Cell(one.protocol),
        Cell(str(one.instances), value=one.instances),
        Cell(f"{sign}{units.trimmed(one.throughput)}", value=one.throughput),
        NO_FIGURE if one.cpu_ns is None else Cell(units.duration(one.cpu_ns), value=one.cpu_ns),
        NO_FIGURE if memory is None else Cell(units.octets(memory), value=memory),
        Cell(one.study),
    )

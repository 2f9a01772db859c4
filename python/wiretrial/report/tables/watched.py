"""What each message costs the servers that somebody else runs, and what their hosts did meanwhile.

Knows watched places; must not know how they were read. A figure that is void, or that could not be
read, has no cell, and a note says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from wiretrial.report import units
from wiretrial.report.blocks import (
    NO_FIGURE,
    Block,
    Cell,
    Column,
    Item,
    Items,
    Table,
    figures,
    key,
    words,
)
from wiretrial.results.watched import WatchedPart, WatchedPlace
from wiretrial.words import Noun

TITLE: Final = "What each server cost"
MEGABYTE: Final = 1e6
WORTH_SAYING: Final = 0.001
"""A share of a cost that its clock may be off by."""
COARSE: Final = 0.1
"""Share of its CPU time that a server's user and system time may be off by, unmentioned."""
SOURCES: Final = {
    "observe": "marks that went there and back",
    "prometheus": "the Prometheus's clock and how long its scrapes took",
}
KEY: Final = (
    "CPU time of the server between two readings inside the measured time, over the verified"
    " replies that came between them. Memory: at the end, and how much it grew. Throttled: share of"
    " the periods of its CPU limit (100 ms by default) in which the server used up its time and"
    " waited, such as 25 % of them."
)
HOST_KEY: Final = (
    "CPUs that were busy on average: all of the host, before the load, by the servers of the table"
    " above, by the load generator. Rest: what is left of the host's. Of it, interrupts: time in"
    " interrupts, most of which takes packets in, at most; it may be charged to a server, too."
)


def blocks(places: Sequence[WatchedPlace], what: Noun) -> tuple[Block, ...]:
    """Both tables and their notes; empty where nothing was watched."""
    if not places:
        return ()
    told = tuple(Item(text) for place in places for text in notes(place))
    parts = [(place, part) for place in places for part in place.parts]
    hosts = [place for place in places if place.span is not None]
    made: list[Block] = []
    if parts:
        made += [_parts(parts, what, of_several=len(places) > 1), key(KEY)]
    if hosts:
        made += [_hosts(hosts), key(HOST_KEY)]
    return (*made, *((Items("note", told),) if told else ()))


def _parts(
    parts: Sequence[tuple[WatchedPlace, WatchedPart]], what: Noun, *, of_several: bool
) -> Table:
    columns = (
        *words("Server"),
        Column(f"CPU, µs per {what.one}"),
        Column("User, µs", is_spare=True),
        Column("System, µs", is_spare=True),
        Column("CPUs busy"),
        Column("Memory, MB"),
        Column("Growth, MB"),
        Column("Throttled, %"),
    )
    rows = tuple(
        (
            Cell(one.name, aside=(place.place,) if of_several else ()),
            _cost(one.per_reply_ns),
            _cost(one.user_per_reply_ns),
            _cost(one.system_per_reply_ns),
            _cpus(one.cpus),
            _memory(one.memory_end_bytes),
            _memory(one.memory_growth_bytes),
            _percent(one.throttled_share),
        )
        for place, one in parts
    )
    return Table(columns, rows)


def _hosts(places: Sequence[WatchedPlace]) -> Table:
    columns = (
        *words("Host"),
        *figures("CPUs", "Busy", "Before the load", "Servers", "Generator", "Rest", "Interrupts"),
    )
    rows = tuple(
        (
            Cell(one.place),
            Cell(f"{one.cpus}", value=one.cpus) if one.cpus else NO_FIGURE,
            _cpus(one.busy_cpus),
            _cpus(one.baseline_cpus),
            _cpus(one.parts_cpus),
            _cpus(one.rate(one.generator_ns)),
            _cpus(one.gap_cpus),
            _cpus(None if one.softirq_ns is None else one.interrupt_cpus),
        )
        for one in places
    )
    return Table(columns, rows)


def notes(place: WatchedPlace) -> Iterator[str]:
    """What a reader of the figures must know."""
    if place.failed:
        yield f"Watching {place.place} ended early: {place.failed}."
    if place.clock_error_ns and place.span is not None:
        error = units.duration(place.clock_error_ns)
        share = place.edge_error
        effect = f"{100 * share:.1f} %" if share >= WORTH_SAYING else "less than 0.1 %"
        how = (
            "The instants of its scrapes are"
            if place.kind == "prometheus"
            else f"The clock of {place.place} is"
        )
        yield (
            f"{how} known to {error}, from {SOURCES[place.kind]}: costs are off by {effect} at"
            " most for that."
        )
    if place.coarse:
        yield f"{place.coarse}."
    if place.kind == "prometheus" and place.span is not None and not place.parts:
        yield from _of_host_alone(place)
    if place.charges_softirq:
        yield (
            f"The kernel of {place.place} charges interrupts to the process that they interrupt:"
            " a server's CPU may hold work for others, and others its own."
        )
    for lack in place.lacks:
        yield f"Not read of {place.place}: {lack}."
    for part in place.parts:
        yield from _notes_of(part)


def _of_host_alone(place: WatchedPlace) -> Iterator[str]:
    """What a host by itself tells of the server on it."""
    per_reply = place.gap_per_reply_ns
    spent = ""
    if per_reply is not None and per_reply <= 0:
        spent = " Its CPUs were no busier than before the load."
    elif per_reply is not None:
        spent = (
            f" {units.MICROSECONDS.figure(per_reply)} µs of its CPU time for each reply are beyond"
            " what it did before the load; whatever else ran there meanwhile is among them."
        )
    yield f"Of {place.place} the host is known, and no server on it.{spent}"
    if place.memory_used_bytes is not None and place.memory_growth_bytes is not None:
        used, growth = place.memory_used_bytes / MEGABYTE, place.memory_growth_bytes / MEGABYTE
        yield f"Memory in use of {place.place}: {used:,.1f} MB at the end ({growth:+,.1f} MB)."


def _notes_of(part: WatchedPart) -> Iterator[str]:
    name = part.name
    if part.span is None:
        yield f"{name} was not read twice in the measured time, so it has no figures."
    elif part.has_ended:
        yield f"{name} ended in the measured time, so it has no cost."
    elif part.restarts:
        yield f"{name} was started again in the measured time, so it has no cost."
    elif part.span.is_around:
        yield (
            f"Few readings of {name} lie in the measured time: its figures are over"
            f" {units.length(part.span.length_ns)} around it."
        )
    if part.cpu_ns and 2 * part.cpu_resolution_ns > COARSE * part.cpu_ns:
        yield (
            f"User and system time of {name} are counted in steps of"
            f" {units.duration(part.cpu_resolution_ns)}, and in all it had"
            f" {units.duration(part.cpu_ns)}: load it more, or for longer."
        )
    if part.memory == "resident" and (part.processes or 0) > 1:
        yield f"Memory of {name} counts what its processes share once for each."
    if part.memory == "control group":
        yield f"Memory of {name} is that of its control group, with its page cache."
    if part.shares_group and part.throttled_periods:
        yield f"{name} may share its CPU limit with other processes of its control group."
    for lack in part.lacks:
        yield f"Not read of {name}: {lack}."


def _cost(ns: float | None) -> Cell:
    if ns is None:
        return NO_FIGURE
    return Cell(units.MICROSECONDS.figure(ns), value=ns)


def _cpus(count: float | None) -> Cell:
    return NO_FIGURE if count is None else Cell(f"{count:.2f}", value=count)


def _memory(octets: int | None) -> Cell:
    if octets is None:
        return NO_FIGURE
    return Cell(f"{octets / MEGABYTE:,.1f}", value=octets)


def _percent(share: float | None) -> Cell:
    return NO_FIGURE if share is None else Cell(f"{100 * share:.1f}", value=share)

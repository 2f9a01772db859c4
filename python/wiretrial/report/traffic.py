"""A run of many routes in a table: a row per route, and one per flow of sessions.

Knows the figures of one trial by route; must not know how they were taken, or where they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wiretrial import words
from wiretrial.report import units
from wiretrial.report.blocks import NO_FIGURE, Cell, Column, Table, Told, figures, heading, key
from wiretrial.report.blocks import words as names
from wiretrial.report.routes import Flow, Route, Routed
from wiretrial.results import quantiles
from wiretrial.results.hdr import Hdr

SHOWN = (0.5, 0.99)
BLOCKED = (
    "Blocked: the wait for a free connection of the pool, which is part of the times beside it."
)


def slowest(found: Routed) -> str:
    """`Slowest route: GET /report, p99 812 ms.`; empty where no p99 can be told.

    Of a conversation it is the slowest step.
    """
    known = [
        (time, route.name)
        for route in found.routes
        if (time := quantiles.told(route.times, SHOWN[-1])) is not None
    ]
    if len(known) < 2:
        return ""
    time, name = max(known)
    return f"Slowest {part(found).one}: {name}, p99 {units.duration(time)}."


def blocks(found: Routed) -> tuple[Told, ...]:
    """A row per route, then a row per flow."""
    if not found.routes:
        return ()
    asked = words.of_url(found.trial.plan.target.url)
    rate = f"{words.counted(asked).many.capitalize()}/s"
    heads = (
        *names(part(found).one.capitalize()),
        *(Column(title, is_spare=title == "Share") for title in ("Share", rate)),
        *figures("p50", "p99", "Failed"),
        *([Column("Blocked p99"), Column("Blocked max")] if _is_blocked(found) else []),
        Column("Bytes per reply", is_spare=True),
    )
    told: list[Told] = [
        Table(heads, tuple(_row(route, is_blocked=_is_blocked(found)) for route in found.routes))
    ]
    told += [key(BLOCKED)] if _is_blocked(found) else []
    told += [key(text) for text in sampled(found.routes)]
    sessions = (*names("Flow"), *figures("Sessions", "Failed", "p50", "p99", "Waited p99"))
    told += [heading("Sessions"), Table(sessions, tuple(map(_session, found.flows)))]
    if others := tuple(_others(found)):
        kinds = (*names("Flow", "Kind"), *figures("Messages"))
        told += [heading("Messages that no step awaits"), Table(kinds, others)]
    return tuple(told)


def sampled(routes: Iterable[Route]) -> Iterator[str]:
    """`GET /items: 12,400 of 1,240,000 replies checked in full`, where checks are of a sample."""
    for route in routes:
        if route.checkable:
            told = f"{route.name}: {route.checked:,} of {route.checkable:,} replies checked in full"
            if route.wrong:
                # Of all replies as many may be wrong; the failures have only those that were found.
                told += f", {route.wrong:,} wrong ({100 * route.wrong / route.checked:.2g} %)"
            left = f"; {route.left_out:,} of the sample left out" if route.left_out else ""
            yield f"{told}{left}."


def part(found: Routed) -> words.Noun:
    """What the run's sessions are made of: routes or steps."""
    return words.part_of(words.of_url(found.trial.plan.target.url))


def _others(found: Routed) -> Iterator[tuple[Cell, ...]]:
    """What came in conversations beside what they await, the most frequent kinds first."""
    for flow in found.flows:
        for kind, count in sorted(flow.unasked.items(), key=lambda one: (-one[1], one[0])):
            yield Cell(flow.name), Cell(kind), Cell(f"{count:,}", value=count)


def _is_blocked(found: Routed) -> bool:
    """Whether any step waited for a connection of a pool."""
    return any(route.blocked.max for route in found.routes)


def _row(route: Route, *, is_blocked: bool) -> tuple[Cell, ...]:
    return (
        Cell(route.name),
        Cell(f"{100 * route.share:.1f} %", value=route.share),
        Cell(f"{route.rate:,.0f}", value=route.rate),
        *_quantiles(route.times),
        Cell(f"{route.failed:,}", mark="no" if route.failed else ""),
        *(_waited(route.blocked) if is_blocked else ()),
        Cell(f"{route.bytes_received / route.ok:,.0f}") if route.ok else NO_FIGURE,
    )


def _waited(times: Hdr) -> tuple[Cell, ...]:
    longest = Cell(units.duration(times.max), value=times.max) if times.count else NO_FIGURE
    return _quantiles(times)[-1], longest


def _session(flow: Flow) -> tuple[Cell, ...]:
    failed = sum(flow.failed.values())
    return (
        Cell(flow.name),
        Cell(f"{flow.done:,}", value=flow.done),
        Cell(f"{failed:,}", mark="no" if failed else ""),
        *_quantiles(flow.iterations),
        _quantiles(flow.waits)[-1],
    )


def _quantiles(times: Hdr) -> tuple[Cell, ...]:
    told = (quantiles.told(times, q) for q in SHOWN)
    return tuple(NO_FIGURE if ns is None else Cell(units.duration(ns), value=ns) for ns in told)

"""A run of many routes: what each route and each flow of sessions took.

Knows the figures of one trial by route; must not know how they were sent, or where they are shown.
Figures are of the window that counts, errors of the whole run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from wiretrial.report import units
from wiretrial.report.blocks import NO_FIGURE, Cell, Column, Table, Told, figures, heading, words
from wiretrial.report.measures import Measured
from wiretrial.results import hdr, quantiles
from wiretrial.results.hdr import Hdr
from wiretrial.results.model import Trial
from wiretrial.snapshot import TrafficFigures

SHOWN = (0.5, 0.99)


@dataclass(frozen=True)
class Route:
    """One route. `times`: response times in an open loop, else service times, nanoseconds."""

    name: str
    sent: int
    ok: int
    share: float
    """Of the verified replies of all routes."""
    rate: float
    """Verified replies per second."""
    times: Hdr
    bytes_received: int
    errors: Mapping[str, int]
    failed_share: float | None
    """Of all that was sent in the whole run; None: nothing was."""
    examples: Mapping[str, str]

    @property
    def failed(self) -> int:
        """Requests of the whole run that failed."""
        return sum(self.errors.values())


@dataclass(frozen=True)
class Flow:
    """One flow of sessions. `iterations`: from the instant a session was due to its last reply."""

    name: str
    begun: int
    done: int
    failed: Mapping[str, int]
    iterations: Hdr
    waits: Hdr
    """From the instant a session was due to its begin."""


@dataclass(frozen=True)
class Routed:
    """The figures of one trial by route and by flow, each merged once."""

    trial: Trial

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """The routes in the order of the plan; none where the run had one message."""
        whole, names = self.trial.summary.traffic, self.trial.start.traffic
        if whole is None or names is None:
            return ()
        measured = Measured(self.trial)
        kind = "response_time" if measured.is_open_loop else "service_time"
        seconds = measured.counted_ns / 1e9
        replies = sum(route.ok for part in self._parts for route in part.routes)
        found = []
        for index, name in enumerate(names.routes):
            in_all = whole.routes[index]
            failed = sum(in_all.errors.values())
            own = [part.routes[index] for part in self._parts]
            ok = sum(one.ok for one in own)
            found.append(
                Route(
                    name=name,
                    sent=sum(one.sent for one in own),
                    ok=ok,
                    share=ok / replies if replies else 0.0,
                    rate=ok / seconds if seconds else 0.0,
                    times=_merged(one.histograms.get(kind) for one in own),
                    bytes_received=sum(one.bytes_received for one in own),
                    errors={k: n for k, n in in_all.errors.items() if n},
                    failed_share=failed / in_all.sent if in_all.sent else None,
                    examples=in_all.examples,
                )
            )
        return tuple(found)

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The flows in the order of the plan."""
        names = self.trial.start.traffic
        if names is None:
            return ()
        found = []
        for index, name in enumerate(names.flows):
            own = [part.flows[index] for part in self._parts]
            failed: Counter[str] = Counter()
            for one in own:
                failed.update(one.failed)
            found.append(
                Flow(
                    name=name,
                    begun=sum(one.begun for one in own),
                    done=sum(one.done for one in own),
                    failed=dict(+failed),
                    iterations=_merged(one.histograms.get("iteration_time") for one in own),
                    waits=_merged(one.histograms.get("session_wait") for one in own),
                )
            )
        return tuple(found)

    @cached_property
    def _parts(self) -> list[TrafficFigures]:
        measured = Measured(self.trial)
        if measured.uses_totals:
            return [one for one in (self.trial.summary.traffic,) if one is not None]
        return [interval.traffic for interval in measured.counted if interval.traffic is not None]


def slowest(found: Routed) -> str:
    """`Slowest route: GET /report, p99 812 ms.`; empty where no p99 can be told."""
    known = [
        (time, route.name)
        for route in found.routes
        if (time := quantiles.told(route.times, SHOWN[-1])) is not None
    ]
    if len(known) < 2:
        return ""
    time, name = max(known)
    return f"Slowest route: {name}, p99 {units.duration(time)}."


def blocks(found: Routed) -> tuple[Told, ...]:
    """A row per route, then a row per flow."""
    if not found.routes:
        return ()
    heads = (
        *words("Route"),
        *(Column(title, is_spare=title == "Share") for title in ("Share", "Requests/s")),
        *figures("p50", "p99", "Failed"),
        Column("Bytes per reply", is_spare=True),
    )
    told: list[Told] = [Table(heads, tuple(map(_row, found.routes)))]
    sessions = (*words("Flow"), *figures("Sessions", "Failed", "p50", "p99", "Waited p99"))
    told += [heading("Sessions"), Table(sessions, tuple(map(_session, found.flows)))]
    return tuple(told)


def _row(route: Route) -> tuple[Cell, ...]:
    return (
        Cell(route.name),
        Cell(f"{100 * route.share:.1f} %", value=route.share),
        Cell(f"{route.rate:,.0f}", value=route.rate),
        *_quantiles(route.times),
        Cell(f"{route.failed:,}", mark="no" if route.failed else ""),
        Cell(f"{route.bytes_received / route.ok:,.0f}") if route.ok else NO_FIGURE,
    )


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


def _merged(texts: Iterable[str | None]) -> Hdr:
    return hdr.merge(text for text in texts if text)

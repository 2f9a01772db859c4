"""Figures of routes and flows of many agents, or of many intervals, become one.

Pure. Counts are added, histograms added exactly; all are of the same plan, so that routes and flows
have the same order. What stands at an instant is added over agents, and the last of intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from wiretrial.results import hdr
from wiretrial.snapshot import FlowFigures, RouteFigures, TrafficFigures


def together(parts: Iterable[TrafficFigures | None]) -> TrafficFigures | None:
    """Of several agents at one time; None: there is no traffic."""
    told = [part for part in parts if part is not None]
    return _added(told, told) if told else None


def in_turn(parts: Iterable[TrafficFigures | None]) -> TrafficFigures | None:
    """Of several intervals of one agent, one after the other; None: there is no traffic."""
    told = [part for part in parts if part is not None]
    return _added(told, told[-1:]) if told else None


def _added(told: Sequence[TrafficFigures], standing: Sequence[TrafficFigures]) -> TrafficFigures:
    return TrafficFigures(
        routes=tuple(
            _route([part.routes[index] for part in told], [part.routes[index] for part in standing])
            for index in range(len(told[0].routes))
        ),
        flows=tuple(
            _flow([part.flows[index] for part in told], [part.flows[index] for part in standing])
            for index in range(len(told[0].flows))
        ),
        waiting=sum(part.waiting for part in standing),
        dropped=sum(part.dropped for part in told),
    )


def _route(parts: Sequence[RouteFigures], standing: Sequence[RouteFigures]) -> RouteFigures:
    examples: dict[str, str] = {}
    for part in parts:
        examples = {**part.examples, **examples}
    return RouteFigures(
        sent=sum(part.sent for part in parts),
        ok=sum(part.ok for part in parts),
        errors=_counts(part.errors for part in parts),
        in_flight=sum(part.in_flight for part in standing),
        checked=sum(part.checked for part in parts),
        wrong=sum(part.wrong for part in parts),
        left_out=sum(part.left_out for part in parts),
        bytes_sent=sum(part.bytes_sent for part in parts),
        bytes_received=sum(part.bytes_received for part in parts),
        examples=examples,
        histograms=hdr.merge_named(part.histograms for part in parts),
    )


def _flow(parts: Sequence[FlowFigures], standing: Sequence[FlowFigures]) -> FlowFigures:
    return FlowFigures(
        begun=sum(part.begun for part in parts),
        done=sum(part.done for part in parts),
        failed=_counts(part.failed for part in parts),
        open=sum(part.open for part in standing),
        unasked=_counts(part.unasked for part in parts),
        histograms=hdr.merge_named(part.histograms for part in parts),
    )


def _counts(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)

"""Other mixes of a traffic file's routes, by which it can be told what each route costs.

Pure: knows flows and how often a session takes each route; must not know how a mix is sent, nor
what it costs. A session that is cut short after some step is one that a user may have: what comes
later needs what came before, and not the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wiretrial.plan_traffic import Flow, Traffic
from wiretrial.traffic import loads

MOST = 12
"""Mixes: each is a level to measure."""
APART = 0.05
"""A mix that is closer than this to what is known already tells too little; 0: it tells nothing."""
LEAST_WEIGHT = 1 / 3


@dataclass(frozen=True)
class Mix:
    """One flow alone, whole or cut short."""

    traffic: Traffic
    share: float
    """Of the rate at which sessions may arrive, so that no server is asked for more than it has
    been: a session of this flow costs at most 1 / weight of an average one."""


def others(traffic: Traffic) -> tuple[Mix, ...]:
    """As few mixes as tell all routes apart, as far as any do; none of a single route.

    None of conversations: their lines are no requests that a server answers one by one.
    """
    if traffic.lines or len(traffic.routes) < 2:
        return ()
    known = [_unit(_usual(traffic))]
    left = list(_cut(traffic))
    found: list[Mix] = []
    while left and len(known) < len(traffic.routes) and len(found) < MOST:
        distances = [_length(_apart(_unit(takes), known)) for _, takes in left]
        furthest = max(range(len(left)), key=distances.__getitem__)
        if distances[furthest] < APART:
            break
        mix, takes = left.pop(furthest)
        known.append(_unit(_apart(_unit(takes), known)))
        found.append(mix)
    return tuple(found)


def _cut(traffic: Traffic) -> Iterator[tuple[Mix, list[float]]]:
    """Each flow alone, after each of its steps, and what a session takes of each route then."""
    weights = sum(flow.weight for flow in traffic.flows)
    for flow in traffic.flows:
        if any(step.back and step.back.times is None for step in flow.steps):
            # A session without an end has none to be cut at.
            continue
        share = max(flow.weight / weights, LEAST_WEIGHT)
        for end in range(1, len(flow.steps) + 1):
            short = flow.model_copy(update={"steps": flow.steps[:end]})
            alone = traffic.model_copy(update={"flows": (short,)})
            yield Mix(alone, share), _takes(short, len(traffic.routes))


def _usual(traffic: Traffic) -> list[float]:
    takes = [_takes(flow, len(traffic.routes)) for flow in traffic.flows]
    weights = [flow.weight for flow in traffic.flows]
    return [
        sum(weight * own[route] for weight, own in zip(weights, takes, strict=True))
        for route in range(len(traffic.routes))
    ]


def _takes(flow: Flow, routes: int) -> list[float]:
    """How often a session of the flow takes each route."""
    takes = [0.0] * routes
    for step, times in zip(flow.steps, loads.taken(flow), strict=True):
        takes[step.route] += times
    return takes


def _apart(takes: Sequence[float], known: Sequence[Sequence[float]]) -> list[float]:
    """What of a mix the known ones do not have (Gram and Schmidt); those are orthonormal."""
    rest = list(takes)
    for one in known:
        along = sum(a * b for a, b in zip(rest, one, strict=True))
        rest = [a - along * b for a, b in zip(rest, one, strict=True)]
    return rest


def _unit(takes: Sequence[float]) -> list[float]:
    length = _length(takes)
    return [one / length for one in takes]


def _length(takes: Sequence[float]) -> float:
    return float(sum(one * one for one in takes) ** 0.5)

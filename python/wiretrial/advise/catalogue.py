"""Which server and protocol carry a demand, from kept trials alone: nothing is measured.

Knows rows of kept trials; must not know where they lie. What a row says holds for messages that
are about as large, on a core like that one, of a server that does nothing but answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median

from wiretrial.advise import sizing
from wiretrial.advise.sizing import Instance, Type
from wiretrial.errors import UsageProblem
from wiretrial.results.advice import Demand, Purchase
from wiretrial.results.choice import Choice, Chosen, Near
from wiretrial.results.known import Row
from wiretrial.stats import summary
from wiretrial.stats.summary import Estimate

ROOM = 0.6
"""Of the highest throughput: there a closed loop keeps all connections waiting, so that no time is
promised at it."""
AS_LARGE = 4.0
"""A kept message stands for those that are up to so many times as large, or as small."""
SMALL = 256
"""A message up to so many bytes is like one that carries nothing."""
OURS = "reference"
"""Our own servers, `reference` and `reference-http3`, say, which do nothing else but answer: the
floor of the others, and no choice."""

_Key = tuple[str, str]


def chosen(rows: Iterable[Row], demand: Demand, payload: int, types: Sequence[Type] = ()) -> Chosen:
    """All servers that the rows tell of, the one that needs least first."""
    usable = [row for row in rows if row.is_valid and row.cpus == 1 and not _is_ours(row)]
    known: dict[_Key, list[Row]] = {}
    for row in usable:
        known.setdefault((row.server, row.protocol), []).append(row)
    held = {key: max(row.connections for row in own) for key, own in known.items()}
    memory = _memory(known)
    found = [
        _choice(own, like, demand, held[key], memory.get(key))
        for key, own in known.items()
        if (like := _like(own, payload))
    ]
    if not found:
        raise UsageProblem(
            f"no kept trial has messages of about {payload:,} bytes: {_sizes(usable)}",
            "measure your own server with `wiretrial advise URL`",
        )
    found.sort(key=lambda one: (one.instances, one.busy * one.instances))
    return Chosen(
        demand=demand,
        payload=payload,
        choices=tuple(found),
        purchases=_purchases(found[0], demand, types),
    )


def _is_ours(row: Row) -> bool:
    return row.subject.partition("-")[0] == OURS


def _like(own: Sequence[Row], payload: int) -> list[Row]:
    """The trials of one workload whose messages are most like those that are asked about."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in own:
        is_closed = row.is_plain and row.copies == 1 and row.rate is None and row.throughput
        if is_closed and _distance(row.payload, payload) <= math.log(AS_LARGE):
            key = (row.study, row.workload, row.payload, row.connections, row.threads)
            groups.setdefault(key, []).append(row)
    nearest = sorted(
        groups.values(),
        key=lambda group: (
            _distance(group[0].payload, payload),
            -group[0].connections,
            -median(row.throughput or 0.0 for row in group),
        ),
    )
    return nearest[0] if nearest else []


def _distance(kept: int | None, payload: int) -> float:
    """Between two sizes, as the logarithm of their ratio."""
    if kept is None:
        return math.log(AS_LARGE) if payload <= SMALL else math.inf
    return abs(math.log(max(kept, 1) / max(payload, 1)))


def _choice(
    own: Sequence[Row], like: Sequence[Row], demand: Demand, held: int, memory: float | None
) -> Choice:
    first = like[0]
    told = _throughput(like)
    low, high = told.interval or (None, None)
    # What is carried on the slowest occasion is carried on all, a bound as well.
    lowest = min(told.over_occasions) if told.over_occasions else low
    carried = ROOM * (lowest or told.median)
    instances = sizing.instances(demand.highest, carried)
    costs = [row.cpu_ns for row in like if row.cpu_ns]
    return Choice(
        server=first.server,
        version=first.version,
        protocol=first.protocol,
        study=first.study,
        workload=first.workload,
        date=max(row.date for row in like),
        trials=len(like),
        payload=first.payload,
        connections=first.connections,
        throughput=told.median,
        low=low,
        high=high,
        is_at_least=told.bound != "exact",
        occasions=len({row.occasion for row in like}),
        cpu_ns=median(costs) if costs else None,
        instances=instances,
        each=demand.highest / instances,
        near=_near(own, first, demand.highest / instances),
        memory_bytes=memory,
        most_connections=held,
    )


def _throughput(like: Sequence[Row]) -> Estimate:
    """What a core answers; trials of one occasion are not independent of each other."""
    known = [(row.throughput, row.occasion) for row in like if row.throughput]
    values, occasions = zip(*known, strict=True)
    found = summary.summarise(values, occasions=occasions)
    at_least = any(row.is_at_least for row in like)
    return replace(found, bound="at least") if at_least else found


def _near(own: Sequence[Row], first: Row, each: float) -> Near | None:
    times: dict[float, list[float]] = {}
    for row in own:
        is_like = row.is_plain and _distance(row.payload, first.payload or 1) <= math.log(AS_LARGE)
        if is_like and row.rate is not None and row.rate >= each and row.p99_ns is not None:
            times.setdefault(row.rate, []).append(row.p99_ns)
    if not times:
        return None
    lowest = min(times)
    return Near(rate=lowest, p99_ns=median(times[lowest]))


def _memory(known: Mapping[_Key, Sequence[Row]]) -> dict[_Key, float]:
    """Per connection, by trials that had the most of them."""
    found = {}
    for key, own in known.items():
        told = [row for row in own if row.memory_bytes is not None]
        if told:
            most = max(row.connections * row.copies for row in told)
            found[key] = median(
                row.memory_bytes or 0.0 for row in told if row.connections * row.copies == most
            )
    return found


def _sizes(usable: Sequence[Row]) -> str:
    sizes = sorted({row.payload for row in usable if row.payload is not None and row.is_plain})
    return f"they have {', '.join(f'{size:,}' for size in sizes)}" if sizes else "there is none"


def _purchases(first: Choice, demand: Demand, types: Sequence[Type]) -> tuple[Purchase, ...]:
    if not types:
        return ()
    memory = None
    if first.memory_bytes is not None and demand.users is not None:
        memory = round(first.memory_bytes * demand.users / first.instances)
    one = Instance(cpus=1.0, memory_bytes=memory)
    found = sizing.purchases(types, one, first.instances)
    if not found:
        raise UsageProblem(
            f"no --machine holds one core of {first.server} with its connections",
            "name a larger one",
        )
    return found

"""The least time that so many messages can take, by arithmetic alone: work, threads, round trips.

A server that waits t in each of its C threads answers at most C / t messages per second, and a
producer that sends its next message after the reply sends none sooner than t and its round trips
after the last. Whatever is measured above that is the server's own; what sits on it has measured
waiting. Both bounds are those of asymptotic analysis of closed systems (Lazowska et al.,
*Quantitative System Performance*, 5.2), without any service demand but t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Bound = Literal["pool", "path"]


@dataclass(frozen=True)
class Demand:
    """What is asked for: `each` messages from each of `producers`, one at a time."""

    each: float
    producers: int
    threads: int
    work_ns: int
    """What a thread of the server waits per message."""
    path_ns: int = 0
    """What lies between producer and server per message: round trips times their length."""


@dataclass(frozen=True)
class Floor:
    """The least time, and what sets it; with the formula in figures."""

    ns: float
    bound: Bound
    formula: str


def floor(demand: Demand) -> Floor | None:
    """The floor; None where neither work nor path takes any time."""
    each, producers = demand.each, demand.producers
    at_once = min(producers, demand.threads)
    pool = each * demand.work_ns * producers / at_once
    path = each * (demand.work_ns + demand.path_ns)
    if max(pool, path) <= 0:
        return None
    if math.isclose(pool, path) or path < pool:
        said = f"{each:g} x {_ms(demand.work_ns)} x {producers} / {at_once}"
        return Floor(pool, "pool", said)
    return Floor(path, "path", f"{each:g} x ({_ms(demand.work_ns)} + {_ms(demand.path_ns)})")


def _ms(ns: int) -> str:
    return f"{ns / 1e6:g} ms" if ns else "0"

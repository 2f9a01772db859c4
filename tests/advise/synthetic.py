"""A measured limit whose server costs what the test says: levels, resources and the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wiretrial.results.limits import Found, Level, Limit, Resource, RouteRate

COMMAND = "wiretrial advise http://h/ --users 50k --think 5s --goal 'p99 < 200ms' -c 64"


def resource(rate: float, name: str = "server", **changes: Any) -> Resource:
    """0.02 CPUs at rest, 100 us per message, of one CPU."""
    told = {"cpus": 0.02 + 100e-6 * rate, "of_cpus": 1.0, "memory_bytes": 50 << 20, **changes}
    return Resource(name=name, **told)


def level(rate: float, resources: Sequence[Resource] | None = None, **changes: Any) -> Level:
    told: dict[str, Any] = {
        "search": 1,
        "answered": rate,
        "duration_ns": 10**9,
        "connections": 64,
        "is_kept": True,
        "time_ns": 1e3 * rate,
        "server_busy": 0.02 + 100e-6 * rate,
        "generator_busy": 0.2,
        "verdict": "valid",
        "bottleneck": "rate",
        "evidence": "the rate was kept",
        "stay_ns": 2e6,
        "bytes": 300.0,
        **changes,
    }
    return Level(
        rate=rate,
        resources=tuple([resource(rate)] if resources is None else resources),
        **told,
    )


def refused(rate: float, **changes: Any) -> Level:
    told = {"reason": "goal", "why": "p99 is 310 ms", "server_busy": 0.97, **changes}
    return level(rate, is_kept=False, **told)


def limit(levels: Sequence[Level] = (), **changes: Any) -> Limit:
    """One instance carries 8,000 to 9,000 requests per second, most likely 8,400."""
    every = tuple(levels) or (
        *(level(rate) for rate in (2000.0, 4000.0, 8000.0)),
        refused(9000.0),
    )
    told: dict[str, Any] = {
        "target": "http://h/",
        "command": COMMAND,
        "started_at": "2026-01-01T00:00:00Z",
        "unit": "requests/s",
        "goals": ("p99 < 200ms",),
        "time": "p99",
        "time_goal_ns": 2e8,
        "tolerance": 0.05,
        "rate": 8400.0,
        "low": 8000.0,
        "high": 9000.0,
        "binding": "server",
        "refused": next((one for one in every if not one.is_kept), None),
        "end": "complete",
        "searches": (Found(search=1, kept=8000.0, refused=9000.0, is_confirmed=True),),
        "levels": every,
        **changes,
    }
    return Limit(**told)


COSTS = {"login": 100e-6, "add": 900e-6, "list": 50e-6}
"""CPU seconds of the server for each request of three routes."""


def routed(rate: float, takes: Sequence[float] = (1, 1, 1), **changes: Any) -> Level:
    """A level of sessions that take each route so often, beside 0.02 CPUs at rest."""
    rates = [rate * often for often in takes]
    busy = 0.02 + sum(one * cost for one, cost in zip(rates, COSTS.values(), strict=True))
    routes = tuple(RouteRate(name=name, rate=one) for name, one in zip(COSTS, rates, strict=True))
    return level(rate, [resource(rate, cpus=busy)], routes=routes, **changes)

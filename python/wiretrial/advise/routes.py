"""What each route of a traffic file costs, by a regression over levels of several mixes.

Knows levels with their routes and resources; must not know how a mix is chosen or sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.results.advice import RouteCost, RouteUse
from wiretrial.results.limits import Level
from wiretrial.stats import mixes
from wiretrial.stats.mixes import Costs


@dataclass(frozen=True)
class Routes:
    """Either what each route costs, or why that can't be told; neither of a single route."""

    uses: tuple[RouteUse, ...] = ()
    lacks: str | None = None


def told(levels: Sequence[Level], mixed: Sequence[Level]) -> Routes:
    """Over kept levels of the file's own mix, and levels of other mixes that were answered."""
    own = [level for level in levels if level.is_kept and level.routes]
    usable = [*own, *(level for level in mixed if level.reason in (None, "goal"))]
    usual = max(own, key=lambda level: level.rate, default=None)
    if usual is None or len(usual.routes) < 2 or not usual.resources:
        return Routes()
    if not mixed:
        return Routes(lacks="no other mix of them was measured")
    found: dict[str, Costs] = {}
    for resource in usual.resources:
        seen = [level for level in usable if _cpus(level, resource.name)]
        rates = [[route.rate for route in level.routes] for level in seen]
        if not seen:
            continue
        try:
            found[resource.name] = mixes.fit(rates, [_cpus(one, resource.name) for one in seen])
        except ValueError as error:
            return Routes(lacks=str(error))
    return Routes(uses=_uses(usual, found)) if found else Routes()


def _uses(usual: Level, found: dict[str, Costs]) -> tuple[RouteUse, ...]:
    replies = sum(route.rate for route in usual.routes)
    busy = [
        route.rate * sum(costs.kinds[place].value for costs in found.values())
        for place, route in enumerate(usual.routes)
    ]
    whole = sum(busy)
    return tuple(
        RouteUse(
            name=route.name,
            of_messages=route.rate / replies,
            of_cpu=busy[place] / whole if whole else 0.0,
            costs=tuple(
                RouteCost(
                    server=server,
                    ns=costs.kinds[place].value * 1e9,
                    low_ns=costs.kinds[place].low * 1e9,
                    high_ns=costs.kinds[place].high * 1e9,
                )
                for server, costs in found.items()
            ),
        )
        for place, route in enumerate(usual.routes)
    )


def _cpus(level: Level, name: str) -> float:
    """CPUs that a server kept busy; 0: that was not read."""
    return next((one.cpus or 0.0 for one in level.resources if one.name == name), 0.0)

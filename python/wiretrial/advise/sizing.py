"""How many instances and machines a demand needs, where one instance's capacity is known.

Knows counts and prices; must not know how a capacity is measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.results.advice import Purchase

MOST_INSTANCES = 100_000


@dataclass(frozen=True)
class Type:
    """A machine that can be had. None: that is not known, and bounds nothing."""

    name: str
    cores: float | None = None
    memory_bytes: int | None = None
    per_hour: float | None = None


@dataclass(frozen=True)
class Instance:
    """What one instance of the application takes of a machine."""

    cpus: float | None
    memory_bytes: int | None


def instances(demand: float, capacity: float) -> int:
    """So many keep the goals. `capacity`: the lower end of what one carries."""
    return max(1, math.ceil(demand / capacity))


def purchases(types: Sequence[Type], one: Instance, needed: int) -> tuple[Purchase, ...]:
    """Machines of each type for so many instances, and one to spare; the cheapest first.

    A type that does not hold a single instance is left out.
    """
    found = []
    for kind in types:
        each = _holds(kind, one)
        if each:
            machines = math.ceil(needed / each) + 1
            price = None if kind.per_hour is None else machines * kind.per_hour
            found.append(
                Purchase(name=kind.name, machines=machines, instances_each=each, per_hour=price)
            )
    return tuple(sorted(found, key=lambda it: (it.per_hour is None, it.per_hour or it.machines)))


def months(demand: float, carried: float, growth: float) -> float:
    """Until a demand that grows by a share per month is more than is carried; 0: it is already."""
    if carried <= demand:
        return 0.0
    return math.log(carried / demand) / math.log1p(growth)


def _holds(kind: Type, one: Instance) -> int:
    """How many instances a machine of this type holds."""
    bounds = []
    if kind.cores is not None and one.cpus:
        bounds.append(kind.cores / one.cpus)
    if kind.memory_bytes is not None and one.memory_bytes:
        bounds.append(kind.memory_bytes / one.memory_bytes)
    return math.floor(min(bounds, default=1.0) + 1e-9)

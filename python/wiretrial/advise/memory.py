"""What a connection takes of a server's memory and descriptors, by levels with different numbers.

Knows levels and their resources; must not know how many users there will be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

from wiretrial.results.advice import Memory, Opened
from wiretrial.results.limits import Level, Resource
from wiretrial.results.watched import MemoryKind
from wiretrial.stats import slope
from wiretrial.stats.slope import Slope


def per_connection(name: str, levels: Sequence[Level], crowded: Sequence[Level]) -> Memory | None:
    """Of one server; None where levels with more connections are missing, or tell nothing.

    Only levels after the search count: while it warms up, a server's memory grows by itself.
    """
    every = (*levels, *crowded)
    kind = _kind(name, every)

    def read(resource: Resource) -> int | None:
        return resource.memory_bytes if resource.memory_kind == kind else None

    line = _line(name, every, read)
    if line is None or line.high <= 0:
        return None
    return Memory(
        each_bytes=max(line.value, 0.0),
        low_bytes=max(line.low, 0.0),
        high_bytes=line.high,
        base_bytes=line.base,
        most=round(line.most),
    )


def descriptors(name: str, levels: Sequence[Level], crowded: Sequence[Level]) -> Opened | None:
    """The same of its open descriptors."""
    line = _line(name, (*levels, *crowded), lambda resource: resource.descriptors)
    if line is None:
        return None
    return Opened(
        each=max(line.value, 0.0),
        low=max(line.low, 0.0),
        high=max(line.high, 0.0),
        base=line.base,
        most=round(line.most),
    )


def _kind(name: str, levels: Sequence[Level]) -> MemoryKind | None:
    """How most levels count a server's memory: a line through two kinds would be of neither."""
    kinds = Counter(
        one.memory_kind
        for level in levels
        for one in level.resources
        if one.name == name and one.memory_bytes
    )
    return max(kinds, key=lambda kind: kinds[kind], default=None)


def _line(
    name: str, levels: Sequence[Level], read: Callable[[Resource], int | None]
) -> Slope | None:
    """Over the connections of levels that were answered; None where they tell no slope."""
    points = [
        (float(level.connections), float(value))
        for level in levels
        for resource in level.resources
        if resource.name == name and (value := read(resource)) and level.reason in (None, "goal")
    ]
    try:
        return slope.fit([x for x, _ in points], [y for _, y in points])
    except ValueError:
        return None


def of_kernel(crowded: Sequence[Level]) -> float | None:
    """Sockets and their buffers, per connection."""
    seen = [level.kernel_bytes for level in crowded if level.kernel_bytes is not None]
    return median(seen) if seen else None

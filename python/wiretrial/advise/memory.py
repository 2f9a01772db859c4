"""What a connection takes of a server's memory, by levels with different numbers of them.

Knows levels and their resources; must not know how many users there will be.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from wiretrial.results.advice import Memory
from wiretrial.results.limits import Level
from wiretrial.stats import slope


def per_connection(name: str, levels: Sequence[Level], crowded: Sequence[Level]) -> Memory | None:
    """Of one server; None where levels with more connections are missing, or tell nothing.

    Only levels after the search count: while it warms up, a server's memory grows by itself.
    """
    points = [
        (float(level.connections), float(resource.memory_bytes))
        for level in (*levels, *crowded)
        for resource in level.resources
        if resource.name == name and resource.memory_bytes and level.reason in (None, "goal")
    ]
    try:
        line = slope.fit([x for x, _ in points], [y for _, y in points])
    except ValueError:
        return None
    if line.high <= 0:
        return None
    return Memory(
        each_bytes=max(line.value, 0.0),
        low_bytes=max(line.low, 0.0),
        high_bytes=line.high,
        base_bytes=line.base,
        most=round(line.most),
    )


def of_kernel(crowded: Sequence[Level]) -> float | None:
    """Sockets and their buffers, per connection."""
    seen = [level.kernel_bytes for level in crowded if level.kernel_bytes is not None]
    return median(seen) if seen else None

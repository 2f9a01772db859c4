"""What the watched parts of an application say of the bottleneck.

Pure: knows when a part has all the CPU time that it may have; must not know how it was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from wiretrial.results.watched import WatchedPart, WatchedPlace

FULL: Final = 0.90
"""A part that uses this share of what it may have is at its limit."""
STOPPED: Final = 0.25
"""So is one that its CPU limit stopped in this share of the limit's periods."""


def at_limit(places: Sequence[WatchedPlace]) -> str | None:
    """Which part had no CPU time left, and why; None: no limit that is known was reached."""
    for place in places:
        for part in place.parts:
            if reason := _part_at_limit(part):
                return reason
    return next((reason for place in places if (reason := _full_host(place))), None)


def busy(places: Sequence[WatchedPlace]) -> Iterator[str]:
    """How many CPUs each part kept busy."""
    for place in places:
        for part in place.parts:
            if part.cpus is not None:
                most = "" if part.quota_cpus is None else f" of its {part.quota_cpus:.3g}"
                yield f"{part.name}: {part.cpus:.2f}{most} CPUs busy"


def _part_at_limit(part: WatchedPart) -> str | None:
    limit, share, cpus = part.quota_cpus, part.throttled_share or 0.0, part.cpus or 0.0
    if limit is not None and share >= STOPPED:
        return (
            f"{part.name} was stopped by its limit of {limit:.3g} CPUs in {100 * share:.0f} % of"
            " the limit's periods"
        )
    if limit is not None and cpus >= FULL * limit and not part.shares_group:
        return f"{part.name} used its limit of {limit:.3g} CPUs"
    if part.threads == 1 and cpus >= FULL:
        return f"the only thread of {part.name} had its CPU full"
    return None


def _full_host(place: WatchedPlace) -> str | None:
    """Where the generator is on the same host, its own figures tell whose CPU time was short."""
    if place.has_generator or not place.cpus or place.busy_cpus is None:
        return None
    if place.busy_cpus < FULL * place.cpus:
        return None
    busiest = max(place.parts, key=lambda one: one.cpus or 0.0, default=None)
    most = f", most of it by {busiest.name}" if busiest and busiest.cpus else ""
    return f"the CPUs of {place.place} were full{most}"

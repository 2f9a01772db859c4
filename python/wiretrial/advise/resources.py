"""What a message takes of each resource, by a line through the levels, and how well that predicts.

Knows levels and their resources; must not know how many instances there will be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wiretrial.errors import MeasurementInvalid
from wiretrial.results.advice import Check
from wiretrial.results.limits import Level, Resource
from wiretrial.stats import busy, utilisation
from wiretrial.stats.utilisation import FURTHEST, Line

ROUNDING = 1e-9
LOWER = 0.6
"""The check fits the levels up to this share of the capacity, and predicts the highest."""


@dataclass(frozen=True)
class Known:
    """A resource with its line, and as the highest kept level had it."""

    line: Line
    highest: Resource

    @property
    def name(self) -> str:
        """As it was watched."""
        return self.highest.name

    def busy(self, rate: float) -> float | None:
        """Share of its CPUs at a rate; None: not known there."""
        cpus = self.line.at(rate)
        return cpus / self.highest.of_cpus if cpus is not None and self.highest.of_cpus else None


def known(levels: Sequence[Level]) -> tuple[Known, ...]:
    """Every resource whose CPU time was read, in the order of the levels.

    Raises where the levels are too few or too close together for a line.
    """
    return tuple(_known(levels))


def written(levels: Sequence[Level], name: str) -> Line | None:
    """Bytes that a server writes to disks per second, by the rate; None: that can't be told."""
    kept = [level for level in levels if level.is_kept]
    points = _points(kept, name, lambda resource: resource.written_bytes)
    try:
        return utilisation.fit(list(points), list(points.values()))
    except ValueError:
        return None


def binding(resources: Sequence[Known], capacity: float) -> Known | None:
    """The one with the largest share of its CPUs busy at the capacity."""
    shares = {one.name: one.busy(capacity) or 0.0 for one in resources}
    return max(resources, key=lambda one: shares[one.name], default=None)


def check(levels: Sequence[Level], name: str, capacity: float) -> Check | None:
    """The highest kept level, predicted from those up to 60 % of the capacity.

    One above the capacity was kept by luck: no search confirmed it.
    """
    # The capacity is a mean of logarithms, which rounds.
    capacity *= 1 + ROUNDING
    points = {rate: cpus for rate, cpus in _points(levels, name, _cpus).items() if rate <= capacity}
    lower = {rate: cpus for rate, cpus in points.items() if rate <= LOWER * capacity}
    highest = max(points, default=0.0)
    if not points or highest in lower:
        return None
    try:
        curve = busy.fit(list(lower), list(lower.values()))
    except ValueError:
        return None
    if highest > FURTHEST * max(lower):
        return None
    return Check(name=name, rate=highest, predicted=curve.at(highest), measured=points[highest])


def _known(levels: Sequence[Level]) -> Iterator[Known]:
    kept = sorted((level for level in levels if level.is_kept), key=lambda level: level.rate)
    for resource in kept[-1].resources if kept else ():
        points = _points(kept, resource.name, _cpus)
        if not points:
            continue
        try:
            line = utilisation.fit(list(points), list(points.values()))
        except ValueError as error:
            raise MeasurementInvalid(
                f"what a message costs can't be told: {error}",
                "measure lower rates too, with `wiretrial advise TARGET`",
            ) from error
        yield Known(line, resource)


def _cpus(resource: Resource) -> float | None:
    return resource.cpus or None


def _points(
    levels: Sequence[Level], name: str, read: Callable[[Resource], float | None]
) -> Mapping[float, float]:
    """What was used by rate, of the kept levels; the mean where a rate was measured again."""
    seen: dict[float, list[float]] = {}
    for level in levels:
        for resource in level.resources:
            used = read(resource)
            if level.is_kept and resource.name == name and used is not None:
                seen.setdefault(level.rate, []).append(used)
    return {rate: sum(used) / len(used) for rate, used in seen.items()}

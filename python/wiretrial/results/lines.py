"""What a running study's trials did so far, over their time: a line per scenario, in few points.

Pure: knows figures of one instant and how many points may be kept; must not know who reads or draws
them. Points that are too many are joined in pairs, and
new ones are as long, so that a line spans its whole trial evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

MOST_POINTS: Final = 80
"""Of a line, an even number; more would be narrower than the line."""
MOST_LINES: Final = 8
"""As many as there are colours; the oldest one goes first."""


class Point(NamedTuple):
    """One step of a trial. Rates are per second, times nanoseconds, CPU use in cores."""

    at_s: float
    """Its end, since the load began."""
    rate: float
    """Verified replies."""
    errors: float
    p50_ns: float | None
    p99_ns: float | None
    generator: float
    server: float | None
    """None where the server can't be watched."""


class Line(BaseModel):
    """One scenario's latest trial."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str
    colour: int
    """Its place in the palette, the same for all of its trials."""
    is_http: bool = False
    points: tuple[Point, ...] = ()
    """Each of `every` steps."""
    every: int = 1
    rest: tuple[Point, ...] = ()
    """Steps that do not fill a point yet."""

    @property
    def shown(self) -> tuple[Point, ...]:
        """All points up to now."""
        return (*self.points, _joined(self.rest)) if self.rest else self.points

    def and_then(self, point: Point) -> Line:
        """The line with one step more."""
        points, every, rest = self.points, self.every, (*self.rest, point)
        if len(rest) == every:
            points, rest = (*points, _joined(rest)), ()
        if len(points) == MOST_POINTS:
            points = tuple(_joined(points[at : at + 2]) for at in range(0, MOST_POINTS, 2))
            every *= 2
        return self.model_copy(update={"points": points, "every": every, "rest": rest})


def with_line(lines: Sequence[Line], line: Line) -> tuple[Line, ...]:
    """The lines with this one in place of the scenario's last, or as the newest."""
    if any(one.scenario == line.scenario for one in lines):
        return tuple(line if one.scenario == line.scenario else one for one in lines)
    return (*lines, line)[-MOST_LINES:]


def _joined(points: Sequence[Point]) -> Point:
    """Several steps as one: the mean of each figure, and the greater of the 99th percentiles."""
    if len(points) == 1:
        return points[0]

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    return Point(
        at_s=points[-1].at_s,
        rate=mean([one.rate for one in points]) or 0.0,
        errors=mean([one.errors for one in points]) or 0.0,
        p50_ns=mean([one.p50_ns for one in points]),
        p99_ns=max((one.p99_ns for one in points if one.p99_ns is not None), default=None),
        generator=mean([one.generator for one in points]) or 0.0,
        server=mean([one.server for one in points]),
    )

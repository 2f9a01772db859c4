"""Lays the monotonic clock of another host on ours, and says how far off that may be.

Pure. A question leaves here, is answered there at an instant of its clock, and the answer comes
back: whatever each way took, the instant lies between the two of ours (Cristian, 1989, Distributed
Computing 3, 146-158). The shortest round trip tells most; one early and one late show how the
clocks drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """When it was asked by our clock, answered by the other's, and heard by ours."""

    asked_ns: int
    told_ns: int
    heard_ns: int
    """Less the time that the other one took after `told_ns`."""

    @property
    def round_trip_ns(self) -> int:
        """Both ways together."""
        return self.heard_ns - self.asked_ns

    @property
    def offset_ns(self) -> int:
        """What is added to the other clock to have ours, if both ways took the same time."""
        return (self.asked_ns + self.heard_ns) // 2 - self.told_ns

    @property
    def error_ns(self) -> int:
        """How far off that is at most."""
        return -(-self.round_trip_ns // 2)


@dataclass(frozen=True)
class Laid:
    """Another clock on ours: the offset grows evenly from the first to the last question."""

    first: Question
    last: Question

    @property
    def error_ns(self) -> int:
        """How far off an instant between both may be."""
        return max(self.first.error_ns, self.last.error_ns)

    def ours(self, there_ns: int) -> int:
        """The same instant by our clock; outside of both questions the nearer offset holds."""
        length = self.last.told_ns - self.first.told_ns
        share = (there_ns - self.first.told_ns) / length if length > 0 else 0.0
        drift = self.last.offset_ns - self.first.offset_ns
        return there_ns + self.first.offset_ns + round(min(max(share, 0.0), 1.0) * drift)


def laid(questions: Sequence[Question]) -> Laid | None:
    """From questions in order of time; None: there was none.

    The best of the first half and the best of the second one decide.
    """
    if not questions:
        return None
    middle = (questions[0].told_ns + questions[-1].told_ns) // 2
    early = [one for one in questions if one.told_ns <= middle]
    late = [one for one in questions if one.told_ns > middle] or early
    return Laid(_best(early), _best(late))


def _best(questions: Sequence[Question]) -> Question:
    return min(questions, key=lambda one: one.round_trip_ns)

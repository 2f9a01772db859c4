"""How far another machine's monotonic clock is from ours, and how exactly that is known.

Pure. We ask for its time and note ours before and after: whatever the way there and back took, the
answer was given between the two. The shortest round trip tells most.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wiretrial.results.fleet import Clock


@dataclass(frozen=True)
class Sample:
    """One question: our clock before and after it, and the other's in between, nanoseconds."""

    asked_ns: int
    told_ns: int
    heard_ns: int

    @property
    def round_trip_ns(self) -> int:
        """How long the answer took."""
        return self.heard_ns - self.asked_ns

    @property
    def offset_ns(self) -> int:
        """Where the other's clock stood if both ways took the same time."""
        return self.told_ns - (self.asked_ns + self.heard_ns) // 2

    @property
    def error_ns(self) -> int:
        """How far off that is at most, whatever each way took."""
        return -(-self.round_trip_ns // 2)


def best(samples: Iterable[Sample]) -> Sample:
    """The one that tells most. There must be one at least."""
    return min(samples, key=lambda sample: sample.round_trip_ns)


def clock(before: Iterable[Sample], after: Iterable[Sample] = ()) -> Clock:
    """What is known from the samples before a run; those after it show how far it drifted."""
    early, late = list(before), list(after)
    first = best(early)
    return Clock(
        offset_ns=first.offset_ns,
        error_ns=first.error_ns,
        samples=len(early),
        drift_ns=best(late).offset_ns - first.offset_ns if late else None,
    )

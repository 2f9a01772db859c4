"""Whether an open loop's rate was reached, and where it was not, by how much it was missed.

Pure: knows counters of intervals and the load that was asked for; must not know who the bottleneck
was. A rate is missed where the messages that were sent fall short of those that were due, or where
the line of messages without a reply grew by as much: with many connections a server that is too
slow takes every message and answers later and later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.plan import Load, OpenLoop
from wiretrial.results import offered
from wiretrial.snapshot import Interval
from wiretrial.stats.knee import FEWEST_POINTS, backlog_growth

SHORTFALL = 0.02
"""A rate of which this share is missing was not reached; less may be the edges of the window."""
ROUNDING = 1e-9
DEVIATIONS = 3.0
"""Random arrivals scatter by the square root of their number; so many times that is no scatter."""
OCCUPIED = 0.9
"""Connections that had this share of the messages in flight that they may have were full."""


@dataclass(frozen=True)
class Offered:
    """What became of a rate. Rates are messages per second."""

    rate: float
    sent: float
    growth: float
    """Of the line of messages that are due and have no reply; 0 where it did not surely grow."""
    connections: int
    slots: int
    """Messages that may be in flight on all connections together."""
    occupied: float
    """The share of them that was."""
    missing: float
    """Messages that were due and not sent, beyond what scatter explains, per second."""

    @property
    def is_missed(self) -> bool:
        """Whether the rate was not reached."""
        # What is due is a sum over intervals, which rounds.
        return max(self.missing, self.growth) > SHORTFALL * self.rate * (1 + ROUNDING)

    @property
    def is_full(self) -> bool:
        """Whether messages waited for a connection, as none had room."""
        return self.missing > 0 and self.occupied >= OCCUPIED

    @property
    def needed(self) -> int:
        """Connections that carry the rate if a message takes as long as it did.

        Little's law: in flight = rate x time. (Little 1961)
        """
        return math.ceil(self.connections * self.rate / self.sent) if self.sent else 0

    @property
    def time_ns(self) -> float:
        """How long a message occupied its place, by the same law."""
        return self.slots * self.occupied * 1e9 / self.sent if self.sent else 0.0


def find(inside: Sequence[Interval], load: Load, begin_ns: int) -> Offered | None:
    """What became of the rate in these intervals; None where none was asked for, or none passed.

    `begin_ns`: of the load. A rate that changes over time is told by its mean.
    """
    executor = load.executor
    elapsed = sum(interval.end_ns - interval.start_ns for interval in inside) / 1e9
    if not isinstance(executor, OpenLoop) or not elapsed:
        return None
    spans = ((interval.start_ns, interval.end_ns) for interval in inside)
    due = sum(offered.due(load, begin_ns, span) for span in spans)
    sent = sum(interval.counters.sent for interval in inside)
    # Equal gaps shift by one send at each edge of the window.
    regular = executor.pacing == "constant"
    scatter = 2 * load.pack if regular else DEVIATIONS * math.sqrt(due)
    short = due - sent
    slots = load.slots
    return Offered(
        rate=due / elapsed,
        sent=sent / elapsed,
        growth=_growth(inside),
        connections=load.connections,
        slots=slots,
        occupied=sum(i.counters.in_flight for i in inside) / (slots * len(inside)),
        missing=short / elapsed if short > scatter else 0.0,
    )


def _growth(inside: Sequence[Interval]) -> float:
    """In the later half, where that can tell: at first, replies that take long only begin."""
    points = offered.line(inside)
    half = points[len(points) // 2 :]
    growth = backlog_growth(half if len(half) >= FEWEST_POINTS else points)
    return max(growth or 0.0, 0.0)

"""The highest rate that a server sustains: bracket, bisect, confirm; each on fresh trials.

Pure: `Search.next_rate` says at which rate to measure next, `Search.see` is told whether that rate
was sustained. A rate is sustained where three things hold (method: offered rate against a service
level): what was asked for was sent and answered, the waiting line did not grow, and the response
time kept its objective.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from wiretrial.stats import student

ACHIEVED = 0.99
"""Replies per offered message, at least."""
GROWTH = 0.005
"""The waiting line may grow by this share of the offered rate and count as standing still."""
CONFIDENCE = 0.95
FEWEST_POINTS = 8


@dataclass(frozen=True)
class Observation:
    """One trial at one offered rate."""

    offered: float
    achieved: float
    growth: float | None
    """Of the waiting line, as `backlog_growth` tells it."""
    response_ns: float | None
    """The objective's quantile of the response time; None: too few messages to tell."""


@dataclass(frozen=True)
class Refusal:
    """Why a rate was not sustained."""

    reason: Literal["achieved", "backlog", "objective"]
    text: str


def refusal(seen: Observation, objective_ns: float | None) -> Refusal | None:
    """Why this rate was not sustained; None where it was."""
    share = seen.achieved / seen.offered
    if share < ACHIEVED:
        return Refusal("achieved", f"{100 * share:.1f} % of the offered rate was answered")
    if seen.growth is not None and seen.growth > GROWTH * seen.offered:
        return Refusal("backlog", f"the waiting line grew by {seen.growth:,.0f} a second")
    if objective_ns is not None and (seen.response_ns is None or seen.response_ns > objective_ns):
        told = "is unknown" if seen.response_ns is None else f"was {seen.response_ns / 1e6:.3g} ms"
        return Refusal("objective", f"the response time {told}, not {objective_ns / 1e6:.3g} ms")
    return None


def backlog_growth(points: Sequence[tuple[float, float]]) -> float | None:
    """Messages per second by which the line surely grew: the lower end of the slope's interval.

    `points`: (seconds, messages due and not answered yet).

    Ordinary least squares; neighbours in time are alike, so the degrees of freedom are those of the
    effective number of independent points (first-order autocorrelation; Bayley and Hammersley
    1946). None where too few points stand.
    """
    n = len(points)
    if n < FEWEST_POINTS:
        return None
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if spread == 0:
        return None
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    residuals = [y - mean_y - slope * (x - mean_x) for x, y in points]
    total = sum(r * r for r in residuals)
    if total == 0:
        return slope
    together = sum(p * q for p, q in pairwise(residuals)) / total
    independent = max(n * (1 - max(together, 0.0)) / (1 + max(together, 0.0)), 3.0)
    error = math.sqrt(total / n * independent / (independent - 2) / (spread * independent / n))
    return slope - student.quantile((1 + CONFIDENCE) / 2, max(round(independent) - 2, 1)) * error


@dataclass
class Search:
    """Where the knee is. Rates are messages per second.

    From `first` the rate is multiplied by `stride` (or divided, if the first is not sustained)
    until both sides are known, then bisected on a log scale until they are within `tolerance`; the
    lower one is then confirmed on up to `confirmations` further trials, and lowered where most of
    them disagree. On the way a rate that was not sustained is tried again, up to twice, and the
    majority decides: one pause of the machine would otherwise keep the search below that rate for
    good.
    """

    first: float
    ceiling: float
    tolerance: float = 0.05
    confirmations: int = 3
    floor: float = 1.0
    stride: float = 2.0
    low: float | None = None
    """The highest rate that was sustained so far, and is not disproved."""
    high: float | None = None
    """The lowest rate that was not."""
    agreed: int = field(default=0)
    disagreed: int = field(default=0)
    doubted: float | None = None
    """The rate of the last trial, if that was not sustained and others have to decide."""
    saved: int = field(default=0)
    """Trials in which the doubted rate was sustained after all."""

    @property
    def phase(self) -> Literal["bracket", "bisect", "confirm", "done"]:
        """What the next trial is for."""
        if self.high is None and (self.low is None or self.low < self.ceiling):
            return "bracket"
        if self.low is None:
            return "bracket" if self.high is not None and self.high > self.floor else "done"
        if self.high is not None and self.high / self.low > 1 + self.tolerance:
            return "bisect"
        return "confirm" if self.agreed < self._needed else "done"

    @property
    def confirmed(self) -> float | None:
        """What it has found; None: it goes on, or nothing was sustained."""
        return self.low if self.phase == "done" else None

    @property
    def _needed(self) -> int:
        """So many that agree are a majority of the confirmations."""
        return self.confirmations // 2 + 1

    def next_rate(self) -> float | None:
        """The rate to offer in the next trial; None when the search is over."""
        if self.doubted is not None:
            return self.doubted
        match self.phase:
            case "done":
                return None
            case "confirm":
                return self.low
            case "bisect":
                assert self.low is not None
                assert self.high is not None
                return math.sqrt(self.low * self.high)
        if self.low is not None:
            return min(self.stride * self.low, self.ceiling)
        if self.high is not None:
            return max(self.high / self.stride, self.floor)
        return min(self.first, self.ceiling)

    def see(self, rate: float, sustained: bool) -> None:
        """Takes the outcome of a trial at the rate that was asked for."""
        if self.phase == "confirm":
            self._confirm(rate, sustained)
        elif self.doubted is None and not sustained:
            self.doubted, self.saved = rate, 0
        elif self.doubted is not None and sustained and not self.saved:
            self.saved = 1
        else:
            self.doubted = None
            if sustained:
                self.low = rate
            else:
                self.high = rate

    def _confirm(self, rate: float, sustained: bool) -> None:
        self.agreed += sustained
        self.disagreed += not sustained
        if self.disagreed >= self._needed:
            self.high, self.agreed, self.disagreed = rate, 0, 0
            lower = rate / (1 + self.tolerance)
            # Not measured yet: it is a guess that the next confirmation proves or disproves.
            self.low = lower if lower > self.floor else None

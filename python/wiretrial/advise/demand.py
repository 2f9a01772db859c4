"""From people to messages: Little's law (1961), users = rate x (think time + stay).

Knows a limit's levels; must not know where the numbers were typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.errors import UsageProblem
from wiretrial.results.advice import Demand
from wiretrial.results.limits import Level, Limit

_RESTLESS = (
    "users who never wait ask as often as they are answered",
    "say how long each waits between two messages, as --think 5s",
)


@dataclass(frozen=True)
class OfRate:
    """A rate that is known already."""

    rate: float
    peak: float = 1.0

    def of_kept(self) -> Demand:
        """It, whatever was measured."""
        return Demand(rate=self.rate, peak=self.peak)


@dataclass(frozen=True)
class OfUsers:
    """So many users, each of whom waits between two messages, or sessions."""

    users: int
    think_ns: int | None
    """None: as their sessions have it."""
    peak: float = 1.0

    def require_told(self, *, of_sessions: bool) -> None:
        """Raises where how often they send can't be told, whatever is measured."""
        if self.think_ns is None and not of_sessions:
            raise UsageProblem(
                "--users without --think: how often each of them sends is not known",
                "say how long a user waits between two messages, as --think 5s, or give --rate",
            )

    def of_kept(self) -> Demand:
        """Of servers that were measured already: a message takes no time beside the waiting."""
        self.require_told(of_sessions=False)
        if not self.think_ns:
            raise UsageProblem(*_RESTLESS)
        rate = self.users * 1e9 / self.think_ns
        return Demand(rate=rate, peak=self.peak, users=self.users, think_ns=float(self.think_ns))

    def demand(self, limit: Limit, levels: Sequence[Level]) -> Demand:
        """The shortest stay of the kept levels counts, by which users send most."""
        self.require_told(of_sessions=limit.unit == "sessions/s")
        stays = [level.stay_ns for level in levels if level.is_kept and level.stay_ns is not None]
        stay_ns = min(stays, default=0.0) + limit.thinking_ns
        cycle_ns = (self.think_ns or 0) + stay_ns
        if cycle_ns <= 0:
            raise UsageProblem(*_RESTLESS)
        return Demand(
            rate=self.users * 1e9 / cycle_ns,
            peak=self.peak,
            users=self.users,
            think_ns=float(self.think_ns or 0),
            stay_ns=stay_ns,
        )


Asked = OfRate | OfUsers


def carried(asked: Asked, limit: Limit, levels: Sequence[Level]) -> Demand:
    """What must be carried, by these levels; a rate is the same whatever was measured."""
    if isinstance(asked, OfRate):
        return asked.of_kept()
    return asked.demand(limit, levels)

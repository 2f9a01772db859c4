"""From people to messages: Little's law (1961), users = rate x (think time + stay).

Knows a limit's levels; must not know where the numbers were typed.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.errors import UsageProblem
from wiretrial.results.advice import Demand
from wiretrial.results.limits import Level, Limit


def of_rate(rate: float, peak: float) -> Demand:
    """A rate that is known already."""
    return Demand(rate=rate, peak=peak)


def of_users(
    users: int, think_ns: int | None, peak: float, limit: Limit, levels: Sequence[Level]
) -> Demand:
    """So many users, each of whom waits between two messages, or sessions.

    The shortest stay of the levels counts, by which users send most.
    """
    of_sessions = limit.unit == "sessions/s"
    if think_ns is None and not of_sessions:
        raise UsageProblem(
            "--users without --think: how often each of them sends is not known",
            "say how long a user waits between two messages, as --think 5s, or give --rate",
        )
    stays = [level.stay_ns for level in levels if level.is_kept and level.stay_ns is not None]
    stay_ns = min(stays, default=0.0) + limit.thinking_ns
    cycle_ns = (think_ns or 0) + stay_ns
    if cycle_ns <= 0:
        raise UsageProblem(
            "users who never wait ask as often as they are answered",
            "say how long each waits between two messages, as --think 5s",
        )
    return Demand(
        rate=users * 1e9 / cycle_ns,
        peak=peak,
        users=users,
        think_ns=float(think_ns or 0),
        stay_ns=stay_ns,
    )

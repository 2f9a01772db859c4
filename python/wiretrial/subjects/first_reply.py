"""When a server that was just started gives its first right reply.

Knows when to ask, and a clock; must not know what is asked, or of whom. The first question goes out
as soon as the process is there, and each further one a pause after the last: how much later than
the server could reply it is heard is bounded, and told.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from wiretrial.errors import SubjectFailed

PAUSE_NS = 1_000_000
"""From the end of a question that was asked in vain to the next one."""


@dataclass(frozen=True)
class Clock:
    """A clock and its pauses; a test has one of its own."""

    now_ns: Callable[[], int] = time.monotonic_ns
    sleep: Callable[[float], None] = time.sleep
    """Pauses for so many seconds."""


MONOTONIC = Clock()


@dataclass(frozen=True)
class Told:
    """What came of one question."""

    problem: str | None = None
    """What is wrong with the reply, or that there is none; None: it is right."""
    asked_again_ns: int = 0
    """A question may ask for the same several times: so long before what was answered it had asked
    in vain; 0: its first was answered."""
    since_ns: int = 0
    """How long ago the reply was heard: what else the question had to end came after it."""


@dataclass(frozen=True)
class FirstReply:
    """The first right reply of one start."""

    took_ns: int
    """From the start of the process until the reply was verified."""
    resolution_ns: int
    """The same reply could have been had earlier by no more than this: from the last question that
    was asked in vain, or from the start, to the one that was answered."""


def wait(
    ask: Callable[[], Told],
    ended: Callable[[], str | None],
    *,
    begun_ns: int,
    limit_s: float,
    clock: Clock = MONOTONIC,
) -> FirstReply:
    """Returns with the first right reply of a process that began at `begun_ns`.

    `ended` tells how the process ended, None while it runs. Raises `SubjectFailed` where it ends,
    or has given no right reply after `limit_s` seconds.
    """
    before_ns = begun_ns
    while True:
        asked_ns = clock.now_ns()
        told = ask()
        heard_ns = clock.now_ns()
        if told.problem is None:
            took_ns = heard_ns - told.since_ns - begun_ns
            return FirstReply(took_ns, told.asked_again_ns or asked_ns - before_ns)
        if how := ended():
            raise SubjectFailed(f"it ended at its start: {how}")
        if heard_ns - begun_ns >= limit_s * 1e9:
            raise SubjectFailed(
                f"it gives no right reply after {limit_s:g} s: {told.problem}",
                "raise [readiness] deadline_s, or run it by hand",
            )
        before_ns = asked_ns
        clock.sleep(PAUSE_NS / 1e9)

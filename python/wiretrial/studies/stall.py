"""A server that no longer gets on: how long nothing may come back before a trial is given up.

Pure. Knows snapshots and cases; must not know who ends the trial, nor how.
"""

from __future__ import annotations

from dataclasses import dataclass

from wiretrial.plan import ClosedLoop
from wiretrial.snapshot import Interval
from wiretrial.studies import floors
from wiretrial.studies.spec import Case

LEAST_NS = 6_000_000_000
"""No server is given up sooner: some drop an idle connection after five seconds, and go on."""
SLOWEST_BYTE_NS = 200
"""Of a large message, there and back: 5 MB/s is slower than any server that gets on."""
EXCHANGES = 20
"""And none before so many exchanges had the time that one takes where nobody is slow."""


@dataclass(frozen=True)
class Stall:
    """Nothing came back for so long, after so many replies."""

    silent_ns: int
    replies: int
    wanted: int

    @property
    def words(self) -> str:
        """`no reply for 6 s after 37 of 10,000`."""
        silent = f"{self.silent_ns / 1e9:.3g} s"
        return f"no reply for {silent} after {self.replies:,} of {self.wanted:,}"


def watch(case: Case) -> Watch | None:
    """Whoever sees that the server no longer gets on; None where nobody has to."""
    return Watch(patience_ns(case), case.messages or 0) if is_watched(case) else None


def is_watched(case: Case) -> bool:
    """Whether the case's result is when the last reply comes, so that none may be waited out."""
    ours = case.sending is None and case.knee is None
    return ours and case.is_counted and isinstance(case.load.executor, ClosedLoop)


def patience_ns(case: Case) -> int:
    """How long nothing may come back from the case's server."""
    carried = case.scenario.levels.get("payload")
    size = carried if isinstance(carried, int) else 0
    return max(LEAST_NS + size * SLOWEST_BYTE_NS, EXCHANGES * floors.exchange_ns(case))


class Watch:
    """Sees the intervals of one run, and whether the replies have stopped."""

    def __init__(self, patience_ns: int, wanted: int) -> None:
        self._patience_ns = patience_ns
        self._wanted = wanted
        self._done = 0
        self._silent_since: int | None = None
        self.stall: Stall | None = None
        """What was found; it stays, whatever comes later."""

    def see(self, interval: Interval) -> bool:
        """Takes the next interval. Whether the run is to be given up now."""
        # A failure is an answer too: the message counts as done, and the next one goes.
        came = interval.counters.ok + sum(interval.counters.errors.values())
        self._done += came
        if came or interval.phase == "connect" or self._silent_since is None:
            self._silent_since = interval.end_ns
        silent_ns = interval.end_ns - self._silent_since
        if self.stall or silent_ns < self._patience_ns or self._done >= self._wanted:
            return False
        self.stall = Stall(silent_ns, self._done, self._wanted)
        return True

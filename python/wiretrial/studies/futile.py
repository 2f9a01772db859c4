"""A run in which replies fail from its beginning: it measures nothing, and is ended in a second.

Pure. Knows intervals; must not know who ends the run, nor how.
"""

from __future__ import annotations

from collections import Counter

from wiretrial.snapshot import Interval
from wiretrial.studies.misfits import RULE
from wiretrial.words import Noun

LEAST_FAILED = 10
"""No run is given up for fewer failures."""
LEAST_NS = 400_000_000
"""None before this time of load has passed: a server may be slow to find its feet."""
MOST_NS = 1_000_000_000
"""What first goes wrong later is a finding, and the run goes on."""
MOST_WRONG = 0.5
"""The share of such replies with which it is the rule that is wrong, or the whole server."""


class Futility:
    """Sees the intervals of one run: whether all of its messages fail, or most break the rule.

    `allowed`: the share of messages that may fail.
    """

    def __init__(self, allowed: float = 0) -> None:
        self._most_wrong = max(MOST_WRONG, allowed)
        self._failed: Counter[str] = Counter()
        self._ok = 0
        self._begun_ns: int | None = None
        self._wrong: str | None = None
        """How many replies were wrong when it was found; None: every message failed."""
        self.found_ns: int | None = None
        """How long the load had lasted when it was found; it stays, whatever comes later."""

    def see(self, interval: Interval) -> bool:
        """Takes the next interval. Whether the run is to be ended now."""
        counters = interval.counters
        if self._begun_ns is None and counters.sent:
            self._begun_ns = interval.start_ns
        self._failed.update(counters.errors)
        self._ok += counters.ok
        if self._begun_ns is None or self.found_ns is not None:
            return False
        lasted_ns = interval.end_ns - self._begun_ns
        if lasted_ns < LEAST_NS or self._failed.total() < LEAST_FAILED:
            return False
        if self._ok and not self._is_wrong(lasted_ns):
            return False
        self.found_ns = lasted_ns
        if self._ok:
            self._wrong = f"{self._failed[RULE]:,} of {self._ok + self._failed.total():,}"
        return True

    def words(self, what: Noun) -> str | None:
        """`every message failed in the first 0.5 s`; None: it was not given up."""
        if self.found_ns is None:
            return None
        told = f"{self._wrong} replies were wrong" if self._wrong else f"every {what.one} failed"
        return f"{told} in the first {self.found_ns / 1e9:.1f} s"

    def _is_wrong(self, lasted_ns: int) -> bool:
        """Whether most replies are not what was expected, from the beginning on."""
        wrong = self._failed[RULE]
        done = self._ok + self._failed.total()
        return lasted_ns <= MOST_NS and wrong >= LEAST_FAILED and wrong > self._most_wrong * done

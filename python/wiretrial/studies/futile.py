"""A run in which every message fails: it measures nothing, and is ended within the first second.

Pure. Knows intervals; must not know who ends the run, nor how.
"""

from __future__ import annotations

from collections import Counter

from wiretrial.snapshot import Interval
from wiretrial.words import Noun

LEAST_FAILED = 10
"""No run is given up for fewer failures."""
LEAST_NS = 400_000_000
"""None before this time of load has passed: a server may be slow to find its feet."""


class Futility:
    """Sees the intervals of one run, and whether all of its messages fail."""

    def __init__(self) -> None:
        self._failed: Counter[str] = Counter()
        self._any_ok = False
        self._begun_ns: int | None = None
        self.found_ns: int | None = None
        """How long the load had lasted when it was found; it stays, whatever comes later."""

    def see(self, interval: Interval) -> bool:
        """Takes the next interval. Whether the run is to be ended now."""
        counters = interval.counters
        if self._begun_ns is None and counters.sent:
            self._begun_ns = interval.start_ns
        self._failed.update(counters.errors)
        self._any_ok = self._any_ok or counters.ok > 0
        if self._any_ok or self._begun_ns is None or self.found_ns is not None:
            return False
        lasted_ns = interval.end_ns - self._begun_ns
        if lasted_ns < LEAST_NS or self._failed.total() < LEAST_FAILED:
            return False
        self.found_ns = lasted_ns
        return True

    def words(self, what: Noun) -> str | None:
        """`every message failed in the first 0.5 s`; None: not every one did."""
        if self.found_ns is None:
            return None
        return f"every {what.one} failed in the first {self.found_ns / 1e9:.1f} s"

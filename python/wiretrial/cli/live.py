"""The block that updates in place while a load runs; nothing where no terminal watches.

Knows snapshots and a terminal; must not know what the run is for. It draws twice a second: drawing
costs CPU that the measurement could want.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.text import Text

from wiretrial import redaction, words
from wiretrial.plan import Plan
from wiretrial.results import hdr, quantiles
from wiretrial.snapshot import Interval, Snapshot, Start
from wiretrial.words import Noun

PERIOD_S = 0.5


def block() -> RichLive | None:
    """A block of a terminal that is drawn over itself and gone at the end; None for a pipe."""
    if not sys.stderr.isatty():
        return None
    console = Console(stderr=True, highlight=False)
    return RichLive(console=console, transient=True, auto_refresh=False)


class Live:
    """One run's live block. A context manager; `see` each snapshot."""

    def __init__(
        self,
        heading: str,
        length_ns: int | None,
        requests: int | None,
        what: Noun = words.MESSAGE,
        further: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._live = block()
        self._heading = heading
        self._length_ns = length_ns
        self._requests = requests
        self._what = what
        self._further = further
        """Lines below."""
        self._sent = self._ok = self._errors = 0
        self._pending: list[Interval] = []
        self._drawn = 0.0

    @classmethod
    def for_plan(
        cls,
        plan: Plan,
        heading: str | None = None,
        further: Callable[[], Sequence[str]] = tuple,
    ) -> Live:
        """The block for a run of `plan`."""
        length = plan.stop.duration_ns
        return cls(
            heading or redaction.url(plan.target.url),
            None if length is None else length + plan.phases.warmup_ns,
            plan.stop.requests,
            words.of_target(plan.target),
            further,
        )

    def __enter__(self) -> Live:
        if self._live:
            self._live.start()
            self._live.update(Text(f"{self._heading}   connecting"), refresh=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def see(self, snapshot: Snapshot) -> None:
        """Takes a snapshot into account, and draws when it is time."""
        if isinstance(snapshot, Start):
            self._sent = self._ok = self._errors = 0
        if not self._live or not isinstance(snapshot, Interval):
            return
        self._sent += snapshot.counters.sent
        self._ok += snapshot.counters.ok
        self._errors += sum(snapshot.counters.errors.values())
        self._pending.append(snapshot)
        now = time.monotonic()
        if now - self._drawn >= PERIOD_S:
            self._live.update(self._block(), refresh=True)
            self._pending.clear()
            self._drawn = now

    def _block(self) -> Group:
        last = self._pending[-1]
        elapsed_ns = max(sum(i.end_ns - i.start_ns for i in self._pending), 1)
        rate = sum(i.counters.ok for i in self._pending) * 1e9 / elapsed_ns
        lines = [
            f"{self._heading}   {last.phase}{self._left(last)}",
            f"  {rate:>12,.0f} {self._what.many}/s   {self._times()}   errors {self._errors:,}",
            (
                f"  {self._sent:>12,} sent   {last.connections.open:,} connections"
                f"   generator {100 * last.generator.loop_utilisation:.0f} % busy"
            ),
        ]
        return Group(*(Text(line) for line in (*lines, *self._further())))

    def _left(self, last: Interval) -> str:
        if last.phase in ("connect", "drain"):
            return ""
        if self._length_ns is not None:
            return f", {max(self._length_ns - last.end_ns, 0) / 1e9:.0f} s left"
        if self._requests:
            return f", {100 * min(self._sent / self._requests, 1):.0f} %"
        return ""

    def _times(self) -> str:
        # An open loop's own time is the response time; a closed loop has none.
        texts = [
            text
            for interval in self._pending
            if (
                text := interval.histograms.get("response_time")
                or interval.histograms.get("service_time")
            )
        ]
        if not texts:
            return "no reply yet"
        merged = hdr.merge(texts)
        p50, p99 = (_microseconds(quantiles.told(merged, q)) for q in (0.5, 0.99))
        return f"p50 {p50}   p99 {p99}"


def _microseconds(ns: float | None) -> str:
    if ns is None:
        return "-"
    return f"{ns / 1e3:,.0f} µs" if ns < 10_000_000 else f"{ns / 1e6:,.1f} ms"

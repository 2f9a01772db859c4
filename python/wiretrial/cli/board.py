"""A running study on the screen: a block that updates in place, or a line per trial when piped.

Knows the runner's events and streams; must not know how trials are made, stored or reported.
"""

from __future__ import annotations

import time
from collections import deque
from types import TracebackType

from rich.console import Group
from rich.text import Text

from wiretrial import words
from wiretrial.cli import learning, live, output
from wiretrial.report import units
from wiretrial.report.measures import Measured
from wiretrial.results import hdr, starts
from wiretrial.results.model import Trial
from wiretrial.snapshot import Interval, Start
from wiretrial.studies import estimate, events
from wiretrial.studies.order import Slot
from wiretrial.studies.spec import Study

RECENT = 3
"""So many finished trials stand in the block."""


class Board:
    """Shows each event. A context manager."""

    def __init__(self, study: Study) -> None:
        self.left_s: float | None = None
        """About how long the rest takes, as of the trial in progress."""
        self._study = study
        self._live = live.block()
        self._heading = study.name
        self._now = ""
        self._recent: deque[str] = deque(maxlen=RECENT)
        self._drawn = self._began = 0.0
        self._left_at_first_ns = 0
        self._scenario = ""
        self._named = {one.scenario.name: words.of(one.protocol) for one in study.cases}
        """What each scenario sends."""
        self._what = words.MESSAGE
        self._told: set[str] = set()
        """What was said of replies that were learned."""

    def __enter__(self) -> Board:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def see(self, event: events.Event) -> None:
        """Shows one event."""
        match event:
            case events.Preparing(subject, step):
                self._show(f"{step} {subject}")
            case events.Unavailable(reason=reason):
                self._line(f"left out: {reason}")
            case events.Taught(study, rules, unknown):
                self._study = study
                for line in learning.lines(rules, unknown):
                    self._line(line)
            case events.TrialBegun(slot, number, total, left_ns):
                self._scenario = slot.scenario
                self._what = self._named.get(slot.scenario, words.MESSAGE)
                self._heading = f"{self._study.name}: trial {number} of {total}"
                self._heading += f", about {left} left" if (left := self._left(left_ns)) else ""
                self._show(f"{slot.scenario}: start")
            case events.Seen(snapshot) if isinstance(snapshot, Start):
                self._learned(snapshot)
            case events.Seen(snapshot) if isinstance(snapshot, Interval):
                if time.monotonic() - self._drawn >= live.PERIOD_S:
                    length = max(snapshot.end_ns - snapshot.start_ns, 1)
                    rate = snapshot.counters.ok * 1e9 / length
                    self._show(
                        f"{self._scenario}: {snapshot.phase}, {rate:,.0f} {self._what.many}/s"
                    )
            case events.TrialDone(trial, number, total):
                self._finished(done_line(trial, number, total))
            case events.TrialFailed(slot, reason):
                self._line(f"failed: {place(slot)}: {reason}")
            case events.StartDone(start, total):
                self._finished(start_line(start, total))
            case events.StartFailed(subject, reason):
                self._line(f"failed: start of {subject}: {reason}")

    def _finished(self, line: str) -> None:
        self._recent.append(line)
        if self._live:
            self._draw()
        else:
            output.say(line)

    def _learned(self, start: Start) -> None:
        """What is taken to be a right reply, once for each subject as long as it stays the same.

        Where replies vary, the first one is none that others are held against.
        """
        scenarios = {case.scenario.name: case.scenario for case in self._study.cases}
        scenario = scenarios.get(self._scenario)
        if start.learned is None or (scenario and scenario.learned):
            return
        subject = scenario.subject if scenario else self._scenario
        told = f"reply of {subject}  {start.learned.words()}"
        if told not in self._told:
            self._told.add(told)
            self._line(told)

    def _left(self, left_ns: int) -> str:
        """As long as was estimated, times what the trials so far took of their estimate."""
        if not self._began:
            self._began, self._left_at_first_ns = time.monotonic(), left_ns
        done_s = (self._left_at_first_ns - left_ns) / 1e9
        if done_s <= 0:
            return ""
        self.left_s = left_ns / 1e9 * (time.monotonic() - self._began) / done_s
        return estimate.words(round(self.left_s * 1e9))

    def _line(self, text: str) -> None:
        """A line that stays: above the block, or among the others of a pipe."""
        if self._live:
            self._live.console.print(Text(text))
        else:
            output.say(text)

    def _show(self, now: str) -> None:
        self._now = now
        self._draw()

    def _draw(self) -> None:
        if self._live is None:
            return
        lines = [Text(self._heading, style="bold"), Text(f"  {self._now}")]
        lines += [Text(f"  {line}", style="dim") for line in self._recent]
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        self._live.update(Group(*lines), refresh=True)
        self._drawn = time.monotonic()


def place(slot: Slot) -> str:
    """`block 2, HTTP keep-alive`."""
    return f"block {slot.block + 1}, {slot.scenario}"


def done_line(trial: Trial, number: int, total: int) -> str:
    """A finished trial: its number, its figure, its verdict, its name."""
    count = f"{number:>{len(str(total))}}/{total}"
    figures = _driven(trial) if trial.driven else _rate(trial)
    # The name last: some are long, and what stands before it stays in its column.
    return f"{count} {figures}  {trial.judgement.verdict:<12}  {trial.scenario.name}"


def start_line(start: starts.Start, total: int) -> str:
    """A start that was timed: which one, how long until its first reply, of whom."""
    took = units.duration(start.first_reply_ns or 0)
    return f"start {start.number} of {total}  {took:>8}  {start.called}"


def _rate(trial: Trial) -> str:
    """As fast as it went, in the figures of the report."""
    measured = Measured(trial)
    if measured.is_opening:
        return f"{measured.connect_rate or 0:>11,.0f} connections/s"
    rate = measured.throughput
    if measured.elapsed_ns:
        rate = trial.summary.counters.ok / measured.elapsed_ns * 1e9
    return f"{rate or 0:>11,.0f} {words.of(trial.scenario.protocol).many}/s"


def _driven(trial: Trial) -> str:
    """Of a client library: the mean round trip, and its own CPU time in it."""
    used, ok = trial.summary.generator, max(trial.summary.counters.ok, 1)
    times = trial.summary.histograms.get("service_time")
    mean_us = hdr.decode(times).mean / 1e3 if times else 0.0
    cpu_us = (used.cpu_user_ns + used.cpu_system_ns) / ok / 1e3
    return f"{mean_us:>10,.1f} us, CPU {cpu_us:>8,.1f} us"

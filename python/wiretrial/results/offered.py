"""How a trial stood to the rate that it was offered: what a search for the highest one asks.

Knows a trial's record and its window; must not know which rates are sustained.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial import words
from wiretrial.plan import Load, OpenLoop, Stage
from wiretrial.results import hdr, quantiles
from wiretrial.results.model import Trial, Window
from wiretrial.snapshot import Interval
from wiretrial.words import Noun


def rate(trial: Trial) -> float:
    """Messages per second that an open loop was asked for."""
    executor = trial.plan.load.executor
    assert isinstance(executor, OpenLoop)
    return executor.rate


def noun(trial: Trial, usual: Noun) -> Noun:
    """What is due at the rate: sessions, where one has several steps, else what is sent."""
    flows = trial.plan.traffic.flows if trial.plan.traffic else ()
    return words.SESSION if any(len(flow.steps) > 1 for flow in flows) else usual


def due(load: Load, begin_ns: int, span: tuple[int, int]) -> float:
    """Messages that an open loop, which began at `begin_ns`, was asked for in a span of time."""
    executor = load.executor
    assert isinstance(executor, OpenLoop)
    start, end = ((at - begin_ns) / 1e9 for at in span)
    return executor.rate * (_passed(load.stages, end) - _passed(load.stages, start))


def _passed(stages: Sequence[Stage], seconds: float) -> float:
    """How many seconds at the whole rate the first `seconds` are worth."""
    worth, share = 0.0, 1.0
    for stage in stages:
        length = stage.for_ns / 1e9
        if seconds <= length:
            at = stage.start + (stage.to - stage.start) * (seconds / length if length else 1)
            return worth + seconds * (stage.start + at) / 2
        worth += length * (stage.start + stage.to) / 2
        share = stage.to
        seconds -= length
    return worth + seconds * share


def least_rate(quantile: float, duration_ns: int) -> float:
    """The rate below which a trial of that length has too few messages to tell the quantile.

    A tenth more: the window is a little shorter than what was asked for.
    """
    return 1.1 * quantiles.needed(quantile) * 1e9 / duration_ns


def achieved(trial: Trial) -> float:
    """Verified replies per second in the trial's window."""
    inside = counted(trial)
    elapsed = sum(interval.end_ns - interval.start_ns for interval in inside)
    return sum(interval.counters.ok for interval in inside) * 1e9 / elapsed if elapsed else 0.0


def kept_up(trial: Trial, *, counts_failed: bool = False) -> float:
    """How much of an open loop's rate came about: right replies per second, or sessions that began.

    `counts_failed`: those that failed count, too.
    """
    inside = counted(trial)
    elapsed = sum(one.end_ns - one.start_ns for one in inside)
    done = sum(_come_about(one, counts_failed=counts_failed) for one in inside)
    return done * 1e9 / elapsed if elapsed else 0.0


def _come_about(one: Interval, *, counts_failed: bool) -> int:
    if one.traffic is not None:
        # A session lasts: what begins at a rate is at that rate, however long it takes to end.
        failed = 0 if counts_failed else sum(sum(f.failed.values()) for f in one.traffic.flows)
        return sum(flow.begun for flow in one.traffic.flows) - failed
    failed = sum(one.counters.errors.values()) if counts_failed else 0
    return one.counters.ok + failed


def carried(trial: Trial) -> float:
    """What an open loop's rate counts, per second: sessions of traffic, else verified replies."""
    if trial.start.traffic is None:
        return achieved(trial)
    inside = counted(trial)
    elapsed = sum(interval.end_ns - interval.start_ns for interval in inside)
    done = sum(flow.done for one in inside if one.traffic for flow in one.traffic.flows)
    return done * 1e9 / elapsed if elapsed else 0.0


def backlog(trial: Trial) -> list[tuple[float, float]]:
    """The waiting line at each interval's end: (seconds, messages due and not answered)."""
    return line(counted(trial))


def line(intervals: Sequence[Interval]) -> list[tuple[float, float]]:
    """The same of these intervals."""
    return [
        (interval.end_ns / 1e9, interval.counters.in_flight + interval.counters.waiting)
        for interval in intervals
    ]


def response_ns(trial: Trial, quantile: float) -> float | None:
    """A quantile of the response time in the window; None: too few messages to tell."""
    times = hdr.merge(
        interval.histograms["response_time"]
        for interval in counted(trial)
        if "response_time" in interval.histograms
    )
    return quantiles.told(times, quantile)


def counted(trial: Trial) -> tuple[Interval, ...]:
    """The intervals that count: they lie in the window, and the generator was not paused in them.

    Where it was in all, all count: the trial carries a warning.
    """
    inside = within(trial.intervals, trial.window)
    return tuple(interval for interval in inside if not interval.disturbed) or inside


def within(intervals: Sequence[Interval], window: Window) -> tuple[Interval, ...]:
    """The intervals that lie in the window."""
    return tuple(
        interval
        for interval in intervals
        if interval.start_ns >= window.start_ns and interval.end_ns <= window.end_ns
    )

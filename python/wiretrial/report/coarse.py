"""A trial with fewer intervals: neighbours that count alike in one.

Knows which intervals may be joined; must not know how figures add up, or where the trial goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from wiretrial.results import added, offered
from wiretrial.results.model import Trial
from wiretrial.snapshot import Interval


def of(trial: Trial, most: int, *, by_phase: bool = True) -> Trial:
    """The trial with at most so many intervals before its window, in it and after it.

    Whether a line of waiting messages grew is read from all intervals, so that no search can be
    replayed from it. Not `by_phase`: what is before the window may be of several phases, such as
    connecting and warming up, and so may be what is after it.
    """
    inside = {interval.index for interval in offered.within(trial.intervals, trial.window)}

    def counts(interval: Interval) -> tuple[object, ...]:
        is_after = interval.start_ns >= trial.window.end_ns
        phase = interval.phase if by_phase else None
        return interval.index in inside, is_after, interval.disturbed, phase

    runs = [list(run) for _, run in groupby(trial.intervals, key=counts)]
    joined = [_joined(part) for run in runs for part in _parts(run, most)]
    numbered = (one.model_copy(update={"index": at}) for at, one in enumerate(joined))
    return trial.model_copy(update={"intervals": tuple(numbered)})


def _parts(run: list[Interval], most: int) -> Iterator[list[Interval]]:
    """The run in at most so many parts of about one length."""
    size = -(-len(run) // most)
    return (run[at : at + size] for at in range(0, len(run), size))


def _joined(parts: Sequence[Interval]) -> Interval:
    if len(parts) == 1:
        return parts[0]
    lengths = [part.end_ns - part.start_ns for part in parts]
    busy = sum(
        part.generator.loop_utilisation * length
        for part, length in zip(parts, lengths, strict=True)
    )
    found = added.in_turn(parts)
    generator = found.generator.model_copy(
        update={
            "loop_utilisation": busy / sum(lengths),
            "peak_rss_bytes": max(part.generator.peak_rss_bytes for part in parts),
        }
    )
    first, last = parts[0], parts[-1]
    span = {"index": first.index, "start_ns": first.start_ns, "end_ns": last.end_ns}
    return found.model_copy(update={**span, "generator": generator})

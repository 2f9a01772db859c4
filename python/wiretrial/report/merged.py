"""A trial with fewer histograms that gives the same figures: those of its window in one.

Knows which intervals count; must not know where the trial goes.
"""

from __future__ import annotations

from wiretrial.report import timings
from wiretrial.report.measures import Measured
from wiretrial.results import hdr
from wiretrial.results.model import Trial


def of(trial: Trial) -> Trial:
    """The trial, its counted intervals' histograms in the first of them, late replies' likewise.

    The whole run's histograms stay where figures are made of them.
    """
    measured = Measured(trial)
    parts = ((), ()) if measured.uses_totals else (measured.counted, measured.late)
    kept = {part[0].index: hdr.merge_named(map(timings.of, part)) for part in parts if part}
    intervals = tuple(
        timings.put(interval, kept.get(interval.index, {})) for interval in trial.intervals
    )
    if measured.uses_totals:
        return trial.model_copy(update={"intervals": intervals})
    told = {name for histograms in kept.values() for name in histograms}
    whole = timings.of(trial.summary)
    summary = timings.put(trial.summary, {n: whole[n] for n in whole if n not in told})
    return trial.model_copy(update={"intervals": intervals, "summary": summary})

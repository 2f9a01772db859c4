"""A trial whose distributions are drawn in few places, with the same figures.

Knows which quantiles figures and pictures are made of; must not know where the trial goes. It
comes after `merged`: a window has one histogram of each metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wiretrial.report import curves, timings
from wiretrial.results import hdr, outline
from wiretrial.results.model import Trial

FIGURES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 0.99999)
"""Quantiles that tables, goals and claims ask for."""
PICTURES = (*FIGURES, *curves.QUANTILES)
"""Those and what a picture of quantiles shows."""


def of(trial: Trial, shares: Sequence[float]) -> Trial:
    """The trial with outlines that are exact at these quantiles: of each part of the run that has
    histograms, and of all of them together (the window, and the replies that came late)."""
    of_intervals = _outlines([timings.of(interval) for interval in trial.intervals], shares)
    intervals = tuple(map(timings.put, trial.intervals, of_intervals))
    (of_run,) = _outlines([timings.of(trial.summary)], shares)
    summary = timings.put(trial.summary, of_run)
    return trial.model_copy(update={"intervals": intervals, "summary": summary})


def _outlines(parts: Sequence[Mapping[str, str]], shares: Sequence[float]) -> list[dict[str, str]]:
    """The histograms of each part, all with the marks of each and of their sum."""
    decoded = [{name: hdr.decode(text) for name, text in part.items()} for part in parts]
    marks: dict[str, frozenset[int]] = {}
    for name in {name for part in parts for name in part}:
        each = [part[name] for part in decoded if name in part]
        whole = hdr.merge(part[name] for part in parts if name in part)
        marks[name] = frozenset().union(*(outline.marks(one, shares) for one in (*each, whole)))
    return [
        {name: outline.of(times, marks[name]).text for name, times in part.items()}
        for part in decoded
    ]

"""A trial whose distributions are drawn in few places, with the same figures.

Knows which quantiles figures and pictures are made of; must not know where the trial goes. It
comes after `merged`: a window has one histogram of each metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wiretrial.report import curves
from wiretrial.results import hdr, outline
from wiretrial.results.model import Trial

FIGURES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 0.99999)
"""Quantiles that tables, goals and claims ask for."""
PICTURES = (*FIGURES, *curves.QUANTILES)
"""Those and what a picture of quantiles shows."""


def of(trial: Trial, shares: Sequence[float]) -> Trial:
    """The trial with outlines that are exact at these quantiles: of each part of the run that has
    histograms, and of all of them together (the window, and the replies that came late)."""
    marks = _marks([interval.histograms for interval in trial.intervals], shares)
    intervals = tuple(
        interval.model_copy(update={"histograms": _outlines(interval.histograms, marks)})
        for interval in trial.intervals
    )
    run = trial.summary.histograms
    summary = trial.summary.model_copy(update={"histograms": _outlines(run, _marks([run], shares))})
    return trial.model_copy(update={"intervals": intervals, "summary": summary})


def _marks(
    parts: Sequence[Mapping[str, str]], shares: Sequence[float]
) -> dict[str, frozenset[int]]:
    found: dict[str, frozenset[int]] = {}
    for name in {name for part in parts for name in part}:
        each = [hdr.decode(part[name]) for part in parts if name in part]
        whole = hdr.merge(part[name] for part in parts if name in part)
        found[name] = frozenset().union(*(outline.marks(one, shares) for one in (*each, whole)))
    return found


def _outlines(histograms: Mapping[str, str], marks: Mapping[str, frozenset[int]]) -> dict[str, str]:
    return {
        name: outline.of(hdr.decode(text), marks[name]).text for name, text in histograms.items()
    }

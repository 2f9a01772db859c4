"""A trial without what no figure and no picture of a study is made of.

Knows which readings and distributions those need; must not know where the trial goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from wiretrial.report import timings
from wiretrial.results.model import ProcessSample, Trial
from wiretrial.results.observation import Observation
from wiretrial.results.watched import WatchedPlace

NEVER: Final = frozenset({"first_byte_time"})
"""Told of one run only."""
OF_FLOWS: Final = frozenset({"iteration_time", "session_wait"})
"""Figures are made of those of each flow."""


def of(trial: Trial) -> Trial:
    """The trial with fewer distributions, and fewer readings of its processes and sockets.

    CPU time in the window is read between the samples around both of its ends, so those stay.
    """
    window = trial.window
    intervals = (timings.put(one, _needed(timings.of(one))) for one in trial.intervals)
    return trial.model_copy(
        update={
            "intervals": tuple(intervals),
            "summary": timings.put(trial.summary, _needed(timings.of(trial.summary))),
            "subject_samples": _around(trial.subject_samples, (window.start_ns, window.end_ns)),
            "places": tuple(map(_unsampled, trial.places)),
            "observation": trial.observation and _unsocketed(trial.observation),
        }
    )


def _unsampled(place: WatchedPlace) -> WatchedPlace:
    parts = (part.model_copy(update={"samples": ()}) for part in place.parts)
    return place.model_copy(update={"parts": tuple(parts)})


def _unsocketed(seen: Observation) -> Observation:
    """Without what explains a single run: what TCP and each side's sockets did, and all CPUs."""
    each = tuple(use for use in seen.cpus if use.cpu is not None)
    return seen.model_copy(update={"tcp": None, "sockets": (), "cpus": each})


def _needed(table: Mapping[str, str]) -> dict[str, str]:
    twice = {name for name in OF_FLOWS if any(_is_of_flow(one, name) for one in table)}
    return {name: text for name, text in table.items() if name not in NEVER | twice}


def _is_of_flow(name: str, metric: str) -> bool:
    return name.startswith("flows ") and name.endswith(f" {metric}")


def _around(
    samples: Sequence[ProcessSample], instants_ns: Iterable[int]
) -> tuple[ProcessSample, ...]:
    """The first, the last, and both neighbours of each instant."""
    if len(samples) < 2:
        return tuple(samples)
    kept = {0, len(samples) - 1}
    for at_ns in instants_ns:
        for place, (before, after) in enumerate(pairwise(samples)):
            if before.offset_ns <= at_ns <= after.offset_ns:
                kept |= {place, place + 1}
    return tuple(one for place, one in enumerate(samples) if place in kept)

"""A study's trials made small enough to be kept with it, each with the figures that it gives.

Knows how much of a trial is needed for figures, pictures and pages; must not know the form of the
file (`results.kept`). The figures are those of what is kept, so that whoever reads the file finds
what the pages say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from wiretrial.errors import StoreError
from wiretrial.report import bared, coarse, knees, merged, outlined, rounded, sampled
from wiretrial.report.exports import table
from wiretrial.report.knees import Objective
from wiretrial.results import kept, offered, searches
from wiretrial.results.model import Trial
from wiretrial.results.searches import Searched
from wiretrial.results.store import ResultsFolder, name_of

MOST_BYTES = 3_000_000
INTERVALS = (1_000_000, 20, 8, 3, 1)
"""How many are left of each part of a run, tried in this order."""
OUTLINES = (outlined.PICTURES, outlined.FIGURES)
"""Then distributions keep these quantiles only, with the fewest intervals. At last what no figure
is made of goes, too, and then digits that none shows."""
TRIES = 2 * len(INTERVALS) + len(OUTLINES) + 2
"""So many sizes are tried at most; each takes as long as the whole file, or its sample."""

_Place = tuple[str | None, int]
"""A search on one of its occasions."""


@dataclass(frozen=True)
class Tried:
    """What of a study would be kept."""

    trials: tuple[Trial, ...]
    searches: tuple[Searched, ...] = ()
    """They tell their steps without those steps' trials."""


def pack(
    results: ResultsFolder,
    objectives: Mapping[str, Objective] | None = None,
    most_bytes: int = MOST_BYTES,
    told: Callable[[int], object] = lambda _: None,
) -> bytes:
    """The file, with as many intervals as fit into `most_bytes`.

    Of a search that has ended one trial stays where all of them are too much: the last one at the
    rate that it found. `objectives` are the searches', by scenario. A window has one histogram of
    each metric in any case; where that is too much, its outline. `told` hears the number of each
    try, from 1 to at most `TRIES`.
    """
    for number, tried in enumerate(smaller(results, objectives or {}), 1):
        told(number)
        pack_some = partial(_packed, results, tried.searches)
        if found := sampled.within(tried.trials, pack_some, most_bytes):
            return found
    raise StoreError(
        f"{results.folder}: its {len(tried.trials)} trials take more than {most_bytes:,} bytes",
        "keep fewer trials or scenarios",
    )


def smaller(
    results: ResultsFolder, objectives: Mapping[str, Objective] | None = None
) -> Iterator[Tried]:
    """What is kept of a study, smaller each time; raises `StoreError` where it has no trial."""
    trials = results.trials()
    if not trials:
        raise StoreError(f"{results.folder} holds no trial yet", "measure some first")
    wanted = objectives or {}
    asked = knees.searched(trials, wanted, searches.read(results))
    ended = _ended(trials, wanted, asked)
    rows = tuple(row for row in asked if row.place in ended)
    whole = [merged.of(trial) for trial in trials]
    telling = [trial for trial in whole if _tells(trial, ended)]
    fewer: list[Trial] = []
    for some in (whole, telling) if len(telling) < len(whole) else (whole,):
        for most in INTERVALS:
            fewer = [coarse.of(t, most) if _is_on_record(t, ended) else t for t in some]
            yield Tried(tuple(fewer), rows)
    for shares in OUTLINES:
        yield Tried(tuple(outlined.of(trial, shares) for trial in fewer), rows)
    yield Tried(tuple(map(_bare, fewer)), rows)
    joined = (coarse.of(t, 1, by_phase=False) if _is_on_record(t, ended) else t for t in fewer)
    yield Tried(tuple(rounded.of(_bare(trial)) for trial in joined), rows)


def _bare(trial: Trial) -> Trial:
    return outlined.of(bared.of(trial), OUTLINES[-1])


def packed(results: ResultsFolder, tried: Tried) -> bytes:
    """The file of that."""
    head = kept.head_of(results, len(tried.trials))
    head = head.model_copy(update={"searches": tried.searches})
    rows = [_short(row) for row in table.rows(tried.trials, head.adopted)]
    return kept.pack(head, rows, tried.trials)


def _short(row: Mapping[str, Any]) -> dict[str, Any]:
    """Figures that are reckoned have more digits than were measured."""
    return {
        name: rounded.figure(value) if isinstance(value, float) else value
        for name, value in row.items()
    }


def _packed(results: ResultsFolder, rows: tuple[Searched, ...], trials: Sequence[Trial]) -> bytes:
    return packed(results, Tried(tuple(trials), rows))


def _ended(
    trials: Sequence[Trial], objectives: Mapping[str, Objective], asked: Sequence[Searched]
) -> dict[_Place, str]:
    """The searches that need no further trial, each with the name of the one that tells the most.

    That is the last one at the rate that was found, or the last of all where none was.
    """
    found = {
        (own.name, own.occasion): own.sustained
        for knee in knees.knees(trials, objectives, dict.fromkeys(objectives, 0), asked)
        for own in knee.each
        if own.has_ended
    }
    last: dict[_Place, Trial] = {}
    for trial in sorted(trials, key=lambda trial: (trial.block, trial.position)):
        place = _place(trial)
        if place not in found:
            continue
        is_at_it = offered.rate(trial) == found[place]
        if is_at_it or place not in last or offered.rate(last[place]) != found[place]:
            last[place] = trial
    return {place: name_of(trial) for place, trial in last.items()}


def _place(trial: Trial) -> _Place:
    return trial.scenario.search, trial.occasion


def _is_on_record(trial: Trial, ended: Mapping[_Place, str]) -> bool:
    """Whether no search is replayed from it."""
    return trial.scenario.search is None or _place(trial) in ended


def _tells(trial: Trial, ended: Mapping[_Place, str]) -> bool:
    """Whether it tells more than a row of its search."""
    return ended.get(_place(trial), name_of(trial)) == name_of(trial)

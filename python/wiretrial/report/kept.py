"""A study's trials made small enough to be kept with it, each with the figures that it gives.

Knows how much of a trial is needed for figures, pictures and pages; must not know the form of the
file (`results.kept`). The figures are those of what is kept, so that whoever reads the file finds
what the pages say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from wiretrial.errors import StoreError
from wiretrial.report import coarse, merged, outlined
from wiretrial.report.exports import table
from wiretrial.results import absent, adoption, kept, starts
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder

MOST_BYTES = 3_000_000
INTERVALS = (1_000_000, 20, 8, 3, 1)
"""How many are left of each part of a run, tried in this order."""
OUTLINES = (outlined.PICTURES, outlined.FIGURES)
"""Then distributions keep these quantiles only, with the fewest intervals."""
TRIES = len(INTERVALS) + len(OUTLINES)
"""So many sizes are tried at most; each takes as long as the whole file."""


def pack(
    results: ResultsFolder,
    most_bytes: int = MOST_BYTES,
    told: Callable[[int], object] = lambda _: None,
) -> bytes:
    """The file, with as many intervals as fit into `most_bytes`.

    A window has one histogram of each metric in any case; where that is too much, its outline.
    `told` hears the number of each try, from 1 to `TRIES`.
    """
    for number, trials in enumerate(smaller(results), 1):
        told(number)
        found = packed(results, trials)
        if len(found) <= most_bytes:
            return found
    raise StoreError(
        f"{results.folder}: its {len(trials)} trials take {len(found):,} bytes, more than"
        f" {most_bytes:,}",
        "keep fewer trials or scenarios",
    )


def smaller(results: ResultsFolder) -> Iterator[list[Trial]]:
    """The trials of a study, smaller each time; raises `StoreError` where there are none."""
    trials = [merged.of(trial) for trial in results.trials()]
    if not trials:
        raise StoreError(f"{results.folder} holds no trial yet", "measure some first")
    for most in INTERVALS:
        fewer = [coarse.of(trial, most) for trial in trials]
        yield fewer
    for shares in OUTLINES:
        yield [outlined.of(trial, shares) for trial in fewer]


def packed(results: ResultsFolder, trials: Sequence[Trial]) -> bytes:
    """The file with these trials."""
    adopted = adoption.read(results)
    head = kept.Head(
        study=json.loads(results.document()),
        trials=len(trials),
        absent=absent.read(results),
        adopted=adopted,
        starts=starts.read(results),
    )
    return kept.pack(head, [dict(row) for row in table.rows(trials, adopted)], trials)

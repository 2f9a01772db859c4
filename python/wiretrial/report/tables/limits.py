"""Who was the bottleneck, per scenario, with the evidence of its trials; and what is marked.

Of a search for the highest rate: at the knee, and just above it. Knows trials and their verdicts;
must not know how a table is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from wiretrial.report import trial_words, units
from wiretrial.report.blocks import NOTHING, Cell, Item, Items, Table, words
from wiretrial.report.knees import Step
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import TrialRow

MOST_WITH_EVIDENCE = 200
"""Of more scenarios the evidence is in the table of trials alone."""


def has_evidence(model: ReportModel) -> bool:
    """Whether the table of scenarios tells it."""
    return len(model.scenarios) <= MOST_WITH_EVIDENCE


def table(model: ReportModel) -> Table:
    """One row per scenario, and two per search; how many kept drifting where any did."""
    shows_drift = any(scenario.drifting for scenario in model.scenarios)
    is_short = has_evidence(model)
    rows = tuple(
        (
            Cell(name, colour=colour),
            Cell(trial_words.bottleneck_counts(trials)),
            *((Cell(_drifting(trials)),) if shows_drift else ()),
            *((Cell(_evidence(trials)),) if is_short else ()),
        )
        for colour, name, trials in _rows(model)
    )
    drift = ("Kept drifting",) if shows_drift else ()
    evidence = ("Evidence (a typical trial)",) if is_short else ()
    return Table(words("Scenario", "Bottleneck", *drift, *evidence), rows)


def marked(model: ReportModel) -> Items | None:
    """The trials that are not simply valid, None if there are none."""
    if not model.marked:
        return None
    return Items(
        "marked",
        tuple(
            Item(
                f"{scenario.name}, block {row.block + 1}, {row.verdict}",
                rest=row.evidence,
                colour=scenario.colour,
            )
            for scenario, row in model.marked
        ),
    )


def _rows(model: ReportModel) -> Iterator[tuple[int, str, Sequence[TrialRow | Step]]]:
    for group in model.groups:
        for scenario in group.ranked:
            yield scenario.colour, scenario.name, scenario.trials
    for knee in model.knees:
        for name, steps in knee.ends:
            rate = units.fitting(units.RATES, (steps[0].offered,)).text(steps[0].offered)
            yield knee.colour, f"{knee.name}, {name} ({rate})", steps


def _drifting(trials: Sequence[TrialRow | Step]) -> str:
    """`3 of 5`: whether the steps of a search settle is for their rate to tell."""
    n = sum(isinstance(row, TrialRow) and row.drifts for row in trials)
    return f"{n} of {len(trials)}" if n else NOTHING


def _evidence(trials: Sequence[TrialRow | Step]) -> str:
    """The evidence of the middle one of the trials that share the usual bottleneck."""
    usual = Counter(row.bottleneck for row in trials).most_common(1)[0][0]
    texts = [row.evidence for row in trials if row.bottleneck == usual]
    return texts[len(texts) // 2]

"""The smallest difference that could have been shown, workload by workload.

Knows the declared contrasts of a report; must not know how a table is drawn. Who reads "no
difference is shown" has to know which one would have been.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

from wiretrial.report import declared, figure_words, units
from wiretrial.report.blocks import Block, Cell, Column, Table, Text, key, words
from wiretrial.report.declared import Contrast
from wiretrial.report.leading import UNDECIDED
from wiretrial.report.model import ReportModel

TITLE = "The smallest difference that could have been shown"
FEWEST = 4
"""Fewer contrasts are told by the sentences of the report."""
ANY = "none"
KEY = (
    "Of each declared contrast whose ratio is no bound: a true difference of this size is shown in"
    " 80 % of such suites, by the strictest step of Holm's procedure over all of them. Shown:"
    " contrasts that show a difference, or that there is none of 3 %. Smallest: the median over the"
    f" workload's contrasts. {ANY}: whatever the difference, it could not have been shown."
)


def section(model: ReportModel) -> tuple[Block, ...]:
    """A row per workload and metric; empty where few contrasts are declared."""
    every = [
        one
        for one in declared.inside(model.families, model.baselines)
        if one.pair.comparison and one.pair.comparison.bound == "exact"
    ]
    if len(every) < FEWEST:
        return ()
    ranked = [one for one in every if one.is_ranked]
    columns = (
        *words("Workload", "Metric"),
        Column("Contrasts"),
        Column("Shown"),
        Column("Smallest"),
        *words("Least to greatest"),
    )
    rows = []
    for family in dict.fromkeys(one.family.title for one in every):
        own = [one for one in every if one.family.title == family]
        for metric in dict.fromkeys(one.pair.metric for one in own):
            rows.append(_row([one for one in own if one.pair.metric is metric]))
    return (Text(_sentence(ranked or every)), Table(columns, tuple(rows)), key(KEY))


def _sentence(told: Sequence[Contrast]) -> str:
    """What half of them could have shown."""
    half = _middle(told)
    many = units.plural(len(told), "declared contrast")
    if not isfinite(half):
        return f"In half of {many} no difference could have been shown, whatever its size."
    return (
        f"In half of {many} a difference of {figure_words.difference(half)} or less could have been"
        f" shown; {_shown(told)} show one, or that there is none of 3 %."
    )


def _row(own: Sequence[Contrast]) -> tuple[Cell, ...]:
    sizes = _sizes(own)
    ends = dict.fromkeys(_named(size) for size in (sizes[0], sizes[-1]))
    return (
        Cell(own[0].family.title),
        Cell(own[0].pair.metric.title),
        Cell(f"{len(own)}"),
        Cell(f"{_shown(own)}"),
        Cell(_named(_middle(own))),
        Cell(" to ".join(ends)),
    )


def _shown(told: Sequence[Contrast]) -> int:
    return sum(one.pair.verdict not in UNDECIDED for one in told)


def _middle(told: Sequence[Contrast]) -> float:
    """The median; of an even number the greater of the two, so that half of them could show it."""
    return _sizes(told)[len(told) // 2]


def _sizes(told: Sequence[Contrast]) -> list[float]:
    """In rising order; infinite where no difference could have been shown."""
    return sorted(inf if one.pair.resolution is None else one.pair.resolution for one in told)


def _named(size: float) -> str:
    return figure_words.difference(size) if isfinite(size) else ANY

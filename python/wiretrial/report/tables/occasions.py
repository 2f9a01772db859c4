"""Where a ratio's scatter comes from: the trials of one occasion, or one occasion and another.

Knows the declared contrasts of a report; must not know how a table is drawn. With one occasion
there is nothing to tell. Many contrasts are told workload by workload, and each of them in the
page alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from wiretrial.report import declared, units
from wiretrial.report.blocks import (
    NO_FIGURE,
    Block,
    Cell,
    Column,
    Table,
    Text,
    figures,
    fold,
    heading,
    key,
    words,
)
from wiretrial.report.declared import Contrast
from wiretrial.report.model import ReportModel
from wiretrial.report.tables import cells
from wiretrial.stats.compare import Comparison
from wiretrial.stats.occasions import Components

TITLE = "Between trials and between occasions"
MOST_ROWS = 12
"""More contrasts are told by workload."""
MOST_LISTED = 4
"""Of more occasions, the least and the greatest ratio are enough."""
MOST_NAMED = 3
SCATTER = figures("Between trials, %", "Between occasions, %")
KEY = (
    "How much the ratio scatters, as standard deviations: between the trials of one occasion, and"
    " between occasions beyond what their trials explain (Kalibera and Jones); 0: they lie no"
    " further apart than that. Furthest apart: the greatest ratio of an occasion over the least."
    " The interval is over occasions."
)
BY_WORKLOAD = "Medians over the contrasts, with the least and the greatest. "


@dataclass(frozen=True)
class _Found:
    """What each occasion says alone of a declared contrast."""

    contrast: Contrast
    comparison: Comparison

    @property
    def components(self) -> Components | None:
        """How much it scatters between trials and between occasions."""
        return self.comparison.components

    @property
    def apart(self) -> float:
        """How far apart the occasions' own ratios are, as a share."""
        return max(self.comparison.by_occasion) / min(self.comparison.by_occasion) - 1


def section(model: ReportModel) -> tuple[Block, ...]:
    """What was found of every declared contrast; empty where all is of one occasion."""
    again = [
        _Found(one, one.pair.comparison)
        for one in declared.inside(model.families, model.baselines)
        if one.pair.comparison and one.pair.comparison.by_occasion
    ]
    # The scatter of a bound is the load generator's.
    every = [one for one in again if one.comparison.bound == "exact"]
    bounded = [one.contrast for one in again if one.comparison.bound != "exact"]
    told = [one for one in every if one.contrast.is_ranked]
    if not told:
        return ()
    left_out = _left_out([f"{one.name} ({one.where})" for one in bounded if one.is_ranked])
    shown = tuple(_by_metric(every))
    if len(every) <= MOST_ROWS:
        return (Text(_sentence(told)), *shown, key(KEY + left_out))
    whole = fold("Every contrast", *shown)
    return (Text(_sentence(told)), _by_workload(told), key(BY_WORKLOAD + KEY + left_out), *whole)


def _left_out(names: Sequence[str]) -> str:
    if not names:
        return ""
    first, rest = names[:MOST_NAMED], len(names) - MOST_NAMED
    listed = units.listed((*first, f"{rest} more") if rest > 0 else first)
    return f" Left out, because the ratio is only a bound: {listed}."


def _sentence(told: Sequence[_Found]) -> str:
    """In how many contrasts days say more than trials, and where they say most."""
    more = sum(one.components.occasions > one.components.trials for one in told if one.components)
    widest = max(told, key=lambda one: one.apart)
    many = units.plural(max(len(one.comparison.by_occasion) for one in told), "occasion")
    least, greatest = min(widest.comparison.by_occasion), max(widest.comparison.by_occasion)
    return (
        f"Over {many}, {more} of {units.plural(len(told), 'declared contrast')} scatter more"
        f" between occasions than between trials of one. Furthest apart is {widest.contrast.name}"
        f" ({widest.contrast.where}): {units.significant(least)} on one occasion,"
        f" {units.significant(greatest)} on another."
    )


def _by_metric(told: Sequence[_Found]) -> Iterator[Block]:
    every = list(dict.fromkeys(one.contrast.pair.metric for one in told))
    for metric in every:
        if len(every) > 1:
            yield heading(f"{metric.title} ratio")
        rows = tuple(_row(one) for one in told if one.contrast.pair.metric is metric)
        columns = (
            *words("Contrast"),
            *figures("Ratio", "Each occasion", "Furthest apart, %"),
            *SCATTER,
        )
        yield Table(columns, rows)


def _row(one: _Found) -> tuple[Cell, ...]:
    found, known = one.comparison, one.components
    ratios = [units.significant(ratio) for ratio in found.by_occasion]
    if len(ratios) > MOST_LISTED:
        ends = min(found.by_occasion), max(found.by_occasion)
        ratios = [" to ".join(units.significant(end) for end in ends)]
    return (
        Cell(one.contrast.name, aside=(one.contrast.where,)),
        cells.compared(found),
        Cell(", ".join(ratios)),
        _percent([one.apart]),
        _percent([known.trials]) if known else NO_FIGURE,
        _percent([known.occasions]) if known else NO_FIGURE,
    )


def _by_workload(told: Sequence[_Found]) -> Table:
    rows = []
    for family in dict.fromkeys(one.contrast.family.title for one in told):
        own = [one for one in told if one.contrast.family.title == family]
        known = [one.components for one in own if one.components]
        rows.append(
            (
                Cell(family),
                Cell(f"{len(own)}"),
                _percent([one.apart for one in own]),
                _percent([one.trials for one in known]),
                _percent([one.occasions for one in known]),
            )
        )
    columns = (*words("Workload"), Column("Contrasts"), Column("Furthest apart, %"), *SCATTER)
    return Table(columns, tuple(rows))


def _percent(shares: Sequence[float]) -> Cell:
    """The median, and beside it the least and the greatest where there are several."""
    if not shares:
        return NO_FIGURE
    middle = median(shares)
    ends = [_figure(end) for end in (min(shares), max(shares))]
    aside = (" to ".join(ends),) if len(shares) > 1 else ()
    return Cell(_figure(middle), aside=aside, value=middle)


def _figure(share: float) -> str:
    return f"{100 * share:.2g}"

"""Where a ratio's scatter comes from: the trials of one occasion, or one occasion and another.

Knows the declared contrasts of a report; must not know how a table is drawn. With one occasion
there is nothing to tell. Many contrasts are told workload by workload, and each of them in the
page alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from wiretrial.report import figure_words, leading, metrics, units
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
from wiretrial.report.contest import Pair
from wiretrial.report.families import Family
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
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
class _Contrast:
    """A declared contrast with what each occasion says of it alone."""

    family: Family
    name: str
    where: str
    pair: Pair
    found: Comparison
    components: Components | None

    @property
    def apart(self) -> float:
        """How far apart the occasions' own ratios are, as a share."""
        return max(self.found.by_occasion) / min(self.found.by_occasion) - 1


def section(model: ReportModel) -> tuple[Block, ...]:
    """What was found of every declared contrast; empty where all is of one occasion."""
    inside = [family for family in model.families if not family.is_outside]
    ranked = [one for family in inside for one in _contrasts(model, family, family.metric)]
    told = [one for one in ranked if isinstance(one, _Contrast)]
    if not told:
        return ()
    beside = (
        one for family in inside for one in _contrasts(model, family, metrics.beside(family.metric))
    )
    every = [*told, *(one for one in beside if isinstance(one, _Contrast))]
    left_out = _left_out([one for one in ranked if isinstance(one, str)])
    shown = tuple(_by_metric(every))
    if len(every) <= MOST_ROWS:
        return (Text(_sentence(told)), *shown, key(KEY + left_out))
    whole = fold("Every contrast", *shown)
    return (Text(_sentence(told)), _by_workload(told), key(BY_WORKLOAD + KEY + left_out), *whole)


def _contrasts(model: ReportModel, family: Family, metric: Metric) -> Iterator[_Contrast | str]:
    """In the look that was declared: over all levels, or level by level; else the name of one whose
    ratio is a bound, so that its scatter is the load generator's.

    Where levels are shown to differ there is no ratio over all of them.
    """
    base = leading.baseline(family, model.baselines)
    together = family.together.get(metric.key)
    pooled = [pair for pair in together.against if pair.is_declared] if together else []
    whole = [pair for pair in pooled if together and pair.a not in together.ranges]
    for pair in whole:
        yield from _contrast(family, (pair.a, pair.b), family.title, pair)
    done = {frozenset((pair.a, pair.b)) for pair in whole}
    for group in family.groups:
        for pair in group.contest.pairs.get(metric.key, ()):
            turned = pair.seen_from(pair.a) if group.called[pair.a] == base else pair
            sides = group.called[turned.a], group.called[turned.b]
            if pair.is_declared and frozenset(sides) not in done:
                yield from _contrast(family, sides, group.title, turned)


def _contrast(
    family: Family, sides: tuple[str, str], where: str, pair: Pair
) -> Iterator[_Contrast | str]:
    found, name = pair.comparison, " / ".join(sides)
    if found is None or not found.by_occasion:
        return
    if found.bound != "exact":
        yield f"{name} ({where})"
    else:
        yield _Contrast(family, name, where, pair, found, found.components)


def _left_out(names: Sequence[str]) -> str:
    if not names:
        return ""
    first, rest = names[:MOST_NAMED], len(names) - MOST_NAMED
    listed = units.listed((*first, f"{rest} more") if rest > 0 else first)
    return f" Left out, because the ratio is only a bound: {listed}."


def _sentence(told: Sequence[_Contrast]) -> str:
    """In how many contrasts days say more than trials, and where they say most."""
    more = sum(one.components.occasions > one.components.trials for one in told if one.components)
    widest = max(told, key=lambda one: one.apart)
    many = units.plural(max(len(one.found.by_occasion) for one in told), "occasion")
    least, greatest = min(widest.found.by_occasion), max(widest.found.by_occasion)
    return (
        f"Over {many}, {more} of {units.plural(len(told), 'declared contrast')} scatter more"
        f" between occasions than between trials of one. Furthest apart is {widest.name}"
        f" ({widest.where}): {units.significant(least)} on one occasion,"
        f" {units.significant(greatest)} on another."
    )


def _by_metric(told: Sequence[_Contrast]) -> Iterator[Block]:
    every = list(dict.fromkeys(one.pair.metric for one in told))
    for metric in every:
        if len(every) > 1:
            yield heading(f"{metric.title} ratio")
        rows = tuple(_row(one) for one in told if one.pair.metric is metric)
        columns = (
            *words("Contrast"),
            *figures("Ratio", "Each occasion", "Furthest apart, %"),
            *SCATTER,
        )
        yield Table(columns, rows)


def _row(one: _Contrast) -> tuple[Cell, ...]:
    found, known = one.found, one.components
    low, high = found.interval or (None, None)
    ratios = [units.significant(ratio) for ratio in found.by_occasion]
    if len(ratios) > MOST_LISTED:
        ends = min(found.by_occasion), max(found.by_occasion)
        ratios = [" to ".join(units.significant(end) for end in ends)]
    return (
        Cell(one.name, aside=(one.where,)),
        Cell(figure_words.interval_ratio(found), value=found.ratio, low=low, high=high),
        Cell(", ".join(ratios)),
        _percent([one.apart]),
        _percent([known.trials]) if known else NO_FIGURE,
        _percent([known.occasions]) if known else NO_FIGURE,
    )


def _by_workload(told: Sequence[_Contrast]) -> Table:
    rows = []
    for family in dict.fromkeys(one.family.title for one in told):
        own = [one for one in told if one.family.title == family]
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

"""A study's tables in a terminal: levels, searches, claims.

Knows rows and columns; must not know what stands around them.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from wiretrial.report import metrics, sentences, units
from wiretrial.report.claims import ClaimRow
from wiretrial.report.families import Family
from wiretrial.report.knees import Knee
from wiretrial.report.marks import CLAIM_MARKS, claim_ratio, extremes
from wiretrial.report.model import Group, ScenarioResult

UNLIMITED = 1000


def new(*heads: str) -> Table:
    """An empty table with these columns, the first to the left, the others to the right."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1), pad_edge=False)
    for index, head in enumerate(heads):
        table.add_column(head, justify="right" if index else "left", no_wrap=bool(index))
    return table


def levels(console: Console, family: Family) -> Table:
    """A row per level, a column per label; with intervals where the width allows."""
    table = _levels(family, with_intervals=True)
    wide = Measurement.get(console, console.options.update_width(UNLIMITED), table).maximum
    return table if wide <= console.width else _levels(family, with_intervals=False)


def knees(found: Sequence[Knee]) -> Table:
    """A row per search."""
    table = new("subject", "sustained\n/s", "confirmed", "refused at\n/s", "trials", "why")
    table.columns[-1].justify = "left"
    table.columns[-1].no_wrap = False
    for knee in sorted(found, key=lambda knee: knee.sustained or 0.0, reverse=True):
        table.add_row(
            knee.label,
            ascii_only(knee.figure),
            "yes" if knee.is_confirmed else "no",
            "-" if knee.refused is None else units.trimmed(knee.refused.offered),
            str(len(knee.steps)),
            knee.why,
        )
    return table


def claims(rows: Sequence[ClaimRow]) -> Table:
    """A row per claim."""
    table = new("published", "there", "here", "verdict")
    table.columns[-1].justify = "left"
    table.columns[-1].no_wrap = False
    for row in rows:
        table.add_row(
            ascii_only(f"{row.claim.text} ({row.claim.source})"),
            units.trimmed(row.claim.published),
            claim_ratio(row),
            ascii_only(f"{CLAIM_MARKS[row.verdict]} {row.verdict}: {row.why}"),
        )
    return table


def ascii_only(text: str) -> str:
    """Without the signs that some terminals cannot show."""
    return text.replace("µs", "us").replace("≥", ">=").replace("“", '"').replace("”", '"')


def _levels(family: Family, *, with_intervals: bool) -> Table:
    metric = family.metric
    medians = (s.median(metric) for group in family.groups for s in group.scenarios)
    unit = units.fitting(metric.units, (value for value in medians if value is not None))
    per = "/message" if metric in metrics.PER_MESSAGE else ""
    table = new(f"{ascii_only(unit.short)}{per}", *family.labels)
    for group in family.groups:
        cells = (
            _cell(family.of(label, group), group, unit, with_intervals) for label in family.labels
        )
        table.add_row(family.level(group), *cells)
    return table


def _cell(
    scenario: ScenarioResult | None, group: Group, unit: units.Unit, with_interval: bool
) -> str:
    metric = group.contest.metric
    estimate = None if scenario is None else scenario.estimates.get(metric.key)
    if scenario is None or estimate is None:
        return "-"
    best, _ = extremes(group)
    bound = ">= " if scenario.at_least and metric is metrics.THROUGHPUT else ""
    interval = sentences.interval_text(estimate, unit) if with_interval else ""
    figure = f"{bound}{unit.figure(estimate.median)}{f' ({interval})' if interval else ''}"
    return f"{figure} {'*' if scenario.name in best else ' '}"

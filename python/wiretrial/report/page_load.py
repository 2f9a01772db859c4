"""A load that grows: what is delivered of it, how idle the server stays, how long replies take.

Knows which figures belong to a load that is given from outside, each as a picture over its factor
with a table; must not know how either is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from wiretrial.report import figure_words, metrics
from wiretrial.report.blocks import Block, Drawing, Section, heading, key
from wiretrial.report.families import Family, Strip
from wiretrial.report.metrics import Metric
from wiretrial.report.tables import load
from wiretrial.report.views import levels, percentiles

SERIES = (metrics.THROUGHPUT, metrics.IDLE, metrics.P50, metrics.P99, metrics.BYTE_RATE)
KEY = (
    "Point: median over trials. Bar: {interval}. Idle: of the CPUs that the server was pinned"
    " to, soft interrupts included in what is not idle. Bandwidth: TCP payload per second,"
    " both ways."
)


def is_given(family: Family) -> bool:
    """Whether the rate comes from outside at each level of the family's factor."""
    return bool(family.strips) and all(map(is_offered, family.strips))


def is_offered(strip: Strip) -> bool:
    """Whether the rate comes from outside at each of its levels."""
    return all(scenario.offered for group in strip.groups for scenario in group.scenarios)


def section(family: Family) -> Section:
    """Throughput, idle CPU, response time and bandwidth over the factor; empty of other loads."""
    found = tuple(_series(family)) if is_given(family) and not family.is_outside else ()
    return Section(
        f"As the load grows: {family.title}", (*found, key(_key(family))) if found else ()
    )


def _key(family: Family) -> str:
    scenarios = (s for strip in family.strips for group in strip.groups for s in group.scenarios)
    known = (one for scenario in scenarios for one in scenario.estimates.values())
    return KEY.format(interval=figure_words.interval_name(known))


def _series(family: Family) -> Iterator[Block]:
    """What the family is ranked by has its picture and its table already."""
    for metric in (one for one in SERIES if one is not family.metric):
        for strip in family.strips:
            scenarios = [scenario for group in strip.groups for scenario in group.scenarios]
            if not any(metric.key in scenario.estimates for scenario in scenarios):
                continue
            title, table = _title(strip, metric), load.table(family, strip, metric)
            yield heading(f"{title}: {strip.title}" if len(family.strips) > 1 else title)
            # No line joins a single level, and none has a place at 0 on a log axis.
            is_line = levels.has(strip, metric)
            yield Drawing(partial(levels.picture, strip, metric), table) if is_line else table


def _title(strip: Strip, metric: Metric) -> str:
    if metric is metrics.THROUGHPUT:
        return "Throughput against the theoretical maximum"
    waited = f"{percentiles.quantity(strip.groups[0])}, " if metric in metrics.WAITING else ""
    return f"{waited}{metric.title}"

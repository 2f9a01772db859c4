"""Sentences about the routes of traffic.

Knows findings; must not know how they were found.
"""

from __future__ import annotations

from wiretrial.report import units
from wiretrial.report.figure_words import ratio_interval
from wiretrial.report.finding import Finding, Slow

MOST_NAMED = 3
"""Of more servers, the ones with the longest times are named."""


def slowest(finding: Finding, whole: bool) -> str:
    """`slowest route: item, p99 10.2 ms`; of several servers, each with its own."""
    first, *rest = finding.slow
    shown = finding.slow if whole else finding.slow[:MOST_NAMED]
    if not rest:
        return f"slowest {first.part.one}: {first.route}, {first.time} {units.duration(first.ns)}"
    if len({one.route for one in finding.slow}) == 1:
        times = [f"{units.duration(one.ns)} ({one.label})" for one in shown]
        return f"slowest {first.part.one}: {first.route}, {first.time} {units.listed(times)}"
    return f"slowest {first.part.many}, by {first.time}: {units.listed(map(_own, shown))}"


def apart(finding: Finding, _: bool) -> str:
    """`largest difference on item: p99 of B 3.1 (2.9 to 3.4) times that of A (5.7 ms)`."""
    (slow,), (other,) = finding.slow, finding.others
    times = units.significant(other.ratio)
    if interval := ratio_interval(other):
        times += f" ({interval})"
    base = f"{finding.base} ({units.duration(slow.ns)})"
    whose = f"{slow.time} of {other.label}"
    return f"largest difference on {slow.route}: {whose} {times} times that of {base}"


def _own(slow: Slow) -> str:
    return f"{slow.route} {units.duration(slow.ns)} ({slow.label})"

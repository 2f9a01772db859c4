"""Marks that stand beside colours, the same in every form of the report.

Knows verdicts and their marks; must not know how they are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiretrial.report import sentences
from wiretrial.report.claims import ClaimRow, Verdict

if TYPE_CHECKING:
    from wiretrial.report.model import Group

BEST, WORST = "▲", "▼"
CLAIM_MARKS: dict[Verdict, str] = {
    "reproduced": "✓",
    "refuted": "✗",
    "explained by arithmetic": "=",
    "cannot be told": "?",
    "not measured here": "–",
}


def claim_ratio(row: ClaimRow) -> str:
    """Our ratio with its interval."""
    return "–" if row.here is None else sentences.interval_ratio(row.here)


def extremes(group: Group) -> tuple[frozenset[str], frozenset[str]]:
    """The names that nobody is shown to beat, and those that beat nobody; empty where all tie."""
    pairs = group.contest.pairs.get(group.contest.metric.key, ())
    won = {pair.winner for pair in pairs if pair.winner}
    lost = {pair.a if pair.winner == pair.b else pair.b for pair in pairs if pair.winner}
    names = frozenset(group.contest.ranking.order)
    return (names - lost, names - won) if won else (frozenset(), frozenset())

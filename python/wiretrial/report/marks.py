"""Marks that stand beside colours, the same in every form of the report.

Knows verdicts and their marks; must not know how they are shown.
"""

from __future__ import annotations

from wiretrial.report import sentences
from wiretrial.report.claims import ClaimRow, Verdict

BEST, WORST, STALLED = "▲", "▼", "✗"
CLAIM_MARKS: dict[Verdict, str] = {
    "reproduced": "✓",
    "not reproduced": "✗",
    "arithmetic": "=",
    "cannot be told": "?",
    "not measured here": "–",
}


def claim_ratio(row: ClaimRow) -> str:
    """Our ratio with its interval."""
    return "–" if row.here is None else sentences.interval_ratio(row.here)

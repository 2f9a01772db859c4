"""Whether a ratio that was measured in one setting is found again in another.

The rule is that of the direction, never of the overlap: a wide interval overlaps with all. Each
setting by itself shows that the ratio is more than 1, less than 1 (its 95 % interval leaves out 1),
or 1 within the band (two one-sided tests, Schuirmann 1987). What both must show needs no
correction for being two: the chance to be told by mistake is at most that of the weaker of them
(intersection-union test; Berger 1982, "Multiparameter Hypothesis Testing and Acceptance Sampling").
"""

from __future__ import annotations

from typing import Literal

from wiretrial.stats.compare import ALPHA, Comparison

Shown = Literal["more", "less", "equal"]
Agreement = Literal["survives", "turns", "cannot be told"]


def shown(ratio: Comparison | None) -> Shown | None:
    """What one setting shows; None: nothing, or there is no ratio.

    As in `compare.verdict` equality comes first, and of a bound only what it leaves no way out of.
    """
    if ratio is None or ratio.low is None or ratio.high is None:
        return None
    if ratio.p_equal < ALPHA:
        return "equal" if ratio.bound == "exact" else None
    if ratio.low > 1 and ratio.bound in ("exact", "at least"):
        return "more"
    if ratio.high < 1 and ratio.bound in ("exact", "at most"):
        return "less"
    return None


def agreement(one: Comparison | None, other: Comparison | None) -> Agreement:
    """`survives`: both show the same; `turns`: they show different things."""
    first, second = shown(one), shown(other)
    if first is None or second is None:
        return "cannot be told"
    return "survives" if first == second else "turns"

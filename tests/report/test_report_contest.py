"""The marks of best and worst stand only where every difference that they claim is shown."""

from __future__ import annotations

import pytest

from wiretrial.report import metrics
from wiretrial.report.contest import Contest, Pair
from wiretrial.stats.ranks import Ranking


def contest(order: str, *shown: str) -> Contest:
    """Names of one letter, best estimate first; `ab`: a is shown to be better than b."""
    pairs = [
        Pair(a, b, metrics.ELAPSED, None, "A faster" if a + b in shown else "no difference shown")
        for place, a in enumerate(order)
        for b in order[place + 1 :]
    ]
    ranking = Ranking(tuple(order), dict.fromkeys(order, 1), ())
    return Contest(metrics.ELAPSED, ranking, {"elapsed": tuple(pairs)}, ranking)


@pytest.mark.parametrize(
    ("order", "shown", "best", "worst"),
    [
        ("abc", ("ab", "ac"), "a", ""),
        ("abc", ("ac", "bc"), "", "c"),
        ("abc", ("ab", "ac", "bc"), "a", "c"),
        # One of three may be as good as the first and as bad as the last.
        ("abc", ("ac",), "", ""),
        ("abcd", ("ac", "ad", "bc", "bd"), "ab", "cd"),
        # A narrow interval loses to the first, a wide one behind it does not.
        ("abcd", ("ab",), "", ""),
        # All but one: a mark on most of them would tell nothing apart.
        ("abcd", ("ad", "bd", "cd"), "", "d"),
        ("ab", (), "", ""),
        ("a", (), "", ""),
    ],
)
def test_best_and_worst_are_shown_apart_from_all_others(
    order: str, shown: tuple[str, ...], best: str, worst: str
) -> None:
    found = contest(order, *shown).extremes
    assert found == (frozenset(best), frozenset(worst))

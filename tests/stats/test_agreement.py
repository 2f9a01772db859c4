"""Whether a ratio is found again elsewhere: known answers, and how often it is told by mistake."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

import pytest

from wiretrial.stats.agreement import Agreement, Shown, agreement, shown
from wiretrial.stats.compare import Comparison, compare

SUITES = 4000
SCATTER = 0.04


def ratio(*values: float) -> Comparison:
    """Of blocks whose ratios are these."""
    return compare(values, [1.0] * len(values))


MORE = ratio(1.48, 1.50, 1.53)
LESS = ratio(0.66, 0.67, 0.68)
EQUAL = ratio(1.001, 0.999, 1.0)
OPEN = ratio(0.8, 1.0, 1.3)
SLIGHTLY = ratio(1.0101, 1.0102, 1.0103)
"""More than 1 for certain, and within 3 % of it."""
ONE_BLOCK = ratio(2.0)


@pytest.mark.parametrize(
    ("measured", "wanted"),
    [
        (MORE, "more"),
        (LESS, "less"),
        (EQUAL, "equal"),
        (SLIGHTLY, "equal"),
        (OPEN, None),
        (ONE_BLOCK, None),
        (None, None),
        (replace(MORE, bound="at least"), "more"),
        (replace(MORE, bound="at most"), None),
        (replace(LESS, bound="at most"), "less"),
        (replace(LESS, bound="at least"), None),
        (replace(EQUAL, bound="at least"), None),
        (replace(MORE, bound="unknown"), None),
    ],
)
def test_what_one_setting_shows(measured: Comparison | None, wanted: Shown | None) -> None:
    assert shown(measured) == wanted


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (MORE, MORE, "survives"),
        (MORE, ratio(3.0, 3.1, 3.2), "survives"),
        (LESS, LESS, "survives"),
        (EQUAL, SLIGHTLY, "survives"),
        (MORE, LESS, "turns"),
        (MORE, EQUAL, "turns"),
        (EQUAL, MORE, "turns"),
        (OPEN, MORE, "cannot be told"),
        (MORE, OPEN, "cannot be told"),
        (OPEN, OPEN, "cannot be told"),
        (MORE, None, "cannot be told"),
    ],
)
def test_known_answers(one: Comparison | None, other: Comparison | None, wanted: Agreement) -> None:
    assert agreement(one, other) == wanted


def test_overlapping_intervals_alone_tell_nothing() -> None:
    assert OPEN.low is not None
    assert OPEN.high is not None
    assert OPEN.low < MORE.ratio < OPEN.high * 1.5
    assert agreement(MORE, OPEN) == "cannot be told"


@pytest.mark.parametrize(("here", "there"), [(1.5, 1.5), (1.5, 1.0), (1.0, 1.0), (1.5, 0.8)])
def test_a_wrong_answer_is_as_rare_as_its_level(here: float, there: float) -> None:
    draw = random.Random(f"{here} {there}")

    def measured(true: float) -> Comparison:
        return ratio(*(true * math.exp(draw.gauss(0, SCATTER)) for _ in range(5)))

    told = Counter(agreement(measured(here), measured(there)) for _ in range(SUITES))
    is_same = (here > 1) == (there > 1)
    wrong: Agreement = "turns" if is_same else "survives"
    assert told[wrong] / SUITES < 0.05

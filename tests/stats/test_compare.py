"""Known answers for paired comparisons, and their rate of false differences."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from wiretrial.stats.bounds import Bound
from wiretrial.stats.compare import Verdict, compare, holm, verdict


def test_paired_t_on_logs_has_the_textbook_answer() -> None:
    logs = [0.1, 0.2, 0.3, 0.4, 0.5]
    found = compare([math.exp(x) for x in logs], [1] * 5)
    error = math.sqrt(0.025) / math.sqrt(5)
    assert found.ratio == pytest.approx(math.exp(0.3))
    assert found.low == pytest.approx(math.exp(0.3 - 2.7764451 * error), rel=1e-6)
    assert found.high == pytest.approx(math.exp(0.3 + 2.7764451 * error), rel=1e-6)
    assert found.p == pytest.approx(0.0132356, abs=1e-6)  # t = 4.242641 with 4 degrees
    assert found.pairs == 5


def test_a_block_that_slows_both_cancels() -> None:
    block = [1.0, 0.5, 2.0, 1.3, 0.9]
    found = compare([1.1 * b for b in block], block)
    assert found.ratio == pytest.approx(1.1)
    assert found.low == pytest.approx(1.1, rel=1e-6)


def test_of_what_scatters_too_much_no_difference_could_be_shown() -> None:
    assert compare([1000, 0.001, 1.0], [1] * 3).resolution() == math.inf
    assert compare([1.0], [1.0]).resolution() is None


def test_verdicts() -> None:
    faster = compare([1.2, 1.21, 1.19, 1.2, 1.22], [1] * 5)
    assert verdict(faster, faster.p, higher_is_better=True) == "A faster"
    assert verdict(faster, faster.p, higher_is_better=False) == "B faster"
    equal = compare([1.001, 1.0, 0.999, 1.002, 1.001], [1] * 5)
    assert verdict(equal, equal.p, higher_is_better=True) == "equal within 3 %"
    unclear = compare([1.3, 0.8, 1.1, 0.9, 1.2], [1] * 5)
    assert verdict(unclear, unclear.p, higher_is_better=True) == "no difference shown"
    alone = compare([2], [1])
    assert verdict(alone, alone.p, higher_is_better=True) == "invalid"


def test_holm_can_take_a_difference_back() -> None:
    found = compare([1.2, 1.1, 1.25, 1.02, 1.15], [1] * 5)
    assert 0.01 < found.p < 0.05
    assert verdict(found, found.p, higher_is_better=True) == "A faster"
    adjusted = holm([found.p] * 6)[0]
    assert verdict(found, adjusted, higher_is_better=True) == "no difference shown"


def test_a_difference_inside_the_band_is_equal() -> None:
    found = compare([1.0101, 1.01, 1.0099, 1.01, 1.0102], [1] * 5)
    assert found.p < 0.001
    assert verdict(found, found.p, higher_is_better=True) == "equal within 3 %"


@pytest.mark.parametrize(
    ("bound", "more", "less", "same", "unclear"),
    [
        ("exact", "A faster", "B faster", "equal within 3 %", "no difference shown"),
        ("at least", "A faster", "invalid", "invalid", "invalid"),
        ("at most", "invalid", "B faster", "invalid", "invalid"),
        ("unknown", "invalid", "invalid", "invalid", "invalid"),
    ],
)
def test_of_a_bound_only_a_difference_on_its_closed_side_stands(
    bound: Bound, more: Verdict, less: Verdict, same: Verdict, unclear: Verdict
) -> None:
    for ratios, expected in (
        ([1.2, 1.21, 1.19, 1.2, 1.22], more),
        ([0.8, 0.81, 0.79, 0.8, 0.82], less),
        ([1.001, 1.0, 0.999, 1.002, 1.001], same),
        ([1.3, 0.8, 1.1, 0.9, 1.2], unclear),
    ):
        found = replace(compare(ratios, [1] * 5), bound=bound)
        assert verdict(found, found.p, higher_is_better=True) == expected
        # The same told as times, of which less is better.
        assert verdict(found.inverse, found.p, higher_is_better=False) == expected


def test_holm_has_the_textbook_answer() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_bad_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="equal numbers"):
        compare([1, 2], [1])
    with pytest.raises(ValueError, match="positive"):
        compare([1, 0], [1, 1])
    with pytest.raises(ValueError, match="no pair"):
        compare([], [])


@pytest.mark.parametrize(("blocks", "seed"), [(5, 11), (10, 12)])
def test_an_a_a_pair_differs_in_3_to_6_percent_of_suites(blocks: int, seed: int) -> None:
    """Suites of four scenarios, two of them the same, with noise per block and per trial."""
    draw = random.Random(seed)
    suites, differences = 10_000, 0
    levels = (1.0, 1.0, 2.0, 4.0)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for _ in range(suites):
        shared = [draw.gauss(0, 0.10) for _ in range(blocks)]
        runs = [[x * math.exp(b + draw.gauss(0, 0.06)) for b in shared] for x in levels]
        found = [compare(runs[i], runs[j]) for i, j in pairs]
        adjusted = holm([comparison.p for comparison in found])
        differences += verdict(found[0], adjusted[0], higher_is_better=True).endswith("faster")
    assert 0.03 <= differences / suites <= 0.06

"""Sizes that are told from a sample."""

from __future__ import annotations

import pytest

from wiretrial.report import sampled


@pytest.mark.parametrize(
    ("count", "most", "is_far"),
    [
        (160, 79, True),
        (160, 81, False),
        # Too few to tell from.
        (150, 1, False),
    ],
)
def test_only_twice_too_much_is_told_from_a_sample(count: int, most: int, is_far: bool) -> None:
    assert sampled.is_far_over([1] * count, sum, most) == is_far

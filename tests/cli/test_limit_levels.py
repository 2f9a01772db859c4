"""The levels beside a search."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from wiretrial.cli.limit_levels import crowds


@pytest.mark.parametrize(
    ("own", "many"),
    [
        (100, [1000, 2000]),
        (300, [3000, 5000]),
        # The most once, though both factors are beyond it.
        (500, [5000]),
        (4999, [5000]),
        # No fewer than the search had.
        (5000, []),
        (9000, []),
    ],
)
def test_crowds_are_more_connections_each_number_once(own: int, many: Sequence[int]) -> None:
    assert crowds(own, (10, 20)) == many

"""What a page tells, and what follows from it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from wiretrial.browser.jobs import Asked, Job, Outcome


def outcome(*requests: tuple[float, float | None, float]) -> Outcome:
    """An outcome of requests with these instants: called, gone out, answered."""
    return Outcome(
        agent="Chromium 1",
        protocol="http/1.1",
        setup_ms=(1.5,),
        connections=1,
        requests=tuple(
            Asked(sent=sent, began=began, ended=None if began is None else done, done=done)
            for sent, began, done in requests
        ),
    )


@pytest.mark.parametrize(
    ("requests", "most"),
    [
        # One goes out as the one before is answered: they were never out together.
        ([(0, 0, 10), (0, 10, 20), (0, 20, 30)], 1),
        ([(0, 0, 10), (0, 0, 12), (0, 10, 20)], 2),
        ([(0, 1, 10)] * 6 + [(0, 10, 20)] * 6, 6),
        ([(0, None, 10), (0, None, 12)], 0),
        # An answer from the cache was never out.
        ([(0, 5, 5)], 0),
    ],
)
def test_those_under_way_at_once_are_counted(
    requests: list[tuple[float, float | None, float]], most: int
) -> None:
    assert outcome(*requests).under_way == most


def test_the_whole_lasts_from_the_first_call_to_the_last_reply() -> None:
    found = outcome((0.25, 1, 4), (0, 2, 9.5))
    assert found.elapsed_ns == 9_500_000
    times = found.round_trips()
    assert times.get_total_count() == 2
    assert times.get_max_value() == pytest.approx(9_500_000, rel=0.002)
    assert found.setups().get_max_value() == pytest.approx(1_500_000, rel=0.002)


@pytest.mark.parametrize("requests", [0, 2001])
def test_no_page_asks_for_nothing_or_too_much(requests: int) -> None:
    with pytest.raises(ValidationError):
        Job(transport="fetch", base="http://h", path="/", requests=requests)

"""Quantities as people write them."""

from __future__ import annotations

import pytest

from wiretrial import quantities
from wiretrial.errors import UsageProblem

SECOND = 10**9


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("10", 10 * SECOND),
        ("10s", 10 * SECOND),
        ("10S", 10 * SECOND),
        ("10sec", 10 * SECOND),
        ("10 seconds", 10 * SECOND),
        ("1min", 60 * SECOND),
        ("1m30s", 90 * SECOND),
        ("1h 30m", 5400 * SECOND),
        ("1.5h", 5400 * SECOND),
        ("500msec", SECOND // 2),
        ("0", 0),
    ],
)
def test_durations(text: str, wanted: int) -> None:
    assert quantities.duration_ns(text, "-d") == wanted


@pytest.mark.parametrize("text", ["", "s", "-1s", "1m30", "10/s", "1s!", "5 parsecs", "1 2s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(UsageProblem, match=r"-d .*: (not a duration|no such unit|a number with)"):
        quantities.duration_ns(text, "-d")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("5000", 5000),
        ("5,000", 5000),
        ("10k", 10_000),
        ("10k/s", 10_000),
        ("1m", 1_000_000),
        ("1000rps", 1000),
        ("1k rps", 1000),
        ("1000 req/s", 1000),
        ("60/m", 1),
        ("600/min", 10),
        ("3600/h", 1),
        ("0.5", 0.5),
    ],
)
def test_rates(text: str, wanted: float) -> None:
    assert quantities.rate(text, "--rate") == wanted


@pytest.mark.parametrize("text", ["", "0", "-1", "10s", "10req", "10/fortnight", "10 bps"])
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(UsageProblem):
        quantities.rate(text, "--rate")

"""The explanation: each cause is named where it shows, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wiretrial.cli.browser_words import Place, beside, explained
from wiretrial.stats.compare import Comparison
from wiretrial.studies import ways

MS = 1e6
ONE = 105 * MS


def ratio(low: float, high: float) -> Comparison:
    """A ratio of times with its interval."""
    return Comparison((low * high) ** 0.5, low, high, p=0.01, p_equal=1.0, pairs=5)


QUICKER = ratio(0.12, 0.15)


def place(
    widths: dict[str, int] | None = None, second: Comparison | None = QUICKER, **changes: float
) -> Place:
    """Fifty requests over a link of 105 ms: a lock, six connections, HTTP/2 without a limit."""
    times = {
        ways.SAME.label: 50 * ONE,
        ways.UNIQUE.label: 9 * ONE,
        ways.NO_STORE.label: 9.1 * ONE,
        ways.SAME_2.label: 50 * ONE,
        ways.UNIQUE_2.label: 1.2 * ONE,
        ways.SOCKET_IO.label: 1.1 * ONE,
    }
    return Place(
        where="broadband-far",
        requests=50,
        one=ONE,
        at_once={**times, **{getattr(ways, name).label: ns for name, ns in changes.items()}},
        under_way={
            ways.SAME.label: 1,
            ways.UNIQUE.label: 6,
            ways.NO_STORE.label: 6,
            ways.SAME_2.label: 1,
            ways.UNIQUE_2.label: 50,
            **(widths or {}),
        },
        second=second,
    )


def test_lock_limit_and_link_each_have_their_part() -> None:
    text = " ".join(explained(place()))
    assert "5.25 s over HTTP/1.1 where all ask for one URL, and 945 ms" in text
    assert "a lock: that is 50.0 times one request, with at most 1 under way" in text
    # 41, 8 and 1 of 50 round trips.
    assert "the lock makes up 82 %, the limit of 6 connections 16 % and link and server 2 %" in text
    assert "so 50 need 9 turns, and took 9.00 times one request" in text
    assert "the lock is the cache's" in text
    assert (
        "HTTP/2 lifts the limit (126 ms with a URL each, 50 under way; 0.134 (0.120 to 0.150) times"
        " that of HTTP/1.1), but not the lock"
    ) in text
    assert "Socket.IO 116 ms" in text


def test_where_no_lock_shows_none_is_named() -> None:
    wide = {ways.SAME.label: 6, ways.SAME_2.label: 50}
    text = " ".join(explained(place(wide, SAME=9 * ONE, SAME_2=1.2 * ONE)))
    assert "no lock of the cache shows" in text
    assert "no-store" not in text
    assert "and no lock shows (126 ms with one URL)" in text


def test_a_lock_that_no_store_does_not_lift_is_not_the_cache_s() -> None:
    text = " ".join(explained(place({ways.NO_STORE.label: 1})))
    assert "leaving the cache out does not lift the lock" in text
    assert "the lock is the cache's" not in text


def test_a_second_version_that_lifts_nothing_is_said_to() -> None:
    text = " ".join(explained(place({ways.UNIQUE_2.label: 6})))
    assert "HTTP/2 does not lift the limit" in text
    assert "nor the lock" in text


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (ratio(1.2, 1.4), "is slower here"),
        (ratio(0.8, 1.3), "is not shown to be quicker"),
        (None, "whether that is quicker cannot be told from these trials"),
        (replace(QUICKER, low=None, high=None), "whether that is quicker cannot be told"),
    ],
)
def test_what_is_not_quicker_lifts_no_limit(second: Comparison | None, said: str) -> None:
    """More requests under way are no gain where the time is no shorter."""
    text = " ".join(explained(place(second=second)))
    assert "HTTP/2 has more requests under way at once, but " + said in text
    assert "lifts" not in text
    assert "and keeps the lock" in text


def test_where_the_browser_does_not_tell_the_times_do() -> None:
    untold = dict.fromkeys((way.label for way in ways.FETCHED), 0)
    text = " ".join(explained(place(untold)))
    assert "The first is a lock: that is 50.0 times one request." in text
    assert "HTTP/2 lifts the limit (126 ms with a URL each; 0.134" in text
    assert "), but not the lock" in text
    assert "no lock of the cache shows" in " ".join(explained(place(untold, SAME=10 * ONE)))


def test_what_was_not_measured_is_not_told() -> None:
    bare = Place("loopback", 50, MS, {ways.UNIQUE.label: 9 * MS}, {})
    assert explained(bare) == []


def test_loopback_stands_beside_the_link() -> None:
    near = Place("loopback", 50, MS, {ways.SAME.label: 52.5 * MS, ways.UNIQUE.label: 20 * MS}, {})
    text = beside(place(), near)
    assert text.startswith("Over loopback the same take 52.5 ms and 20.0 ms")
    assert "the link makes the first 100 times as long" in text


@pytest.mark.parametrize("way", ways.FETCHED)
def test_ways_have_labels_of_their_own(way: ways.Way) -> None:
    assert [one.label for one in ways.FETCHED].count(way.label) == 1

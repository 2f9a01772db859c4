"""Which windows hold too few scrapes, and the duration that would do. Known answers."""

from __future__ import annotations

import pytest

from wiretrial.observers import coarse
from wiretrial.observers.watch import HostCpu, HostReading, PlaceKind, Watched

SECOND_NS = 1_000_000_000


def scraped(every_s: int, until_s: int, kind: PlaceKind = "prometheus") -> Watched:
    """A host that was scraped from instant 0 on."""
    host = tuple(HostReading(at * SECOND_NS, HostCpu()) for at in range(0, until_s + 1, every_s))
    return Watched("web1", kind, (), host)


@pytest.mark.parametrize(
    ("every_s", "window_s", "words"),
    [
        pytest.param(15, (30, 90), None, id="a minute of scrapes each 15 s"),
        pytest.param(15, (30, 86), None, id="a minute less some warm-up"),
        pytest.param(1, (30, 60), "31 scrapes lie in the 30 s", id="short"),
        pytest.param(15, (31, 61), "2 scrapes lie in the 30 s", id="short and few"),
        pytest.param(60, (61, 150), "1 scrape lies in the 89 s", id="few"),
        pytest.param(60, (61, 310), None, id="long enough for a scrape each minute"),
    ],
)
def test_a_window_needs_a_minute_and_four_scrapes(
    every_s: int, window_s: tuple[int, int], words: str | None
) -> None:
    start_ns, end_ns = (at * SECOND_NS for at in window_s)
    told = coarse.words(scraped(every_s, 600), start_ns, end_ns)
    if words is None:
        assert told is None
    else:
        assert told is not None
        assert words in told


@pytest.mark.parametrize(("every_s", "flag"), [(15, "-d 60s"), (30, "-d 120s"), (60, "-d 240s")])
def test_the_remedy_holds_four_scrapes(every_s: int, flag: str) -> None:
    told = coarse.words(scraped(every_s, 600), 0, 10 * SECOND_NS)
    assert told is not None
    assert flag in told
    assert coarse.length_s(every_s) == float(flag.removeprefix("-d ").removesuffix("s"))


def test_a_scrape_that_is_late_by_milliseconds_is_no_longer_interval() -> None:
    assert coarse.length_s(15.003) == 60.0


def test_what_is_read_four_times_a_second_is_not_coarse() -> None:
    assert coarse.words(scraped(1, 10, "observe"), 0, SECOND_NS) is None


def test_of_a_watch_that_ended_something_else_is_told() -> None:
    gone = Watched("web1", "prometheus", (), failed="it went away")
    assert coarse.words(gone, 0, SECOND_NS) is None

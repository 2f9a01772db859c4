"""What is told of a host that a Prometheus knows, where no server on it is told apart."""

from __future__ import annotations

from wiretrial.report.tables import watched
from wiretrial.results.watched import Span, WatchedPlace

SECOND_NS = 1_000_000_000


def host(busy: float, before: float = 0.1, **known: object) -> WatchedPlace:
    """A host that kept so many CPUs busy in ten seconds of 1,000 replies each."""
    place = WatchedPlace(
        place="web1:9100",
        kind="prometheus",
        parts=(),
        cpus=4,
        span=Span(start_ns=0, end_ns=10 * SECOND_NS, replies=10_000),
        user_ns=round(busy * 10 * SECOND_NS),
        baseline_ns=SECOND_NS,
        baseline_busy_ns=round(before * SECOND_NS),
        memory_used_bytes=2_000_000_000,
        memory_growth_bytes=-5_000_000,
    )
    return place.model_copy(update=known)


def notes(place: WatchedPlace) -> str:
    return " ".join(watched.notes(place))


def test_a_host_alone_is_told_as_that_with_its_cost_and_memory() -> None:
    told = notes(host(0.6))
    assert "Of web1:9100 the host is known, and no server on it. 500 µs of its CPU time" in told
    assert "Memory in use of web1:9100: 2,000.0 MB at the end (-5.0 MB)." in told


def test_a_host_that_was_no_busier_has_no_cost() -> None:
    told = notes(host(0.1, before=0.2))
    assert "no busier than before the load" in told
    assert "µs" not in told


def test_what_the_server_does_is_no_other_program() -> None:
    assert host(3.0).others_cpus is None


def test_few_scrapes_and_the_error_of_their_instants_are_told() -> None:
    told = notes(host(0.6, coarse="3 scrapes lie in the 35 s", clock_error_ns=50_000_000))
    assert "3 scrapes lie in the 35 s." in told
    assert "The instants of its scrapes are known to 50.0 ms" in told


def test_a_watch_that_failed_tells_no_host() -> None:
    told = notes(host(0.6, span=None, failed="it went away"))
    assert "the host is known" not in told
    assert "it went away" in told

"""From a driver's lines to a record: when each repetition was, what it opened, who had the time."""

from __future__ import annotations

import pytest
from hdrh.histogram import HdrHistogram

from wiretrial.studies.observed import Origin
from wiretrial.studies.told import RENEWED, Told
from wiretrial.subjects.driver import HIGHEST_NS, Repetition
from wiretrial.subjects.observe import Seen
from wiretrial.subjects.spec import Mode
from wiretrial.subjects.tree import Reading

MS = 1_000_000
BEGAN = 5_000 * MS
HOUR_AGO = Origin(begun_ns=BEGAN, alone=False, interfaces=("lo",), tells_memory=False)


def repetition(
    number: int = 0,
    *,
    wall_ns: int = 10 * MS,
    cpu_ns: int = 4 * MS,
    errors: int = 0,
    connections: int | None = 1,
    mode: Mode = "kept",
) -> Repetition:
    """A hundred iterations, all alike."""
    histogram = HdrHistogram(1, HIGHEST_NS, 3)
    histogram.record_value(wall_ns // 100, 100 - errors)
    return Repetition.model_validate(
        {
            "schema": "wiretrial-driver",
            "version": 1,
            "library": "made up 1.0",
            "repetition": number,
            "mode": mode,
            "iterations": 100,
            "errors": errors,
            "first_error": "a wrong reply" if errors else None,
            "connections": connections,
            "wall_ns": wall_ns,
            "cpu_user_ns": cpu_ns // 4,
            "cpu_system_ns": cpu_ns - cpu_ns // 4,
            "histogram": histogram.encode().decode(),
        }
    )


def reading(at_ms: float, cpu_ms: float) -> Reading:
    """The server's CPU time by then."""
    return Reading(
        at_ns=BEGAN + round(at_ms * MS),
        cpu_user_ns=0,
        cpu_system_ns=round(cpu_ms * MS),
        cpu_resolution_ns=1,
        rss_bytes=1,
        threads=1,
    )


def told(
    repetitions: list[Repetition], at_ms: list[float], readings: list[Reading] | None = None
) -> Told:
    seen = Seen(readings=readings or [])
    return Told.of(repetitions, [BEGAN + round(at * MS) for at in at_ms], seen, HOUR_AGO, 7)


def test_a_repetition_is_an_interval_that_ends_when_its_line_comes() -> None:
    found = told([repetition(0), repetition(1)], [30, 45])
    assert [(i.start_ns, i.end_ns) for i in found.intervals] == [
        (20 * MS, 30 * MS),
        (35 * MS, 45 * MS),
    ]
    assert (found.window.start_ns, found.window.end_ns) == (20 * MS, 45 * MS)
    assert "after 7 unrecorded ones" in found.window.rule
    assert (found.summary.first_send_ns, found.summary.end_ns) == (20 * MS, 45 * MS)
    assert found.summary.counters.sent == found.summary.counters.ok == 200
    assert found.summary.generator.cpu_user_ns + found.summary.generator.cpu_system_ns == 8 * MS
    assert found.library == "made up 1.0"


def test_lines_that_come_all_at_once_make_no_two_repetitions_overlap() -> None:
    found = told([repetition(0), repetition(1), repetition(2)], [40, 40, 40])
    assert [(i.start_ns, i.end_ns) for i in found.intervals] == [
        (10 * MS, 20 * MS),
        (20 * MS, 30 * MS),
        (30 * MS, 40 * MS),
    ]


@pytest.mark.parametrize(
    ("mode", "connections", "opened", "renewed"),
    [("kept", (1, 1), 1, 0), ("kept", (11, 11), 21, 20), ("fresh", (100, 100), 200, 0)],
)
def test_connections_are_those_that_were_opened(
    mode: Mode, connections: tuple[int, int], opened: int, renewed: int
) -> None:
    pair = [repetition(n, connections=c, mode=mode) for n, c in enumerate(connections)]
    found = told(pair, [30, 45]).summary.connections
    assert found.opened == opened
    assert found.closed == ({RENEWED: renewed} if renewed else {})


def test_a_driver_that_does_not_tell_its_connections_renewed_none() -> None:
    assert told([repetition(connections=None)], [30]).summary.connections.closed == {}


def test_the_server_s_time_counts_from_the_first_line_on() -> None:
    readings = [reading(0, 0), reading(30, 50), reading(45, 53), reading(60, 59)]
    found = told([repetition(n) for n in range(3)], [30, 45, 60], readings)
    assert [sample.offset_ns for sample in found.samples] == [30 * MS, 45 * MS, 60 * MS]
    evidence = found.judgement(None).evidence
    assert "the client was on a CPU for 40 %, the server for 30 %" in evidence


def test_of_one_line_every_reading_must_do() -> None:
    found = told([repetition()], [30], [reading(0, 0), reading(30, 3)])
    assert len(found.samples) == 2


@pytest.mark.parametrize(
    ("client_ms", "server_ms", "who"),
    [(6, 3, "client"), (3, 6, "server"), (1, 1, "waiting"), (2, 0, "waiting")],
)
def test_most_of_a_round_trip_is_somebody_s(client_ms: int, server_ms: int, who: str) -> None:
    pair = [repetition(n, cpu_ns=client_ms * MS) for n in range(2)]
    readings = [reading(30, 0), reading(40, server_ms)]
    judgement = told(pair, [30, 40], readings).judgement(None)
    assert (judgement.verdict, judgement.bottleneck) == ("valid", who)
    # No growth at all is too short to be told.
    assert ("the server for unknown" in judgement.evidence) == (server_ms == 0)


def test_a_failed_iteration_or_a_dead_server_makes_it_invalid() -> None:
    found = told([repetition(0, errors=2), repetition(1, errors=1)], [30, 45])
    assert found.summary.counters.errors == {"failed": 3}
    assert found.summary.counters.sent == found.summary.counters.ok + 3
    judgement = found.judgement(None)
    assert judgement.verdict == "invalid"
    assert "3 of 200 iterations failed, the first: a wrong reply" in judgement.evidence
    died = told([repetition()], [30]).judgement("signal SIGKILL")
    assert died.verdict == "invalid"
    assert "the server died in the middle: signal SIGKILL" in died.evidence

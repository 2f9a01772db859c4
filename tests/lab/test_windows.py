"""HTTP/2's windows: which of ours decided a result, and when that voids it."""

from __future__ import annotations

from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from tests.lab.trials import SECOND_NS, interval, summary, trial
from wiretrial import warnings
from wiretrial.plan import Http, Load, Plan, Stop, Target, Windows
from wiretrial.results import hdr, windows
from wiretrial.results.model import Trial, Use, Verdict, Window
from wiretrial.snapshot import Http2Figures, Summary
from wiretrial.studies import judge

MS = 1_000_000
MESSAGE_NS = 1000 * MS
"""1,000 replies of 1 ms each."""


def run(**figures: int) -> Summary:
    """A second of HTTP/2 in which this came in the way."""
    histogram = HdrHistogram(hdr.LOWEST_NS, hdr.HIGHEST_NS, hdr.SIGNIFICANT_DIGITS)
    histogram.record_value(MS, 1000)
    text = str(histogram.encode().decode("ascii"))
    update = {"http2": Http2Figures(**figures), "histograms": {"service_time": text}}
    return summary().model_copy(update=update)


def plan(given: Windows | None = None) -> Plan:
    return Plan(
        target=Target(url="https://127.0.0.1:1/", http=Http(version="2", windows=given)),
        load=Load(connections=2, depth=4),
        stop=Stop(duration_ns=SECOND_NS),
    )


def judged(ran: Summary, given: Windows | None = None) -> tuple[Verdict, str]:
    window = Window(start_ns=0, end_ns=SECOND_NS, steady=True, rule="r")
    intervals = [interval(index) for index in range(10)]
    found = judge.judge(intervals, ran, window, plan(given), judge.Known(server=Use(0.99)))
    return found.verdict, found.evidence


STREAM = {"streams_exhausted": 7, "stream_exhausted_ns": 40 * MS}
CONNECTION = {"connections_exhausted": 7, "connection_exhausted_ns": 80 * MS}


@pytest.mark.parametrize(
    ("figures", "given", "verdict", "said"),
    [
        ({}, None, "valid", ""),
        ({"streams_exhausted": 1, "stream_exhausted_ns": 20 * MS}, None, "valid", ""),
        (STREAM, None, "invalid", "own window of a stream held the server back in 4 %"),
        (STREAM, Windows(stream=65_536), "invalid", "widen it (--window)"),
        (STREAM, Windows(stream=65_536, are_factor=True), "valid", ""),
        # On purpose is the window that was given, and no other.
        (STREAM, Windows(connection=65_536, are_factor=True), "invalid", "--window"),
        (CONNECTION, None, "invalid", "own window of a connection held the server back in 4 %"),
        (CONNECTION, Windows(stream=65_536, are_factor=True), "invalid", "--connection-window"),
        (CONNECTION, Windows(connection=65_536, are_factor=True), "valid", ""),
        # The server's own windows are its doing.
        ({"sends_held": 9, "held_by_stream_ns": 900 * MS}, None, "valid", ""),
    ],
)
def test_a_window_of_ours_that_decides_the_result_voids_it_unless_it_is_the_factor(
    figures: dict[str, int], given: Windows | None, verdict: Verdict, said: str
) -> None:
    found, evidence = judged(run(**figures), given)
    assert found == verdict
    assert said in evidence


def test_http_1_1_has_no_windows() -> None:
    assert windows.holds(summary(), plan()) == ()
    assert windows.streams_in_flight(summary(), plan()) is None


def test_streams_in_flight_are_those_of_a_connection() -> None:
    # 1,000 replies of 1 ms in a second are one at a time, over two connections.
    assert windows.streams_in_flight(run(), plan()) == pytest.approx(0.5, rel=0.01)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "held the server back in 4 % of the replies' time"),
        (Windows(stream=65_536, are_factor=True), "which --window gives as the factor"),
    ],
)
def test_a_window_that_decides_the_result_is_warned_of(given: Windows | None, said: str) -> None:
    made: Trial = trial().model_copy(update={"summary": run(**STREAM), "plan": plan(given)})
    [warning] = [one for one in warnings.of_trial(made) if one.code == "own-window"]
    assert said in warning.message


@pytest.mark.parametrize(
    ("http", "written"),
    [
        (Http(), {"method": None, "headers": []}),
        (Http(version="auto"), {"version": "auto", "method": None, "headers": []}),
        (
            Http(header_profile="unique"),
            {"method": None, "headers": [], "header_profile": "unique"},
        ),
        (
            Http(version="2", windows=Windows(stream=1, are_factor=True)),
            {
                "version": "2",
                "windows": {"stream": 1, "connection": None, "are_factor": True},
                "method": None,
                "headers": [],
            },
        ),
    ],
)
def test_what_is_usual_is_not_written(http: Http, written: dict[str, Any]) -> None:
    assert http.model_dump(mode="json") == written
    assert Http.model_validate(written) == http

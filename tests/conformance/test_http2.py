"""What is written down about h2spec and h2specd, and how what they print is read and judged."""

from __future__ import annotations

import pytest

from conformance import document
from conformance.http2 import cases, report
from conformance.http2.cases import Side, Way

# Where the end of the connection itself is asked for, the client has taken its leave, or does not
# begin as HTTP/2 does (RFC 9113 section 3.4); in all other cases a frame must tell.
ENDS = {"http2/5.4.1/1", "client/5.4.1/1", "generic/3.8/1", "http2/7/1", "http2/3.5/2"}

every_run = pytest.mark.parametrize(
    ("side", "way"), [(side, way) for side in cases.SIDES for way in cases.WAYS]
)

PRINTED = """\
Generic tests for HTTP/2 client
  6. Frame Definitions
    6.7. PING
           [recv] SETTINGS Frame (length:0, flags:0x01, stream_id:0)
           [recv] PING Frame (length:8, flags:0x01, stream_id:0)
\r      ✔ 1: Sends a PING frame
           [send] PING Frame (length:8, flags:0x00, stream_id:1)
           [recv] GOAWAY Frame (length:8, flags:0x00, stream_id:0)
\r      ✔ 3: Sends a PING frame with a stream identifier field value other than 0x0
           [recv] Connection closed
\r      ✔ 4: Sends a PING frame with a length field value other than 8

    6.9. WINDOW_UPDATE
      6.9.1. The Flow-Control Window
             [recv] Timeout
\r        × 2: Sends multiple WINDOW_UPDATE frames
          -> The endpoint MUST sends a RST_STREAM frame with a FLOW_CONTROL_ERROR code.
             Expected: RST_STREAM Frame (Error Code: FLOW_CONTROL_ERROR)
               Actual: Timeout
\r        3: Sends something that was left out
\r        × 4: Sends what breaks
          Error: read tcp 127.0.0.1: connection reset by peer

Failures:

Generic tests for HTTP/2 client
  6. Frame Definitions
    6.7. PING
      × 1: Sends a PING frame
Finished in 2.0000 seconds
7 tests, 3 passed, 1 skipped, 2 failed
"""


def test_what_is_printed_is_read() -> None:
    assert report.read(PRINTED) == {
        "client/6.7/1": "answered",
        "client/6.7/3": "GOAWAY",
        "client/6.7/4": "closed",
        "client/6.9.1/2": "failed: Timeout",
        "client/6.9.1/3": "skipped",
        "client/6.9.1/4": "failed: read tcp 127.0.0.1: connection reset by peer",
    }


@every_run
def test_every_chapter_that_is_run_is_written_down(side: Side, way: Way) -> None:
    told = {_chapter(case) for case in cases.read_expected()[side][way]}
    assert told == cases.TITLES[side].keys()
    run = {section for group in cases.GROUPS[side] for section in group}
    for chapter in told:
        root = chapter.partition("/")[0]
        assert root in run or chapter in run or any(it.startswith(f"{chapter}.") for it in run)


@every_run
def test_an_error_is_told_by_a_frame(side: Side, way: Way) -> None:
    """The suites would be content with a connection that ends without a word."""
    results = cases.read_expected()[side][way]
    ended = {case for case, told in results.items() if told == report.CLOSED}
    assert ended == (ENDS & results.keys()) - cases.NOT_CLAIMED[way].keys()
    passed = {told for case, told in results.items() if case not in cases.NOT_CLAIMED[way]}
    assert passed <= {*report.ERRORS, report.CLOSED, report.ANSWERED}


@pytest.mark.parametrize("side", cases.SIDES)
def test_both_ways_meet_the_same_cases(side: Side) -> None:
    expected = cases.read_expected()[side]
    assert expected["tls"].keys() == expected["plain"].keys()


def test_the_page_shows_what_is_written_down() -> None:
    assert document.read("http2") == cases.table(cases.read_expected()), (
        "write it anew: python -m conformance --tables"
    )


@pytest.mark.parametrize(
    ("expected", "found", "problems"),
    [
        pytest.param({"http2/3.5/1": "GOAWAY"}, {"http2/3.5/1": "GOAWAY"}, [], id="as-expected"),
        pytest.param({"http2/3.5/1": "GOAWAY"}, {}, ["http2/3.5/1: did not run"], id="lost"),
        pytest.param(
            {},
            {"http2/3.5/1": "GOAWAY"},
            ["http2/3.5/1: GOAWAY, a case not written down"],
            id="new",
        ),
        pytest.param(
            {"http2/3.5/1": "GOAWAY"},
            {"http2/3.5/1": "closed"},
            ["http2/3.5/1: closed, expected GOAWAY"],
            id="without-a-word",
        ),
        pytest.param(
            {"http2/3.5/1": "failed: Timeout"},
            {"http2/3.5/1": "failed: Timeout"},
            ["http2/3.5/1: failed: Timeout"],
            id="failed-even-if-written-down",
        ),
        pytest.param(
            {"http2/6.10/1": "GOAWAY", "http2/6.9/1": "GOAWAY"},
            {},
            ["http2/6.9/1: did not run", "http2/6.10/1: did not run"],
            id="in-order",
        ),
    ],
)
def test_a_run_is_judged(
    expected: report.Results, found: report.Results, problems: list[str]
) -> None:
    assert cases.problems(expected, found) == problems


def _chapter(case: str) -> str:
    root, section, _ = case.split("/")
    return f"{root}/{section.partition('.')[0]}"


def test_what_is_not_claimed_fails_as_it_is_known_to() -> None:
    known = {"http2/3.5/2": "failed: HTTP/1.1"}
    assert cases.problems(known, known, known) == []
    assert cases.summary({**known, "http2/3.5/1": "GOAWAY"}, known) == "1 not claimed, 1 passed"
    other = {"http2/3.5/2": "failed: Timeout"}
    assert cases.problems(known, other, known) == ["http2/3.5/2: failed: Timeout"]
    better = {"http2/3.5/2": "GOAWAY"}
    assert cases.problems(known, better, known) == [
        "http2/3.5/2: GOAWAY, expected failed: HTTP/1.1"
    ]

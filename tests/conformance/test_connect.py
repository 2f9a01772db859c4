"""What is written down about connectconformance, and how what it prints is read and judged."""

from __future__ import annotations

import pytest

from conformance import document
from conformance.connect import cases, report
from conformance.connect.report import Way
from conformance.connect.suite import Side

every_run = pytest.mark.parametrize(
    ("side", "way"), [(side, way) for side in cases.SIDES for way in report.WAYS]
)
TAKEN_BACK = "Client Cancellation/client-stream/cancel-before-close-send"
KNOWN = "failed: it is not taken back"

FIXED = "HTTPVersion:2/Protocol:PROTOCOL_GRPC/Codec:CODEC_PROTO/Compression:COMPRESSION_IDENTITY"
PACKED = FIXED.replace("IDENTITY", "GZIP")
PRINTED = f"""\
Computed 20 config case permutations.
Running 3 tests with reference-client for server config #1 {{HTTP_VERSION_2, TLS:false}}...
Sending request for "Timeouts/{FIXED}/TLS:false/unary"...
Received response for "Timeouts/{FIXED}/TLS:false/unary"...
Sending request for "Timeouts/{FIXED}/TLS:true/unary"...
Sending request for "Timeouts/{PACKED}/TLS:true/unary"...
Sending request for "Timeouts/{FIXED}/TLS:false/(grpc client impl)/bidi-stream/half-duplex"...
Sending request for "Basic/{FIXED}/TLS:false/(grpc client impl)/unimplemented"...
FAILED: Timeouts/{FIXED}/TLS:true/unary:
\texpecting an error but received none
\texpecting 0 response messages but instead got 1
FAILED: Timeouts/{FIXED}/TLS:true/never-sent:
\tserver process terminated unexpectedly

Total cases: 5
3 passed, 2 failed
"""


def test_what_is_printed_is_read() -> None:
    assert report.read(PRINTED) == {
        "tls": {
            "Timeouts/unary": "failed: expecting an error but received none",
            "Timeouts/unary, in gzip": "passed",
            "Timeouts/never-sent": "failed: server process terminated unexpectedly",
        },
        "plain": {"Timeouts/unary": "passed"},
        "grpc-go": {"Timeouts/bidi-stream/half-duplex": "passed", "Basic/unimplemented": "passed"},
    }


@every_run
def test_each_case_that_is_written_down_passes_or_is_not_claimed(side: Side, way: Way) -> None:
    written = cases.read_expected()[side][way]
    assert len(written) > 50
    assert cases.problems(side, written, written) == []
    assert {case.partition("/")[0] for case in written} <= cases.TITLES.keys()


@pytest.mark.parametrize("side", cases.SIDES)
def test_both_ways_meet_the_same_cases(side: Side) -> None:
    expected = cases.read_expected()[side]
    assert expected["tls"].keys() == expected["plain"].keys()
    assert expected["grpc-go"].keys() <= expected["plain"].keys()
    assert cases.NOT_CLAIMED[side].keys() <= expected["plain"].keys()


def test_the_page_shows_what_is_written_down() -> None:
    assert document.read("connect") == cases.table(cases.read_expected()), (
        "write it anew: python -m conformance --tables"
    )


@pytest.mark.parametrize(
    ("expected", "found", "problems"),
    [
        pytest.param({"Basic/a": "passed"}, {"Basic/a": "passed"}, [], id="as-expected"),
        pytest.param({"Basic/a": "passed"}, {}, ["Basic/a: did not run"], id="lost"),
        pytest.param(
            {}, {"Basic/a": "passed"}, ["Basic/a: passed, a case not written down"], id="new"
        ),
        pytest.param(
            {"Basic/a": "failed: x"},
            {"Basic/a": "failed: x"},
            ["Basic/a: failed: x"],
            id="failed-even-if-written-down",
        ),
        pytest.param({TAKEN_BACK: KNOWN}, {TAKEN_BACK: KNOWN}, [], id="not-claimed"),
        pytest.param(
            {TAKEN_BACK: KNOWN},
            {TAKEN_BACK: "failed: x"},
            [f"{TAKEN_BACK}: failed: x"],
            id="not-claimed-for-another-reason",
        ),
        pytest.param(
            {TAKEN_BACK: KNOWN},
            {TAKEN_BACK: "passed"},
            [f"{TAKEN_BACK}: passed, expected {KNOWN}"],
            id="better-than-claimed",
        ),
    ],
)
def test_a_run_is_judged(
    expected: dict[str, str],
    found: dict[str, str],
    problems: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(cases.NOT_CLAIMED["client"], TAKEN_BACK, KNOWN)
    assert cases.problems("client", expected, found) == problems


def test_a_summary_tells_what_is_not_claimed_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cases.NOT_CLAIMED["client"], TAKEN_BACK, KNOWN)
    results = {TAKEN_BACK: KNOWN, "Basic/a": "passed", "Basic/b": "failed: x"}
    assert cases.summary("client", results) == "1 not claimed, 1 passed, 1 failed"
    assert cases.summary("server", results) == "2 failed, 1 passed"

"""h3spec's report is read right, and what is written down can only pass."""

from __future__ import annotations

from conformance import document
from conformance.http3 import cases, malformed, report

PRINTED = """
QUIC servers
  MUST send FLOW_CONTROL_ERROR if a STREAM frame with a large offset is received [Transport 4.1]
  MUST send unexpected_message TLS alert if KeyUpdate in Handshake is received [TLS 6] FAILED [1]

HTTP/3 servers
  MUST send H3_MESSAGE_ERROR if prohibited pseudo-header fields are present[HTTP/3 4.1.3]
  MUST send H3_CLOSED_CRITICAL_STREAM if a control stream is closed [QPACK 4.2] FAILED [2]

Failures:

  TLSError.hs:44:13:
  1) QUIC servers MUST send unexpected_message TLS alert if KeyUpdate is received [TLS 6]
       did not get expected exception: QUICException

  To rerun use: --match "/QUIC servers/MUST send"

  HTTP3Error.hs:44:13:
  2) HTTP/3 servers MUST send H3_CLOSED_CRITICAL_STREAM [QPACK 4.2]
       predicate failed

Randomized with seed 1
"""
FLOW = (
    "Transport 4.1: MUST send FLOW_CONTROL_ERROR if a STREAM frame with a large offset is received"
)
KEYS = "TLS 6: MUST send unexpected_message TLS alert if KeyUpdate in Handshake is received"
FIELDS = "HTTP/3 4.1.3: MUST send H3_MESSAGE_ERROR if prohibited pseudo-header fields are present"
STREAM = "QPACK 4.2: MUST send H3_CLOSED_CRITICAL_STREAM if a control stream is closed"


def test_each_rule_has_its_verdict_and_what_came_instead() -> None:
    assert report.read(PRINTED) == {
        FLOW: "passed",
        KEYS: "failed: did not get expected exception: QUICException",
        FIELDS: "passed",
        STREAM: "failed: predicate failed",
    }


def test_what_is_lost_new_or_failed_is_told() -> None:
    expected = {FLOW: "passed", KEYS: "passed"}
    found = {FLOW: "passed", FIELDS: "passed", KEYS: "failed: nothing came"}
    assert cases.problems(expected, found) == [
        f"{KEYS}: failed: nothing came",
        f"{FIELDS}: passed, a case not written down",
    ]


def test_cases_are_in_the_order_of_their_sections() -> None:
    assert sorted([STREAM, FIELDS, KEYS, FLOW], key=cases.order) == [FLOW, KEYS, FIELDS, STREAM]


def test_what_is_written_down_passed_and_is_in_the_page() -> None:
    found = cases.read_expected()
    results = found["server"]["quic"]
    assert len(results) > 40
    bad = {case for case, told in results.items() if told != report.PASSED}
    assert bad == set(cases.NOT_CLAIMED)
    assert document.read("http3") == cases.table(found)


def test_lines_of_malformed_requests_are_read() -> None:
    printed = (
        "passed\t9114 4.1\tDATA before HEADERS\tconnection closed with H3_FRAME_UNEXPECTED\n"
        "a word of somebody else's\n"
        "failed\t9114 4.2\tConnection\tanswered with 200\n"
    )
    rows = malformed.read(printed)
    assert [row.is_good for row in rows] == [True, False]
    assert malformed.summary(rows) == "1 passed, 1 failed"
    assert malformed.table(rows)[-1] == (
        "| 9114 4.2 | Connection | answered with 200 (**not as wanted**) |"
    )


def test_every_malformed_request_is_in_the_page_as_the_rfc_wants_it() -> None:
    lines = document.read("h3i")
    source = (malformed.MANIFEST.parent / "src" / "cases.rs").read_text(encoding="utf-8")
    assert len(lines) > 40
    assert not any("not as wanted" in line for line in lines)
    named = {line.split("|")[2].strip() for line in lines[2:]}
    assert all(f'"{name}"' in source for name in named)

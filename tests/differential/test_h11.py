"""HTTP/1.1 as ours reads it and as h11 does: one request, one response."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import h11
import pytest

from tests.differential import draw
from tests.differential.conftest import Drive
from tests.differential.draw import Known

# What became of the first message: refused, cut short, or its parts.
Outcome = tuple[str, ...]
REFUSED: Outcome = ("refused",)
CUT: Outcome = ("cut",)


def has(pattern: bytes) -> Callable[[bytes], bool]:
    compiled = re.compile(pattern)
    return lambda data: compiled.search(data) is not None


def has_length_and_coding(data: bytes) -> bool:
    lower = data.lower()
    return b"content-length" in lower and b"transfer-encoding" in lower


LINE_FEED = "LF alone may be taken for a line end; ours refuses it"
MAJOR = "another major version is another protocol; h11 does not look at it"
ODD_HOST = "a Host that is none must be refused; h11 only counts them"
LENGTH_AND_CODING = "a length beside a coding may be refused; h11 passes over the length"
BAD_SPACE = "white space in front of an extension must be read; h11 refuses it"
SIZE = "behind a size stands nothing but an extension; h11 takes white space"

IN_REQUESTS = [
    Known("9112 2.2", LINE_FEED, b"GET / HTTP/1.1\nHost: h\r\n\r\n", has(rb"(?<!\r)\n")),
    Known("9110 15.6.6", MAJOR, b"GET / HTTP/2.0\r\nHost: h\r\n\r\n", has(rb"HTTP/[^1]\.")),
    Known(
        "9112 5.2",
        "a server may refuse a folded line; h11 reads it",
        b"GET / HTTP/1.1\r\nHost: h\r\nX: y\r\n z\r\n\r\n",
        has(rb"\r\n[ \t]"),
    ),
    Known(
        "9112 6.3",
        LENGTH_AND_CODING,
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        has_length_and_coding,
    ),
    Known(
        "9112 3.2",
        "a target has the form of its method; h11 takes any word",
        b"GET * HTTP/1.1\r\nHost: h\r\n\r\n",
        has(rb"\A\S* (?!/[^#\s]* )"),
    ),
    Known(
        "9112 3.2",
        ODD_HOST,
        b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        has(rb"(?i)\nhost:[ \t]*(?!h?[ \t]*\r\n)"),
    ),
    Known(
        "9112 7.1",
        SIZE,
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0 \r\n\r\n",
        has(rb"[ \t]\r\n"),
    ),
    Known(
        "9110 5.6.3",
        BAD_SPACE,
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0 ;a\r\n\r\n",
        has(rb"\n[0-9a-fA-F]+[ \t]+;"),
    ),
    Known(
        "9112 6.1",
        "a coding in HTTP/1.0 is faulty framing, which a server may refuse; h11 reads on",
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        has(rb"(?is)HTTP/1\.0.*transfer-encoding:"),
    ),
    Known(
        "9112 3.2",
        "a later minor version reads as 1.1, so Host must be there; h11 asks 1.1 alone for it",
        b"GET / HTTP/1.2\r\n\r\n",
        has(rb"HTTP/1\.[2-9]"),
    ),
]
IN_RESPONSES = [
    Known("9112 2.2", LINE_FEED, b"HTTP/1.1 204 X\nA: b\r\n\r\n", has(rb"(?<!\r)\n")),
    Known("9112 2.3", MAJOR, b"HTTP/2.0 204 X\r\n\r\n", has(rb"HTTP/[^1]\.")),
    Known(
        "9112 4",
        "the space behind the status stands even without a reason; h11 waives it",
        b"HTTP/1.1 204\r\n\r\n",
        has(rb"HTTP/1\.. \d{3}\r\n"),
    ),
    Known(
        "9112 6.1",
        "a coding in HTTP/1.0 is faulty framing; h11 reads on where there is no body",
        b"HTTP/1.0 304 X\r\nTransfer-Encoding: chunked\r\n\r\n",
        has(rb"(?is)HTTP/1\.0 .*transfer-encoding:"),
    ),
    Known(
        "9110 15",
        "a status over 599 is invalid; h11 takes up to 999",
        b"HTTP/1.1 600 X\r\n\r\n",
        has(rb"HTTP/1\.. [6-9]"),
    ),
    Known(
        "9112 6.3",
        LENGTH_AND_CODING,
        b"HTTP/1.1 200 X\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        has_length_and_coding,
    ),
    Known(
        "9112 7.1",
        SIZE,
        b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n0 \r\n\r\n",
        has(rb"[ \t]\r\n"),
    ),
    Known(
        "9110 5.6.3",
        BAD_SPACE,
        b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n0 ;a\r\n\r\n",
        has(rb"\n[0-9a-fA-F]+[ \t]+;"),
    ),
]


def read_request(data: bytes) -> Outcome:
    connection = h11.Connection(our_role=h11.SERVER)
    return read(connection, data, end=False)


def read_response(data: bytes) -> Outcome:
    connection = h11.Connection(our_role=h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "h")]))
    connection.send(h11.EndOfMessage())
    return read(connection, data, end=True)


def read(connection: h11.Connection, data: bytes, *, end: bool) -> Outcome:
    """The first message, as h11 reads it."""
    start: Outcome = ()
    body = b""
    try:
        connection.receive_data(data)
        if end:
            connection.receive_data(b"")
        while True:
            match connection.next_event():
                case h11.Request() as request:
                    start = ("request", request.method.hex(), request.target.hex())
                case h11.Response() as response:
                    start = ("reply", str(response.status_code))
                case h11.Data() as piece:
                    body += bytes(piece.data)
                case h11.EndOfMessage():
                    return (*start, body.hex())
                case h11.InformationalResponse():
                    continue
                case _:
                    return CUT
    except h11.RemoteProtocolError as error:
        return CUT if "closed" in str(error) or "incomplete" in str(error) else REFUSED


def ours(events: list[dict[str, Any]]) -> Outcome:
    """The first message, as ours reads it."""
    match events:
        case [{"method": method, "target": target}, {"end": body}, *_]:
            return ("request", method, target, body)
        case [{"reply": status, "body": body}, *_]:
            return ("reply", str(status), body)
        case [{"failed": "truncated"}, *_]:
            return CUT
        case [{"failed": _}, *_] | [{"method": _}, {"failed": _}, *_]:
            return REFUSED
    return CUT


def differs(mine: Outcome, theirs: Outcome) -> bool:
    """When a wrong message is found out, before or after its last byte, is free."""
    return mine != theirs and {mine, theirs} != {REFUSED, CUT}


def check(drive: Drive, codec: str, cases: list[bytes], read: Any, known: list[Known]) -> None:
    reports = drive([f"{codec} {data.hex()}" for data in cases])
    found = []
    for data, events in zip(cases, reports, strict=True):
        mine, theirs = ours(events), read(data)
        if differs(mine, theirs) and not any(row.applies(data) for row in known):
            found.append((data, mine, theirs))
    assert found == []


def test_requests_read_as_h11_reads_them(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    cases = [data for _ in range(draw.CASES) if (data := draw.request(rng))]
    check(drive, "http1-server", cases, read_request, IN_REQUESTS)


def test_responses_read_as_h11_reads_them(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    cases = [data for _ in range(draw.CASES) if (data := draw.response(rng))]
    check(drive, "http1-client GET fin", cases, read_response, IN_RESPONSES)


@pytest.mark.parametrize("row", IN_REQUESTS, ids=lambda row: row.reason)
def test_known_differences_in_requests_are_still_there(drive: Drive, row: Known) -> None:
    [events] = drive([f"http1-server {row.example.hex()}"])
    assert row.applies(row.example)
    assert differs(ours(events), read_request(row.example))


@pytest.mark.parametrize("row", IN_RESPONSES, ids=lambda row: row.reason)
def test_known_differences_in_responses_are_still_there(drive: Drive, row: Known) -> None:
    [events] = drive([f"http1-client GET fin {row.example.hex()}"])
    assert row.applies(row.example)
    assert differs(ours(events), read_response(row.example))

"""Checks of the contracts `http-echo` (POST /echo) and `static` (GET and HEAD /message).

Knows routes and right answers; must not know who serves them.
"""

from __future__ import annotations

import json

from wiretrial.subjects import http_parts
from wiretrial.subjects.any_connection import connect
from wiretrial.subjects.checks import Check
from wiretrial.subjects.endpoint import Endpoint, expect, payload
from wiretrial.subjects.http_connection import Answer, Request

ECHO_PATH = "/echo"
MESSAGE_PATH = "/message"
MESSAGE_BYTES = 64
WRONG_PATH = "/no-such-route"
LARGE = 1 << 20


def _echo(body: bytes) -> Request:
    def right(answer: Answer) -> None:
        expect(
            answer.content == body,
            f"{len(body)} bytes came back as {len(answer.content)} other bytes",
        )

    return Request("POST", ECHO_PATH, body, right)


def _message(_number: int = 0) -> Request:
    return Request("GET", MESSAGE_PATH, right=_is_message)


def _is_message(answer: Answer) -> None:
    size = len(answer.content)
    expect(size == MESSAGE_BYTES, f"{MESSAGE_PATH} has {size} bytes, not {MESSAGE_BYTES}")
    expect_json(answer)


def expect_json(answer: Answer) -> object:
    """What the answer's JSON says."""
    expect(answer.kind == "application/json", f"the answer is {answer.kind}, not application/json")
    try:
        return json.loads(answer.content)
    except ValueError:
        expect(False, f"{answer.content[:40]!r} is not JSON")
        raise


def _head(endpoint: Endpoint) -> None:
    head = Request("HEAD", MESSAGE_PATH)
    with connect(endpoint) as connection:
        answer = connection.exchange(head)
        expect(not answer.content, f"{head} has a body")
        # A body after all would be taken for the next answer.
        connection.exchange(_message())


ECHO: tuple[Check, ...] = (
    *http_parts.parts(
        lambda number: _echo(payload(64, number)),
        unknown_routes=(
            Request("GET", WRONG_PATH),
            Request("POST", WRONG_PATH, payload(64)),
            Request("POST", f"{ECHO_PATH}-not", payload(64)),
        ),
        wrong_methods=(
            Request("GET", ECHO_PATH),
            Request("PUT", ECHO_PATH, payload(64)),
            Request("DELETE", ECHO_PATH),
        ),
    ),
    http_parts.chunked(_echo(payload(10_000))),
    http_parts.body("large", "1 MiB", _echo(payload(LARGE))),
    http_parts.body("empty", "empty body", _echo(b"")),
)

STATIC: tuple[Check, ...] = (
    *http_parts.parts(
        _message,
        unknown_routes=(Request("GET", WRONG_PATH), Request("GET", f"{MESSAGE_PATH}-not")),
        wrong_methods=(
            Request("POST", MESSAGE_PATH, payload(64)),
            Request("PUT", MESSAGE_PATH, payload(64)),
            Request("DELETE", MESSAGE_PATH),
        ),
    ),
    Check("head", "HEAD", _head),
)

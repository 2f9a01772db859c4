"""Checks of the contract `rpc` over HTTP: GET /messages/<id> gives the message of that id.

Knows routes and right answers; must not know who serves them.
"""

from __future__ import annotations

from wiretrial.subjects import http_parts
from wiretrial.subjects.checks import Check
from wiretrial.subjects.checks_http import WRONG_PATH, expect_json
from wiretrial.subjects.endpoint import expect, payload
from wiretrial.subjects.http_connection import Answer, Request

PATH = "/messages"


def _get(number: int) -> Request:
    wanted = {"id": str(number)}

    def right(answer: Answer) -> None:
        found = expect_json(answer)
        expect(found == wanted, f"message {number} is {found!r}, not {wanted!r}")

    return Request("GET", f"{PATH}/{number}", right=right)


HTTP: tuple[Check, ...] = http_parts.parts(
    _get,
    unknown_routes=(Request("GET", WRONG_PATH), Request("GET", f"{PATH}-not/7")),
    wrong_methods=(Request("DELETE", f"{PATH}/7"), Request("PUT", f"{PATH}/7", payload(64))),
)

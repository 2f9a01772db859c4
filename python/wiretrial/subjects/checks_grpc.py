"""Checks of the contract `grpc-echo`: the four methods of the service `wiretrial.Echo`.

Knows methods and right replies; must not know who serves them.
"""

from __future__ import annotations

from wiretrial.subjects import checks, http_parts
from wiretrial.subjects.any_connection import HttpConversation, connect
from wiretrial.subjects.checks import Check
from wiretrial.subjects.echo_parts import REPEATED, SERVICE, message
from wiretrial.subjects.endpoint import Endpoint, expect, payload
from wiretrial.subjects.grpc_parts import call, framed, refused
from wiretrial.subjects.http_connection import Request

PATH = f"/{SERVICE}"
STREAMED = 7
LARGE = 1 << 20


def _unary(number: int) -> Request:
    return _echoed(message(payload(64, number)))


def _echoed(sent: bytes) -> Request:
    return call("Unary", [sent], [sent])


def _begin(endpoint: Endpoint) -> HttpConversation:
    return HttpConversation(endpoint, _unary)


def _several(count: int) -> list[bytes]:
    return [message(payload(64 + number, number)) for number in range(count)]


def _one_by_one(endpoint: Endpoint) -> None:
    """Each message of `Bidi` is answered before the next one is sent."""
    from wiretrial.subjects.http2_connection import Http2Connection

    sent = _several(STREAMED)
    request = call("Bidi", [], sent)
    with Http2Connection(endpoint) as connection:
        stream = connection.open(request)
        said = b""
        for one in sent:
            connection.say(stream, framed(one))
            said += framed(one)
            heard = connection.hear(stream, len(said))
            expect(heard == said, "Bidi answered other bytes than it was sent")
        connection.say(stream, b"", is_last=True)
        connection.receive(request)


def _refused(endpoint: Endpoint) -> None:
    sent = message(payload(64))
    with connect(endpoint) as connection:
        for number, request in enumerate(
            (
                refused("NoSuchMethod", sent),
                refused("Unary", sent, service=f"{SERVICE}.Not"),
            )
        ):
            connection.exchange(request)
            connection.exchange(_unary(number))


ECHO: tuple[Check, ...] = (
    checks.exchange(_begin),
    checks.many(_begin),
    checks.at_once(_begin, "pipelining", http_parts.REQUESTS_AT_ONCE, "calls"),
    *(
        http_parts.body("streaming", what, call(method, sent, right))
        for what, method, sent, right in (
            ("a stream from the server", "Server", _several(1), _several(1) * REPEATED),
            ("a stream from the client", "Client", _several(STREAMED), _several(STREAMED)[-1:]),
            ("streams both ways", "Bidi", _several(STREAMED), _several(STREAMED)),
        )
    ),
    Check("streaming", "a message after the reply to the one before", _one_by_one),
    Check("routes", "unknown methods and services", _refused),
    http_parts.body("large", "1 MiB", _echoed(message(payload(LARGE)))),
    http_parts.body("empty", "an empty message", _echoed(b"")),
    *http_parts.of_connections(_unary, _begin),
)

"""Calls of gRPC as the checks make them: requests of HTTP/2 with messages in their bodies.

Knows how messages are framed and where a status stands; must not know methods. Neither protobuf nor
a library of gRPC is needed for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wiretrial.subjects.echo_parts import SERVICE
from wiretrial.subjects.endpoint import Broken, expect
from wiretrial.subjects.http_connection import Answer, Request

KIND = "application/grpc"
HEAD = (("te", "trailers"), ("content-type", KIND))
PREFIX = 5
"""Bytes before each message: whether it is compressed, and how long it is."""
UNIMPLEMENTED = "12"


def call(
    method: str, sent: Sequence[bytes], right: Sequence[bytes], *, service: str = SERVICE
) -> Request:
    """A call with these messages, and the messages of a right reply."""
    wanted = list(right)

    def holds(answer: Answer) -> None:
        _require(answer, "0")
        found = list(messages(answer.content))
        count = f"{method} answered {len(found)} messages, not {len(wanted)}"
        expect(len(found) == len(wanted), count)
        expect(found == wanted, f"{method} answered other messages than it should")

    return Request("POST", f"/{service}/{method}", framed(*sent), holds, head=HEAD)


def refused(method: str, message: bytes, *, service: str = SERVICE) -> Request:
    """A call of what there is not."""

    def holds(answer: Answer) -> None:
        _require(answer, UNIMPLEMENTED)
        expect(not answer.content, f"{service}/{method} is not there, but was answered")

    return Request("POST", f"/{service}/{method}", framed(message), holds, head=HEAD)


def framed(*sent: bytes) -> bytes:
    """The messages, each behind its prefix, uncompressed."""
    return b"".join(b"\0" + len(one).to_bytes(4, "big") + one for one in sent)


def messages(content: bytes) -> Iterator[bytes]:
    """The messages that a body carries; raises where it is not made of them."""
    at = 0
    while at < len(content):
        expect(not content[at], "a message came compressed")
        size = int.from_bytes(content[at + 1 : at + PREFIX], "big")
        at += PREFIX + size
        if at > len(content):
            raise Broken("the reply ends inside a message")
        yield content[at - size : at]


def _require(answer: Answer, status: str) -> None:
    kind = answer.kind
    expect(kind == KIND or kind.startswith(f"{KIND}+"), f"the reply is {kind or 'of no type'}")
    found = answer.last.get("grpc-status")
    said = answer.last.get("grpc-message", "")
    expect(found is not None, "the trailers lack grpc-status")
    expect(found == status, f"the status is {found}, not {status}{f': {said}' if said else ''}")

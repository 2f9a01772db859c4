"""Calls of gRPC in a study: what each kind of call of `grpc-echo` sends, and what a right reply is.

Pure. Knows the contract's methods and the plan's parts; must not know workloads, or who answers.
"""

from __future__ import annotations

import base64
from typing import Final

from wiretrial.plan import (
    Content,
    EchoContent,
    Expect,
    FixedPayload,
    Http,
    ListPayload,
    Message,
    MessagesContent,
    NumberedPayload,
    Payload,
)
from wiretrial.plan_grpc import CallKind, Grpc
from wiretrial.studies.contracts import DEFAULT_BYTES, Request, driver_bytes, driver_content
from wiretrial.subjects.echo_parts import CONTENT, REPEATED, SERVICE, message
from wiretrial.subjects.spec import ContractName

CONTRACT: Final[ContractName] = "grpc-echo"
METHODS: Final[dict[CallKind, str]] = {
    "unary": "Unary",
    "server": "Server",
    "client": "Client",
    "bidi": "Bidi",
}
"""The method of each kind of call."""
FROM_CLIENT: Final[frozenset[CallKind]] = frozenset({"client", "bidi"})
"""Calls in which the client sends several messages."""
MESSAGES: Final = REPEATED
"""How many, unless a study says otherwise: as many as a stream from the server has."""
MOST_BYTES: Final = 4_000_000
"""Of all messages of a call. Servers of gRPC refuse a message of 4 MiB as they come, and each
trial's record holds its messages."""
_LETTERS = bytes(range(97, 123))
_DIGITS = 16
"""Of a call's number."""


def request(kind: CallKind, size: int | None = None, messages: int | None = None) -> Request:
    """How a method is called. `size`: bytes in the field `content` of each message.

    A unary call carries its own number where there is room for it, so that a reply to another call
    is found; the messages of one stream differ from each other.
    """
    length = DEFAULT_BYTES[CONTRACT] if size is None else size
    sent: Payload
    right: Content = EchoContent()
    if kind in FROM_CLIENT:
        said = tuple(_said(_content(length, at)) for at in range(count(kind, messages)))
        sent = ListPayload(base64=said)
        if kind == "client":
            right = MessagesContent(base64=said[-1:])
    elif kind == "server":
        one = _said(_content(length))
        sent, right = FixedPayload(base64=one), MessagesContent(base64=(one,) * REPEATED)
    elif length < _DIGITS:
        sent = FixedPayload(base64=_said(_content(length)))
    else:
        whole = message(b"0" * _DIGITS + _content(length - _DIGITS), CONTENT)
        sent = NumberedPayload(base64=_base64(whole), places=(len(whole) - length,))
    return Request(
        path=f"/{SERVICE}/{METHODS[kind]}",
        http=Http(),
        message=Message(source=sent),
        expect=Expect(content=right),
        grpc=Grpc(kind=kind),
    )


def driver_message(size: int | None) -> Message:
    """What a client driver sends in each of its calls."""
    content = driver_content(driver_bytes(CONTRACT, size))
    return Message(source=FixedPayload(base64=_said(content)))


def count(kind: CallKind, messages: int | None = None) -> int:
    """How many messages a call has, on the side that sends more of them."""
    if kind in FROM_CLIENT:
        return messages or MESSAGES
    return REPEATED if kind == "server" else 1


def _content(length: int, number: int = 0) -> bytes:
    """Printable bytes that differ from those of the next numbers."""
    start = number % len(_LETTERS)
    return (_LETTERS * (length // len(_LETTERS) + 2))[start : start + length]


def _said(content: bytes) -> str:
    return _base64(message(content, CONTENT))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")

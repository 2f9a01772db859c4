"""Asks a method some times before its load, so that it can be learned what a right reply is.

Knows calls and bytes; must not know what messages mean, nor what is learned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wiretrial.calls import channel, metadata
from wiretrial.calls.channel import Server
from wiretrial.calls.methods import Method

if TYPE_CHECKING:
    import grpc

Messages = Callable[[int], Sequence[bytes]]
"""Those of the call with a number, from 0."""


@dataclass(frozen=True)
class Reply:
    """One reply as it came, with the call's own messages. `at`: seconds since 1970."""

    messages: tuple[bytes, ...]
    sent: tuple[bytes, ...]
    at: float


def replies(
    server: Server,
    method: Method,
    sent: Messages,
    fields: Sequence[tuple[str, str]],
    *,
    calls: int,
    connections: int,
    limit_s: float,
) -> list[Reply]:
    """Replies with status OK to so many calls, one after the other, in turn on the connections.

    Those that came within the time. Raises where the server can't be reached.
    """
    import grpc

    found: list[Reply] = []
    ends = time.monotonic() + limit_s
    sent_with = [_field(name, value) for name, value in fields]
    with ExitStack() as stack:
        channels = [stack.enter_context(channel.opened(server)) for _ in range(connections)]
        for number in range(calls):
            left = ends - time.monotonic()
            if left <= 0:
                break
            messages = tuple(sent(number))
            try:
                came = tuple(
                    _call(channels[number % connections], method, messages, sent_with, left)
                )
            except grpc.RpcError as error:
                # An error is not learned from: the load counts it by its status.
                if error.code() is grpc.StatusCode.UNAVAILABLE and not found:
                    raise server.refused(error) from error
                continue
            found.append(Reply(came, messages, time.time()))
    return found


def _call(
    through: grpc.Channel,
    method: Method,
    messages: Sequence[bytes],
    fields: Sequence[tuple[str, str | bytes]],
    limit_s: float,
) -> Iterator[bytes]:
    """One call: the messages of its reply. Bytes are neither written nor read as messages."""
    path = f"/{method.path}"
    match method.kind:
        case "unary":
            yield through.unary_unary(path)(messages[0], limit_s, fields)
        case "client":
            yield through.stream_unary(path)(iter(messages), limit_s, fields)
        case "server":
            yield from through.unary_stream(path)(messages[0], limit_s, fields)
        case "bidi":
            yield from through.stream_stream(path)(iter(messages), limit_s, fields)


def _field(name: str, value: str) -> tuple[str, str | bytes]:
    """Metadata as it is sent: values of bytes are written in base64."""
    return name, metadata.binary(value) if name.endswith(metadata.BINARY) else value

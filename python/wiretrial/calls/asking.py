"""Asks a method some times before its load, so that it can be learned what a right reply is.

Knows calls and bytes; must not know what messages mean, nor what is learned.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from wiretrial.calls import channel
from wiretrial.calls.channel import Server
from wiretrial.calls.learning import Reply
from wiretrial.calls.methods import Method

if TYPE_CHECKING:
    import grpc

Messages = Callable[[int], Sequence[bytes]]
"""Those of the call with a number, from 0."""
BINARY = "-bin"
"""Names of metadata whose values are bytes end so."""


def replies(
    server: Server,
    method: Method,
    sent: Messages,
    metadata: Sequence[tuple[str, str]],
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
    fields = [_field(name, value) for name, value in metadata]
    with ExitStack() as stack:
        channels = [stack.enter_context(channel.opened(server)) for _ in range(connections)]
        for number in range(calls):
            left = ends - time.monotonic()
            if left <= 0:
                break
            messages = tuple(sent(number))
            try:
                came = tuple(_call(channels[number % connections], method, messages, fields, left))
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
    metadata: Sequence[tuple[str, str | bytes]],
    limit_s: float,
) -> Iterator[bytes]:
    """One call: the messages of its reply. Bytes are neither written nor read as messages."""
    path = f"/{method.path}"
    match method.kind:
        case "unary":
            yield through.unary_unary(path)(messages[0], limit_s, metadata)
        case "client":
            yield through.stream_unary(path)(iter(messages), limit_s, metadata)
        case "server":
            yield from through.unary_stream(path)(messages[0], limit_s, metadata)
        case "bidi":
            yield from through.stream_stream(path)(iter(messages), limit_s, metadata)


def _field(name: str, value: str) -> tuple[str, str | bytes]:
    """Metadata as it is sent: values of bytes are written in base64."""
    return name, binary(value) if name.endswith(BINARY) else value


def binary(value: str) -> bytes:
    """The bytes of a value in base64, padded or not; raises ValueError where it is none."""
    return base64.b64decode(value + "=" * (-len(value) % 4), validate=True)

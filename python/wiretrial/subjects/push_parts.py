"""Who hears what is published, in each way: streams of events, WebSockets, Socket.IO, calls, polls.

Knows how each way is asked for, and where the text of an event stands in it; must not know which
events there are, nor who must hear them.
"""

from __future__ import annotations

import http.client
import json
from abc import ABC, abstractmethod
from collections import deque
from typing import Any, Protocol, Self

from wiretrial.subjects.any_connection import streamed
from wiretrial.subjects.endpoint import Broken, Endpoint, expect
from wiretrial.subjects.grpc_parts import HEAD, KIND, PREFIX, framed
from wiretrial.subjects.http_connection import (
    Http1Connection,
    Request,
    StreamedConnection,
    media_type,
)
from wiretrial.subjects.socketio_connection import EVENT, SocketIo, event, excerpt
from wiretrial.subjects.spec import ON_STREAMS
from wiretrial.subjects.websocket_connection import WebSocket
from wiretrial.words import CALLS

SUBSCRIBE = "/subscribe"
NEXT = "/next"
CALLED = "/wiretrial.Push/Subscribe"
EVENT_STREAM = "text/event-stream"
JSON = "application/json"
ASKED = Request("GET", SUBSCRIBE, fields=(("Accept", EVENT_STREAM),))
CALL = Request("POST", CALLED, framed(b""), head=HEAD)
"""The call's one message is empty."""
_DATA = b"\x0a"
"""Field 1 of a message of protobuf, whose value is bytes or text behind its length."""
_LONGEST_LENGTH = 5
"""Bytes of a length at most."""


class Listener(Protocol):
    """Somebody who hears. A context manager; leaving it drops the connection."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def hear(self) -> str:
        """The next event."""


def listener(endpoint: Endpoint) -> Listener:
    """One who subscribes, in the way of the endpoint's protocol."""
    match endpoint.protocol:
        case "ws" | "wss":
            return _Socket(endpoint)
        case "socketio+ws" | "socketio+wss":
            return _Emitted(endpoint)
        case protocol if protocol in ON_STREAMS:
            return on_stream(streamed(endpoint))
        case _:
            return _Stream(endpoint)


def on_stream(connection: StreamedConnection) -> Listener:
    """One who subscribes on a stream of the connection, which ends with any of them."""
    try:
        if connection.endpoint.protocol in CALLS:
            return _Call(connection)
        return _OnStream(connection)
    except BaseException:
        connection.close()
        raise


class _Events(ABC):
    """Server-sent events, by lines."""

    def hear(self) -> str:
        """The data of the next event; comments and other fields are passed over."""
        lines: list[str] = []
        # An empty line behind no data ends no event, but a comment or a retry.
        while (line := self._line()) or not lines:
            name, _, value = line.partition(":")
            if name == "data":
                lines.append(value.removeprefix(" "))
        return "\n".join(lines)

    @abstractmethod
    def _line(self) -> str:
        """The next line, without its end."""


class _Stream(_Events):
    """A stream of server-sent events over HTTP/1.1."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._connection = http.client.HTTPConnection(endpoint.host, endpoint.port)
        self._connection.sock = endpoint.connect()
        try:
            self._connection.request("GET", SUBSCRIBE, headers=dict(ASKED.fields))
            self._answer = self._connection.getresponse()
            kind = self._answer.headers.get("Content-Type", "")
            _require(ASKED, self._answer.status, media_type(kind), EVENT_STREAM)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._answer.close()
        self._connection.close()

    def _line(self) -> str:
        line = self._answer.readline()
        expect(line.endswith(b"\n"), "a stream of events ended")
        return line.decode().rstrip("\r\n")


class _Reply:
    """A reply without an end on a stream of HTTP/2 or HTTP/3, as far as it was read."""

    def __init__(self, connection: StreamedConnection, request: Request, kind: str) -> None:
        self._connection = connection
        self._stream = connection.ask(request)
        self._read = 0
        _require(request, *connection.head(self._stream), kind)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _more(self) -> bytes:
        """What came next; raises where nothing will."""
        piece = self._connection.more(self._stream, self._read)
        expect(bool(piece), "what tells of events ended")
        self._read += len(piece)
        return piece


class _OnStream(_Reply, _Events):
    """A stream of server-sent events over HTTP/2 or HTTP/3."""

    def __init__(self, connection: StreamedConnection) -> None:
        super().__init__(connection, ASKED, EVENT_STREAM)
        self._kept = b""

    def _line(self) -> str:
        while b"\n" not in self._kept:
            self._kept += self._more()
        line, _, self._kept = self._kept.partition(b"\n")
        return line.decode().rstrip("\r")


class _Call(_Reply):
    """A call of gRPC, each message of whose reply is an event."""

    def __init__(self, connection: StreamedConnection) -> None:
        super().__init__(connection, CALL, KIND)
        self._kept = b""

    def hear(self) -> str:
        """What the next message has in its one field."""
        prefix = self._take(PREFIX)
        expect(not prefix[0], "a message came compressed")
        return _first_field(self._take(int.from_bytes(prefix[1:], "big"))).decode()

    def _take(self, size: int) -> bytes:
        while len(self._kept) < size:
            self._kept += self._more()
        taken, self._kept = self._kept[:size], self._kept[size:]
        return taken


class _Socket:
    """A WebSocket, each message of which is an event."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._websocket = WebSocket(endpoint, SUBSCRIBE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._websocket.__exit__()

    def hear(self) -> str:
        """The next message, which is text."""
        message = self._websocket.receive()
        expect(isinstance(message, str), "an event came as a binary message")
        return str(message)


class _Emitted(SocketIo):
    """A connection of Socket.IO that emits `subscribe`, and is told by events `published`."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.websocket.send(event("subscribe"))

    def hear(self) -> str:
        """The one argument of the next event, which is text."""
        match self.receive(EVENT):
            case ["published", str(text)]:
                return text
            case other:
                raise Broken(f"the event {excerpt(str(other))} tells nothing that was published")


class Poller:
    """Long polls on one connection, of which one waits all the time."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._connection = Http1Connection(endpoint)
        self._told: deque[str] = deque()
        self._last = 0
        try:
            self._connection.send(Request("GET", NEXT))
            self._take()
            expect(not self._told, f"GET {NEXT} told of events, and asked for none")
            self._ask()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def hear(self) -> str:
        """The next event; a poll that is answered with none is followed by another one."""
        while not self._told:
            self._take()
            self._ask()
        return self._told.popleft()

    def is_answered(self, within_s: float) -> bool:
        """Whether the poll that waits is answered in that time. If not, nothing more is heard."""
        self._connection.socket.settimeout(within_s)
        try:
            self._connection.says_something()
        except TimeoutError:
            return False
        return True

    def _ask(self) -> None:
        self._connection.send(Request("GET", f"{NEXT}?after={self._last}"))

    def _take(self) -> None:
        """Takes in the answer to the poll that waits."""
        answer = self._connection.receive_any("GET")
        _require(Request("GET", NEXT), answer.status, answer.kind, JSON)
        match _json(answer.content):
            case {"last": int(last), "events": [*events]} if all(
                isinstance(one, str) for one in events
            ):
                self._last = last
                self._told.extend(events)
            case _:
                raise Broken(f"{excerpt(repr(answer.content))} is no answer to a poll")


def _require(request: Request, status: int, kind: str, wanted: str) -> None:
    """Raises unless the head of a reply is right."""
    expect(status == 200, f"{request} answered {status}, not 200")
    # Of gRPC it may name the encoding of messages, too.
    expect(kind.partition("+")[0] == wanted, f"{request} is {kind or 'of no type'}")


def _first_field(message: bytes) -> bytes:
    """The value of field 1, where a message has that one and no other."""
    length, size = 0, 0
    for size, byte in enumerate(message[1 : 1 + _LONGEST_LENGTH], 1):
        length |= (byte & 0x7F) << 7 * (size - 1)
        if byte < 0x80:
            break
    value = message[1 + size :]
    is_right = message[:1] == _DATA and size > 0 and len(value) == length
    expect(is_right, f"the message {excerpt(repr(message))} has not its field 1 alone")
    return value


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None

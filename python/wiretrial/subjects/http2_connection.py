"""HTTP/2 as the checks speak it, by the package h2: what our own engine gets wrong, it does not.

Knows streams, windows and frames; must not know routes. Imported where a subject speaks HTTP/2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings

from wiretrial.plan import SECURE
from wiretrial.subjects.endpoint import Broken, Endpoint, expect
from wiretrial.subjects.http_connection import (
    Answer,
    Request,
    StreamedConnection,
    media_type,
)

USUAL_WINDOW = 65_535
"""What a client that says nothing allows on a stream (RFC 9113, 6.9.2)."""
READ_BYTES = 65_536
PING = b"wiretria"


@dataclass
class _Coming:
    """An answer as far as it came."""

    status: int | None = None
    kind: str = ""
    content: bytearray = field(default_factory=bytearray)
    last: dict[str, str] = field(default_factory=dict)
    is_whole: bool = False


class Http2Connection(StreamedConnection):
    """A connection of HTTP/2: each request has a stream, and answers come in any order.

    `window` is what it allows on each stream; with 0 no content ever comes.
    """

    def __init__(self, endpoint: Endpoint, window: int = USUAL_WINDOW) -> None:
        self.endpoint = endpoint
        self.socket = endpoint.connect()
        self._codec = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self._codec.local_settings = Settings(
            client=True,
            initial_values={SettingCodes.ENABLE_PUSH: 0, SettingCodes.INITIAL_WINDOW_SIZE: window},
        )
        # It is a server's to say, and some end a connection whose client says it.
        del self._codec.local_settings[SettingCodes.ENABLE_CONNECT_PROTOCOL]
        self._codec.initiate_connection()
        self._asked = deque()
        self._coming: dict[int, _Coming] = {}
        self._is_ponged = False
        self._has_ended = False
        self._last: int | None = None
        """The last stream that the server will answer, where it has said so."""

    def encode(self, *requests: Request) -> bytes:
        for request in requests:
            self._begin(request)
            if request.body:
                self._codec.send_data(self._asked[-1], request.body, end_stream=True)
        return self._codec.data_to_send()

    def send(self, *requests: Request) -> None:
        if sum(len(request.body) for request in requests) < USUAL_WINDOW // 4:
            super().send(*requests)
            return
        for request in requests:
            self._begin(request)
            self._send_body(self._asked[-1], request.body)

    def send_in_chunks(self, request: Request, chunks: int) -> None:
        self._begin(request, says_length=False)
        for piece in request.in_pieces(chunks):
            self._codec.send_data(self._asked[-1], piece)
        self._codec.end_stream(self._asked[-1])
        self._flush()

    def receive_any(self, method: str) -> Answer:
        stream = self._asked.popleft()
        coming = self._coming[stream]
        while not coming.is_whole:
            if self._last is not None and stream > self._last:
                raise Broken(f"{method}: GOAWAY says that it is not answered")
            self._read()
        del self._coming[stream]
        assert coming.status is not None
        return Answer(
            status=coming.status,
            kind=coming.kind,
            content=bytes(coming.content),
            will_close=self._last is not None,
            last=coming.last,
        )

    def open(self, request: Request) -> int:
        """Sends the head of a request, whose body is said in pieces; its stream."""
        self._begin(request)
        self._flush()
        return self._asked[-1]

    def say(self, stream: int, piece: bytes, *, is_last: bool = False) -> None:
        """Sends a piece of the body, which has to fit into the server's window."""
        self._codec.send_data(stream, piece, end_stream=is_last)
        self._flush()

    def hear(self, stream: int, size: int) -> bytes:
        """The first bytes of an answer, as soon as so many came."""
        coming = self._coming[stream]
        while len(coming.content) < size and not coming.is_whole:
            self._read()
        return bytes(coming.content[:size])

    def head(self, stream: int) -> tuple[int, str]:
        coming = self._coming[stream]
        while coming.status is None:
            self._read()
        return coming.status, coming.kind

    def more(self, stream: int, at: int) -> bytes:
        coming = self._coming[stream]
        while len(coming.content) <= at and not coming.is_whole:
            self._read()
        return bytes(coming.content[at:])

    def says_something(self) -> bool:
        try:
            while all(coming.status is None for coming in self._coming.values()):
                self._read()
        except EOFError:
            return False
        return True

    def end_sending(self) -> None:
        super().end_sending()
        self._has_ended = True

    def ping(self) -> None:
        self._is_ponged = False
        self._codec.ping(PING)
        self._flush()
        while not self._is_ponged:
            self._read()

    def leave(self) -> None:
        """Says that nothing more is asked."""
        self._codec.close_connection()
        self._flush()

    def _begin(self, request: Request, *, says_length: bool = True) -> None:
        """The head of a request on a stream of its own, which is the last of those asked."""
        stream = self._codec.get_next_available_stream_id()
        fields = [
            (":method", request.method),
            (":scheme", "https" if self.endpoint.protocol in SECURE else "http"),
            (":authority", f"{self.endpoint.host}:{self.endpoint.port}"),
            (":path", request.path),
        ]
        if request.head:
            fields += request.head
        elif request.has_length:
            fields.append(("content-type", "text/plain"))
            if says_length:
                fields.append(("content-length", str(len(request.body))))
        fields += ((name.lower(), value) for name, value in request.fields)
        is_whole = not (request.body or request.head)
        self._codec.send_headers(stream, fields, end_stream=is_whole)
        self._asked.append(stream)
        self._coming[stream] = _Coming()

    def _send_body(self, stream: int, body: bytes) -> None:
        """As much at a time as the server's windows allow."""
        at = 0
        while at < len(body) and not self._coming[stream].is_whole:
            window = self._codec.local_flow_control_window(stream)
            size = min(window, self._codec.max_outbound_frame_size, len(body) - at)
            if not size:
                self._flush()
                self._read()
                continue
            is_last = at + size == len(body)
            self._codec.send_data(stream, body[at : at + size], end_stream=is_last)
            self._flush()
            at += size
        if not body:
            self._flush()

    def _flush(self) -> None:
        waiting = self._codec.data_to_send()
        if waiting and not self._has_ended:
            self.socket.sendall(waiting)

    def _read(self) -> None:
        """Reads what comes next, and answers what has to be answered."""
        read = self.socket.recv(READ_BYTES)
        if not read:
            raise EOFError("it closed the connection")
        try:
            happened = self._codec.receive_data(read)
        except ProtocolError as error:
            raise Broken(f"it broke the protocol: {str(error) or type(error).__name__}") from error
        for event in happened:
            self._take(event)
        self._flush()

    def _take(self, event: events.Event) -> None:
        match event:
            case events.ResponseReceived():
                fields = _named_once(event.headers)
                coming = self._coming[event.stream_id]
                coming.last = fields
                coming.status = int(fields[":status"])
                coming.kind = media_type(fields.get("content-type", ""))
            case events.TrailersReceived():
                self._coming[event.stream_id].last = _named_once(event.headers)
            case events.DataReceived():
                self._coming[event.stream_id].content += event.data
                self._coming[event.stream_id].last = {}
                self._codec.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case events.StreamEnded():
                self._coming[event.stream_id].is_whole = True
            case events.StreamReset():
                self._reset(event.stream_id, event.error_code)
            case events.PingAckReceived():
                self._is_ponged = event.ping_data == PING
            case events.ConnectionTerminated():
                told = event.error_code
                expect(told == ErrorCodes.NO_ERROR, f"it ended with GOAWAY, {_named(told)}")
                self._last = event.last_stream_id

    def _reset(self, stream: int, code: int | None) -> None:
        """Its reset; behind a whole answer it says that the request's rest is not wanted."""
        coming = self._coming.get(stream)
        if coming is None or coming.is_whole:
            return
        raise Broken(f"it reset the stream, {_named(code)}")


def _named_once(fields: Iterable[tuple[object, object]]) -> dict[str, str]:
    return {str(name): str(value) for name, value in fields}


def _named(code: int | None) -> str:
    return code.name if isinstance(code, ErrorCodes) else f"error {code}"

"""HTTP/3 as the checks speak it, by the package aioquic, which is no code of ours.

Knows streams, datagrams and QUIC's timers; must not know routes. Imported where a subject speaks
HTTP/3.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from aioquic.h3.connection import ErrorCode, FrameType, H3Connection, encode_frame
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicErrorCode
from pylsqpack import Encoder

from wiretrial.subjects.endpoint import Broken, Endpoint, expect
from wiretrial.subjects.http_connection import (
    Answer,
    Request,
    StreamedConnection,
    media_type,
)
from wiretrial.words import QUIC

USUAL_WINDOW = 1 << 20
"""What it allows on a stream."""
READ_BYTES = 65_536
INTERIM = range(100, 200)
"""Statuses of what comes before an answer."""
ORDERLY = ("NO_ERROR", "H3_NO_ERROR")


@dataclass
class _Coming:
    """An answer as far as it came."""

    is_of_head: bool
    """Whether its length is that of content which does not come."""
    status: int | None = None
    kind: str = ""
    content: bytearray = field(default_factory=bytearray)
    is_whole: bool = False


class Http3Connection(StreamedConnection):
    """A connection of HTTP/3: each request has a stream, and answers come in any order.

    `window` is what it allows on each stream; with 0 no content ever comes.
    """

    def __init__(self, endpoint: Endpoint, window: int = USUAL_WINDOW) -> None:
        self.endpoint = endpoint
        self._quic = _begun(endpoint, window)
        self._encoder = Encoder()
        """Its table is never filled, so that a head means the same whenever it arrives."""
        self._asked = deque()
        self._coming: dict[int, _Coming] = {}
        self._unsaid = 0
        """Bytes of the last request that was encoded which were not written yet."""
        self._is_agreed = False
        self._ponged: set[int] = set()
        self._end: events.ConnectionTerminated | None = None
        self.socket = endpoint.connect_plain()
        try:
            self._http = H3Connection(self._quic)
            self._flush()
            self._until(lambda: self._is_agreed)
        except BaseException:
            self.socket.close()
            raise

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._quic.close(error_code=ErrorCode.H3_NO_ERROR)
            self._flush()
        super().close()

    def encode(self, *requests: Request) -> bytes:
        """Of one request: what goes over its stream."""
        (request,) = requests
        whole = self._frames(self._begin(request), request)
        self._unsaid = len(whole)
        return whole

    def write(self, encoded: bytes) -> None:
        self._unsaid -= len(encoded)
        self._quic.send_stream_data(self._asked[-1], encoded, end_stream=not self._unsaid)
        self._flush()

    def send(self, *requests: Request) -> None:
        for request in requests:
            stream = self._begin(request)
            self._quic.send_stream_data(stream, self._frames(stream, request), end_stream=True)
        self._flush()

    def send_in_chunks(self, request: Request, chunks: int) -> None:
        stream = self._begin(request)
        pieces = [
            self._head(stream, request, says_length=False),
            *(encode_frame(FrameType.DATA, piece) for piece in request.in_pieces(chunks)),
        ]
        for piece in pieces:
            self._quic.send_stream_data(stream, piece)
        self._quic.send_stream_data(stream, b"", end_stream=True)
        self._flush()

    def receive_any(self, method: str) -> Answer:
        stream = self._asked.popleft()
        coming = self._coming[stream]
        self._until(lambda: coming.is_whole)
        del self._coming[stream]
        if coming.status is None:
            raise Broken(f"{method}: its stream ended without an answer")
        return Answer(
            status=coming.status,
            kind=coming.kind,
            content=bytes(coming.content),
            will_close=self._end is not None,
        )

    def says_something(self) -> bool:
        try:
            self._until(lambda: any(one.status is not None for one in self._coming.values()))
        except EOFError:
            return False
        return True

    def head(self, stream: int) -> tuple[int, str]:
        coming = self._coming[stream]
        self._until(lambda: coming.status is not None or coming.is_whole)
        if coming.status is None:
            raise Broken("a stream ended without an answer")
        return coming.status, coming.kind

    def more(self, stream: int, at: int) -> bytes:
        coming = self._coming[stream]
        self._until(lambda: len(coming.content) > at or coming.is_whole)
        return bytes(coming.content[at:])

    def ping(self) -> None:
        number = len(self._ponged)
        self._quic.send_ping(number)
        self._flush()
        self._until(lambda: number in self._ponged)

    def _begin(self, request: Request) -> int:
        """A stream of its own, which is the last of those asked; it has to be written to."""
        stream = self._quic.get_next_available_stream_id()
        self._asked.append(stream)
        self._coming[stream] = _Coming(is_of_head=request.method == "HEAD")
        return stream

    def _frames(self, stream: int, request: Request) -> bytes:
        content = encode_frame(FrameType.DATA, request.body) if request.body else b""
        return self._head(stream, request) + content

    def _head(self, stream: int, request: Request, *, says_length: bool = True) -> bytes:
        fields = [
            (":method", request.method),
            (":scheme", "https"),
            (":authority", f"{self.endpoint.host}:{self.endpoint.port}"),
            (":path", request.path),
        ]
        if request.has_length:
            fields.append(("content-type", request.kind))
            if says_length:
                fields.append(("content-length", str(len(request.body))))
        fields += ((name.lower(), value) for name, value in request.fields)
        encoded = [(name.encode(), value.encode()) for name, value in fields]
        _, head = self._encoder.encode(stream, encoded)
        return encode_frame(FrameType.HEADERS, head)

    def _until(self, holds: Callable[[], bool]) -> None:
        """Reads until something holds; raises where the connection ends, or nothing comes of it."""
        ends = time.monotonic() + self.endpoint.deadline_s
        while not holds():
            if self._end is not None:
                raise _why(self._end)
            self._turn(ends)

    def _turn(self, ends: float) -> None:
        """Waits for the next datagram or timer, and does what follows from it."""
        now, timer = time.monotonic(), self._quic.get_timer()
        if now >= ends:
            raise TimeoutError("timed out")
        if timer is not None and timer <= now:
            self._quic.handle_timer(now=now)
        else:
            self.socket.settimeout((ends if timer is None else min(ends, timer)) - now)
            try:
                read = self.socket.recv(READ_BYTES)
            except TimeoutError:
                return
            self._quic.receive_datagram(read, _place(self.endpoint), now=time.monotonic())
        while (event := self._quic.next_event()) is not None:
            self._take(event)
        self._flush()

    def _flush(self) -> None:
        self.socket.settimeout(self.endpoint.deadline_s)
        for datagram, _ in self._quic.datagrams_to_send(now=time.monotonic()):
            self.socket.send(datagram)

    def _take(self, event: events.QuicEvent) -> None:
        match event:
            case events.HandshakeCompleted():
                agreed = event.alpn_protocol == QUIC
                expect(agreed, f"TLS did not agree on {QUIC} (ALPN)")
                self._is_agreed = True
            case events.PingAcknowledged():
                self._ponged.add(event.uid)
            case events.ConnectionTerminated():
                self._end = event
            case events.StreamReset():
                self._reset(event)
            case events.StreamDataReceived() if event.end_stream and self._is_of_head(event):
                # aioquic takes the length that is told for one of content that is missing.
                self._hear(self._http.handle_event(replace(event, end_stream=False)))
                self._coming[event.stream_id].is_whole = True
                return
        self._hear(self._http.handle_event(event))

    def _is_of_head(self, event: events.StreamDataReceived) -> bool:
        coming = self._coming.get(event.stream_id)
        return coming is not None and coming.is_of_head

    def _reset(self, event: events.StreamReset) -> None:
        coming = self._coming.get(event.stream_id)
        if coming is not None and not coming.is_whole:
            raise Broken(f"it reset the stream, {_named(ErrorCode, event.error_code)}")

    def _hear(self, said: list[H3Event]) -> None:
        """Takes what came on streams of requests whose answers were not read yet."""
        for event in said:
            if not isinstance(event, HeadersReceived | DataReceived):
                continue
            coming = self._coming.get(event.stream_id)
            if coming is None:
                continue
            if isinstance(event, DataReceived):
                coming.content += event.data
            elif coming.status is None:
                fields = {name.decode(): value.decode() for name, value in event.headers}
                status = int(fields[":status"])
                if status not in INTERIM:
                    coming.status = status
                    coming.kind = media_type(fields.get("content-type", ""))
            coming.is_whole |= event.stream_ended


def begin(endpoint: Endpoint) -> socket.socket:
    """The socket of a peer that has begun QUIC's handshake, and goes no further."""
    datagrams = endpoint.connect_plain()
    for datagram, _ in _begun(endpoint, USUAL_WINDOW).datagrams_to_send(now=time.monotonic()):
        datagrams.send(datagram)
    return datagrams


def _begun(endpoint: Endpoint, window: int) -> QuicConnection:
    """A connection whose first datagram is to be sent."""
    configuration = QuicConfiguration(
        alpn_protocols=[QUIC],
        cafile=str(endpoint.authority) if endpoint.authority else None,
        max_stream_data=window,
        server_name=endpoint.host,
    )
    made = QuicConnection(configuration=configuration)
    made.connect(_place(endpoint), now=time.monotonic())
    return made


def _place(endpoint: Endpoint) -> tuple[str, int]:
    return endpoint.host, endpoint.port


def _why(end: events.ConnectionTerminated) -> Exception:
    """What is raised where a connection ended before something that was waited for."""
    # Only the transport's own frame says which frame was wrong.
    kind = ErrorCode if end.frame_type is None else QuicErrorCode
    name = _named(kind, end.error_code)
    if name in ORDERLY:
        return EOFError("it closed the connection")
    reason = f" ({end.reason_phrase})" if end.reason_phrase else ""
    return Broken(f"the connection ended with {name}{reason}")


def _named(kind: type[ErrorCode] | type[QuicErrorCode], code: int) -> str:
    try:
        return kind(code).name
    except ValueError:
        return f"error 0x{code:x}"

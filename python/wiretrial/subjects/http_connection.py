"""HTTP as the checks speak it: requests with their right answers, on one kept connection.

Knows requests, answers and, for HTTP/1.1, `http.client`; must not know routes.
"""

from __future__ import annotations

import http.client
import io
import socket as sockets
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Self

from wiretrial.subjects.endpoint import Endpoint, expect

NO_BODY = ("GET", "HEAD")
"""Methods whose requests carry no body, nor a length."""


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    kind: str
    """Its media type, without parameters; empty where it says none."""
    content: bytes
    will_close: bool
    charset: str | None = None
    """What HTTP/1.1 says of its characters; None: nothing."""
    last: Mapping[str, str] = field(default_factory=dict)
    """The fields of what ends it in HTTP/2: its trailers, or its head where nothing follows."""


@dataclass(frozen=True)
class Request:
    """A request, and what makes an answer to it the right one."""

    method: str
    path: str
    body: bytes = b""
    right: Callable[[Answer], None] = lambda _answer: None
    """Raises where the answer is wrong."""
    close: bool = False
    """Whether it asks for the end of the connection (HTTP/1.1)."""
    head: tuple[tuple[str, str], ...] = ()
    """What its head says in HTTP/2 in place of its body's type and length."""
    kind: str = "text/plain"
    """The media type of its body."""
    fields: tuple[tuple[str, str], ...] = ()
    """Further fields of its head."""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def has_length(self) -> bool:
        """Whether it says how long its body is."""
        return bool(self.body) or self.method not in NO_BODY

    def in_pieces(self, count: int) -> list[bytes]:
        """Its body in that many pieces."""
        step = -(-len(self.body) // count)
        return [self.body[at : at + step] for at in range(0, len(self.body), step)]

    def encode(self, endpoint: Endpoint) -> bytes:
        """The request as it goes over the wire in HTTP/1.1."""
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {endpoint.host}:{endpoint.port}"]
        if self.has_length:
            lines += [f"Content-Length: {len(self.body)}", f"Content-Type: {self.kind}"]
        lines += [f"{name}: {value}" for name, value in self.fields]
        if self.close:
            lines.append("Connection: close")
        return "\r\n".join([*lines, "", ""]).encode() + self.body

    def encode_in_chunks(self, endpoint: Endpoint, chunks: int) -> bytes:
        """The same with its body in that many chunks."""
        head = (
            f"{self} HTTP/1.1\r\nHost: {endpoint.host}:{endpoint.port}\r\n"
            "Transfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n"
        ).encode()
        pieces = [*self.in_pieces(chunks), b""]
        return head + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)


class Connection(ABC):
    """One kept connection. A server that closes it between requests is seen, not papered over.

    A context manager; leaving it drops the connection.
    """

    endpoint: Endpoint
    socket: sockets.socket

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self.release().close()

    @abstractmethod
    def encode(self, *requests: Request) -> bytes:
        """The requests as they go over the wire, behind what begins the connection.

        Whoever encodes them has to send them: their answers are expected.
        """

    def write(self, encoded: bytes) -> None:
        """Sends encoded requests, or a piece of them."""
        self.socket.sendall(encoded)

    @abstractmethod
    def send_in_chunks(self, request: Request, chunks: int) -> None:
        """Sends a request with its body in so many pieces, and does not say how long it is."""

    @abstractmethod
    def receive_any(self, method: str) -> Answer:
        """Reads the answer to the oldest request that has none yet, right or wrong."""

    def end_sending(self) -> None:
        """Ends our side; not inside TLS, which has no such thing."""
        self.socket.shutdown(sockets.SHUT_WR)

    @abstractmethod
    def says_something(self) -> bool:
        """Whether the server answers more, rather than closes; raises where it is silent."""

    def release(self) -> sockets.socket:
        """Its socket, which is the caller's from now on."""
        return self.socket

    def send(self, *requests: Request) -> None:
        """Sends requests, all in one piece."""
        self.write(self.encode(*requests))

    def receive(self, request: Request) -> Answer:
        """Reads one answer; raises unless it is the right one to `request`."""
        answer = self.receive_any(request.method)
        expect(answer.status == 200, f"{request} answered {answer.status}, not 200")
        request.right(answer)
        return answer

    def exchange(self, request: Request) -> Answer:
        """One request and its right answer."""
        self.send(request)
        return self.receive(request)


class StreamedConnection(Connection):
    """A connection on which each request has a stream of its own."""

    _asked: deque[int]
    """Streams whose answers were not read yet, in the order of their requests."""

    def ask(self, request: Request) -> int:
        """Sends a request whose answer is read as it comes; its stream."""
        self.send(request)
        return self._asked[-1]

    @abstractmethod
    def head(self, stream: int) -> tuple[int, str]:
        """The status and the media type of an answer, as soon as its head came."""

    @abstractmethod
    def more(self, stream: int, at: int) -> bytes:
        """What came of an answer behind its first bytes, as soon as something did.

        Empty: it has ended.
        """

    @abstractmethod
    def ping(self) -> None:
        """Sends a ping and waits for its acknowledgement."""


class Http1Connection(Connection):
    """A connection of HTTP/1.1."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.socket = endpoint.connect()
        self._reader = _KeptReader(self.socket.makefile("rb", buffering=0))

    def release(self) -> sockets.socket:
        # As long as a reader of it is open, a socket stays open too.
        self._reader.raw.close()
        return self.socket

    def encode(self, *requests: Request) -> bytes:
        return b"".join(request.encode(self.endpoint) for request in requests)

    def send_in_chunks(self, request: Request, chunks: int) -> None:
        self.socket.sendall(request.encode_in_chunks(self.endpoint, chunks))

    def receive_any(self, method: str) -> Answer:
        response = http.client.HTTPResponse(_ReadBy(self._reader), method=method)  # type: ignore[arg-type]
        with closing(response):
            response.begin()
            content = response.read()
            return Answer(
                status=response.status,
                kind=media_type(response.headers.get("Content-Type", "")),
                content=content,
                will_close=response.will_close,
                charset=charset(response.headers.get("Content-Type", "")),
            )

    def says_something(self) -> bool:
        return self._reader.peek(1) != b""


def media_type(field: str) -> str:
    """What a `Content-Type` says, without parameters."""
    return field.partition(";")[0].strip().lower()


def charset(field: str) -> str | None:
    """What it says of its characters; None: nothing. What it says twice is told twice."""
    parameters = (part.partition("=") for part in field.split(";")[1:])
    said = [value.strip(' "') for name, _, value in parameters if name.strip().lower() == "charset"]
    return ", ".join(said) or None


class _KeptReader(io.BufferedReader):
    """What every answer of a connection is read through.

    `http.client` makes a reader per answer, and loses what the server sent beyond that answer.
    Kept, an answer too many is taken for the next one, and does not match.
    """

    def close(self) -> None:
        """Left open: `http.client` closes it after each answer."""


@dataclass(frozen=True)
class _ReadBy:
    """A socket as far as `http.client` needs one for an answer."""

    reader: io.BufferedReader

    def makefile(self, *_: object, **__: object) -> io.BufferedReader:
        """The reader of the connection."""
        return self.reader


HTTP_ERRORS = (http.client.HTTPException,)
"""What a malformed answer raises."""

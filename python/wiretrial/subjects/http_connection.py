"""HTTP/1.1 as the checks speak it: requests with their right answers, on one kept connection.

Knows requests, answers and `http.client`; must not know routes.
"""

from __future__ import annotations

import http.client
import io
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Request:
    """A request, and what makes an answer to it the right one."""

    method: str
    path: str
    body: bytes = b""
    right: Callable[[Answer], None] = lambda _answer: None
    """Raises where the answer is wrong."""
    close: bool = False
    """Whether it asks for the end of the connection."""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def encode(self, endpoint: Endpoint) -> bytes:
        """The request as it goes over the wire."""
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {endpoint.host}:{endpoint.port}"]
        if self.body or self.method not in NO_BODY:
            lines += [f"Content-Length: {len(self.body)}", "Content-Type: text/plain"]
        if self.close:
            lines.append("Connection: close")
        return "\r\n".join([*lines, "", ""]).encode() + self.body

    def encode_in_chunks(self, endpoint: Endpoint, chunks: int) -> bytes:
        """The same with its body in that many chunks."""
        head = (
            f"{self} HTTP/1.1\r\nHost: {endpoint.host}:{endpoint.port}\r\n"
            "Transfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n"
        ).encode()
        step = -(-len(self.body) // chunks)
        pieces = [self.body[at : at + step] for at in range(0, len(self.body), step)]
        return head + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])


class HttpConnection:
    """One kept connection. A server that closes it between requests is seen, not papered over."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.socket = endpoint.connect()
        self._reader = _KeptReader(self.socket.makefile("rb", buffering=0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # As long as a reader of it is open, a socket stays open too.
        self._reader.raw.close()
        self.socket.close()

    def send(self, *requests: Request) -> None:
        """Sends requests, all in one piece."""
        self.socket.sendall(b"".join(request.encode(self.endpoint) for request in requests))

    def receive(self, request: Request) -> Answer:
        """Reads one answer; raises unless it is the right one to `request`."""
        answer = self.receive_any(request.method)
        expect(answer.status == 200, f"{request} answered {answer.status}, not 200")
        request.right(answer)
        return answer

    def receive_any(self, method: str) -> Answer:
        """Reads one answer, right or wrong."""
        response = http.client.HTTPResponse(_ReadBy(self._reader), method=method)  # type: ignore[arg-type]
        with closing(response):
            response.begin()
            content = response.read()
            return Answer(
                status=response.status,
                kind=response.headers.get("Content-Type", "").partition(";")[0].strip().lower(),
                content=content,
                will_close=response.will_close,
            )

    def exchange(self, request: Request) -> Answer:
        """One request and its right answer."""
        self.send(request)
        return self.receive(request)

    def says_something(self) -> bool:
        """Whether the server sends anything more, rather than closes; raises where it is silent."""
        return self._reader.peek(1) != b""


class HttpConversation(HttpConnection):
    """A conversation of numbered requests."""

    def __init__(self, endpoint: Endpoint, sample: Callable[[int], Request]) -> None:
        super().__init__(endpoint)
        self._sample = sample

    def ask(self, *numbers: int) -> None:
        """Sends the requests with these numbers, all in one piece."""
        self.send(*(self._sample(number) for number in numbers))

    def hear(self, number: int) -> None:
        """Reads one answer; raises unless it is the right one to the request of this number."""
        self.receive(self._sample(number))


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

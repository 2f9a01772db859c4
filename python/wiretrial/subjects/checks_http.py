"""Checks of the HTTP contracts: `http-echo` (POST /echo) and `static` (GET /message).

Knows requests and right answers; must not know who serves them.
"""

from __future__ import annotations

import http.client
import io
import json
from collections.abc import Callable
from contextlib import closing

from wiretrial.subjects.endpoint import DEADLINE_S, Endpoint, expect, payload

ECHO_PATH = "/echo"
MESSAGE_PATH = "/message"
MESSAGE_BYTES = 64
WRONG_PATH = "/no-such-route"
MESSAGES = 100
LARGE = 1 << 20

HTTP_ERRORS = (http.client.HTTPException,)


class _KeptReader(io.BufferedReader):
    """What every reply of a connection is read through.

    `http.client` makes a reader per reply, and loses what the server sent beyond that reply. Kept,
    a reply too many is taken for the next one, and does not match.
    """

    def close(self) -> None:
        """Left open: `http.client` closes it after each reply."""


class _KeptSocket:
    """A socket as `http.client` uses it, with one reader for all replies."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._socket = endpoint.connect()
        self._reader = _KeptReader(self._socket.makefile("rb", buffering=0))

    def makefile(self, *_: object, **__: object) -> io.BufferedReader:
        """The reader of this connection."""
        return self._reader

    def sendall(self, data: bytes) -> None:
        """Sends all of `data`."""
        self._socket.sendall(data)

    def close(self) -> None:
        """Drops the connection, once its last reply is read."""
        self._socket.close()


class _Connection(http.client.HTTPConnection):
    """One kept connection. A server that closes it between requests is seen, not papered over."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint.host, endpoint.port, timeout=DEADLINE_S)
        self.sock = _KeptSocket(endpoint)
        self.auto_open = 0

    def exchange(
        self, method: str, path: str, body: bytes | None = None, pieces: int = 0
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """One request and its whole answer; `pieces` > 0 sends the body in that many chunks."""
        if pieces and body is not None:
            step = -(-len(body) // pieces)
            chunks = (body[at : at + step] for at in range(0, len(body), step))
            self.request(
                method, path, chunks, {"Transfer-Encoding": "chunked"}, encode_chunked=True
            )
        else:
            self.request(method, path, body)
        response = self.getresponse()
        return response, response.read()


def _echo(connection: _Connection, body: bytes, pieces: int = 0) -> None:
    response, content = connection.exchange("POST", ECHO_PATH, body, pieces)
    expect(response.status == 200, f"POST {ECHO_PATH} answered {response.status}, not 200")
    expect(
        content == body,
        f"POST {ECHO_PATH} with {len(body)} bytes came back as {len(content)} other bytes",
    )


def _echo_once(endpoint: Endpoint) -> None:
    with closing(_Connection(endpoint)) as connection:
        _echo(connection, payload(64))


def _echo_many(endpoint: Endpoint) -> None:
    with closing(_Connection(endpoint)) as connection:
        for index in range(MESSAGES):
            _echo(connection, payload(64, index))


def _echo_large(endpoint: Endpoint) -> None:
    with closing(_Connection(endpoint)) as connection:
        _echo(connection, payload(LARGE))


def _echo_chunked(endpoint: Endpoint) -> None:
    with closing(_Connection(endpoint)) as connection:
        _echo(connection, payload(10_000), pieces=7)


def _echo_empty(endpoint: Endpoint) -> None:
    with closing(_Connection(endpoint)) as connection:
        _echo(connection, b"")


def _wrong_route(endpoint: Endpoint) -> None:
    with closing(_Connection(endpoint)) as connection:
        for _ in range(2):
            response, _content = connection.exchange("GET", WRONG_PATH)
            expect(response.status == 404, f"GET {WRONG_PATH} answered {response.status}, not 404")


def _close_when_asked(method: str, path: str, body: bytes | None) -> Callable[[Endpoint], None]:
    def check(endpoint: Endpoint) -> None:
        with closing(_Connection(endpoint)) as connection:
            connection.request(method, path, body, {"Connection": "close"})
            response = connection.getresponse()
            response.read()
            expect(response.status == 200, f"{method} {path} answered {response.status}, not 200")
            expect(response.will_close, "`Connection: close` was not answered in kind")

    return check


def _split_request(method: str, path: str, body: bytes) -> Callable[[Endpoint], None]:
    """A request that arrives byte by byte up to its middle is the same request."""

    def check(endpoint: Endpoint) -> None:
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        request = (
            f"{method} {path} HTTP/1.1\r\nHost: {endpoint.host}\r\n{length}\r\n".encode() + body
        )
        with endpoint.connect() as connection:
            for at in range(len(request) // 2):
                connection.sendall(request[at : at + 1])
            connection.sendall(request[len(request) // 2 :])
            response = http.client.HTTPResponse(connection, method=method)
            response.begin()
            response.read()
        expect(response.status == 200, f"a request in pieces was answered {response.status}")

    return check


def _message(connection: _Connection) -> None:
    response, content = connection.exchange("GET", MESSAGE_PATH)
    expect(response.status == 200, f"GET {MESSAGE_PATH} answered {response.status}, not 200")
    expect(
        len(content) == MESSAGE_BYTES,
        f"GET {MESSAGE_PATH} has {len(content)} bytes, not {MESSAGE_BYTES}",
    )
    try:
        json.loads(content)
    except ValueError:
        expect(False, f"GET {MESSAGE_PATH} is not JSON")
    kind = response.headers.get_content_type()
    expect(kind == "application/json", f"GET {MESSAGE_PATH} is {kind}, not application/json")


def _message_once(endpoint: Endpoint) -> None:
    with closing(_Connection(endpoint)) as connection:
        _message(connection)


def _message_many(endpoint: Endpoint) -> None:
    with closing(_Connection(endpoint)) as connection:
        for _ in range(MESSAGES):
            _message(connection)


def _head(endpoint: Endpoint) -> None:
    with closing(_Connection(endpoint)) as connection:
        response, content = connection.exchange("HEAD", MESSAGE_PATH)
        expect(response.status == 200, f"HEAD {MESSAGE_PATH} answered {response.status}, not 200")
        expect(not content, f"HEAD {MESSAGE_PATH} has a body")
        _message(connection)


ECHO: dict[str, Callable[[Endpoint], None]] = {
    "one exchange": _echo_once,
    f"{MESSAGES} messages on one connection": _echo_many,
    "1 MiB": _echo_large,
    "chunked request": _echo_chunked,
    "empty body": _echo_empty,
    "request in pieces": _split_request("POST", ECHO_PATH, payload(64)),
    "wrong route": _wrong_route,
    "close": _close_when_asked("POST", ECHO_PATH, payload(64)),
}

STATIC: dict[str, Callable[[Endpoint], None]] = {
    "one exchange": _message_once,
    f"{MESSAGES} messages on one connection": _message_many,
    "HEAD": _head,
    "request in pieces": _split_request("GET", MESSAGE_PATH, b""),
    "wrong route": _wrong_route,
    "close": _close_when_asked("GET", MESSAGE_PATH, None),
}

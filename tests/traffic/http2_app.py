"""A small application that speaks HTTP/2 alone, by a library that others wrote (`h2`).

It knows each user by a cookie and a token, and says nothing that is right to one whose token is not
that of the cookie, so that streams that are mixed up show. A thread for each connection.
"""

from __future__ import annotations

import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import h2.config
import h2.connection
import h2.errors
import h2.events

Answer = tuple[int, dict[str, str], bytes]


@dataclass
class Manners:
    """What it does beside answering; 0: never."""

    refuses_every: int = 0
    resets_every: int = 0
    leaves_after: int = 0
    """Requests on one connection, after which it sends GOAWAY and answers what it has."""


@dataclass
class Application:
    """Where it is, and what it has seen."""

    manners: Manners
    seen: Counter[str] = field(default_factory=Counter)
    most_open: int = 0
    """Streams that were open at once on one connection."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    base: str = field(init=False)

    def __post_init__(self) -> None:
        self.base = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def count(self, what: str) -> int:
        with self.lock:
            self.seen[what] += 1
            return self.seen[what]


@contextmanager
def application(manners: Manners | None = None) -> Iterator[Application]:
    """One that runs until the end of the block."""
    app = Application(manners or Manners())

    def accept() -> None:
        with suppress(OSError):
            while True:
                stream, _ = app.listener.accept()
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=_Connection(app, stream).serve, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield app
    finally:
        # A thread in accept() does not hear of a close.
        app.listener.shutdown(socket.SHUT_RDWR)
        app.listener.close()


class _Connection:
    def __init__(self, app: Application, stream: socket.socket) -> None:
        self.app, self.stream = app, stream
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        self.http = h2.connection.H2Connection(config)
        self.open: dict[int, tuple[dict[str, str], bytearray]] = {}
        self.whole: list[int] = []
        self.begun = 0
        self.leaves = False

    def serve(self) -> None:
        self.app.count("connections")
        self.http.initiate_connection()
        with self.stream, suppress(OSError):
            self._send()
            while data := self.stream.recv(65536):
                for event in self.http.receive_data(data):
                    self._hear(event)
                self._answer()
                self._send()
                if self.leaves and not self.open:
                    return

    def _send(self) -> None:
        self.stream.sendall(self.http.data_to_send())

    def _hear(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RequestReceived(stream_id=int(number), headers=headers):
                if not self.leaves:
                    self.open[number] = ({str(k): str(v) for k, v in headers or ()}, bytearray())
                    self.app.most_open = max(self.app.most_open, len(self.open))
            case h2.events.DataReceived(stream_id=int(number), data=bytes(data)):
                self.http.acknowledge_received_data(event.flow_controlled_length or 0, number)
                if number in self.open:
                    self.open[number][1].extend(data)
            case h2.events.StreamEnded(stream_id=int(number)):
                if number in self.open:
                    self.whole.append(number)
                    self.begun += 1
            case h2.events.StreamReset(stream_id=int(number)):
                self.open.pop(number, None)
            case _:
                pass

    def _answer(self) -> None:
        manners = self.app.manners
        for number in reversed(self.whole):
            fields, content = self.open.pop(number)
            count = self.app.count("streams")
            if manners.refuses_every and count % manners.refuses_every == 0:
                self.http.reset_stream(number, h2.errors.ErrorCodes.REFUSED_STREAM)
                continue
            if manners.resets_every and count % manners.resets_every == 0:
                self.http.reset_stream(number, h2.errors.ErrorCodes.INTERNAL_ERROR)
                continue
            self.app.count(f"{fields[':method']} {fields[':path'].partition('?')[0]}")
            status, headers, body = _reply(self.app, fields, bytes(content))
            head = [(":status", str(status)), *headers.items()]
            self.http.send_headers(number, [*head, ("content-length", str(len(body)))])
            self.http.send_data(number, body, end_stream=True)
        self.whole.clear()
        if manners.leaves_after and self.begun >= manners.leaves_after and not self.leaves:
            self.leaves = True
            last = self.http.highest_inbound_stream_id
            self.http.close_connection(h2.errors.ErrorCodes.NO_ERROR, last_stream_id=last)
            self.open.clear()


def _json(status: int, body: Any, **headers: str) -> Answer:
    return status, {"content-type": "application/json", **headers}, json.dumps(body).encode()


def _reply(app: Application, fields: Mapping[str, str], content: bytes) -> Answer:
    path, _, query = fields[":path"].partition("?")
    answers: dict[str, Callable[[], Answer]] = {
        "POST /login": lambda: _login(app, content),
        "GET /items": lambda: _items(fields, query),
        "GET /page": lambda: (200, {"content-type": "text/plain"}, b"a page"),
        "GET /old": lambda: (302, {"location": "/page"}, b""),
        "GET /gone": lambda: _json(404, {"error": "gone"}),
    }
    found = answers.get(f"{fields[':method']} {path}")
    return found() if found else _json(405, {"error": f"{fields[':method']} {path}"})


def _login(app: Application, content: bytes) -> Answer:
    user = json.loads(content)["user"].encode().hex()
    number = app.count("logins")
    cookie = f"sid={user}-{number}; Path=/; HttpOnly"
    return _json(200, {"welcome": True, "token": f"t-{user}-{number}"}, **{"set-cookie": cookie})


def _items(fields: Mapping[str, str], query: str) -> Answer:
    sid = fields.get("cookie", "").removeprefix("sid=")
    token = fields.get("authorization", "").removeprefix("Bearer t-")
    if not sid or sid != token:
        return _json(403, {"error": "another's token"})
    user = bytes.fromhex(sid.partition("-")[0]).decode()
    return _json(200, {"of": user, "query": query, "items": [{"id": n} for n in range(20)]})

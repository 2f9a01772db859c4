"""A backend for checks of proxies: it answers rightly, wrongly, in part or not at all, and counts.

Knows HTTP/1.1 and which path asks for what; must not know who stands before it.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from wiretrial.subjects.endpoint import Endpoint
from wiretrial.subjects.ports import free_ports, release

CONTENT: Final = b'{"seq":"0000000000000000","text":"one message of 64 bytes....."}'
"""The right reply, for each path that is not below."""
BREAKS: Final = "/breaks"
"""The request is read whole, and the connection ends without a reply."""
CUT: Final = "/cut"
"""Half of a reply whose length was told, and the end of the connection."""
CUT_CHUNKS: Final = "/cut-chunks"
"""The same in chunks, without the last one."""
GARBAGE: Final = "/garbage"
"""Bytes that are no HTTP."""
SILENT: Final = "/silent"
"""Nothing, until the other side goes."""

_HOST = "127.0.0.1"
_PORT = "port"
_HALF = b"x" * 50
_POLL_S = 0.02


class Backend:
    """A server that runs while the context lasts. It can go and come back, on the same port."""

    def __init__(self) -> None:
        self._ports = free_ports([_HOST], [_PORT])
        self.endpoint = Endpoint(protocol="http", host=_HOST, port=self._ports[_PORT])
        self._guard = threading.Lock()
        self._accepted = 0
        self._asked: Counter[str] = Counter()
        self._open: set[socket.socket] = set()
        self._listener: _Listener | None = None

    def __enter__(self) -> Backend:
        self.come()
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        release(self._ports.values())

    @property
    def accepted(self) -> int:
        """Connections so far."""
        with self._guard:
            return self._accepted

    def asked(self, path: str) -> int:
        """How many whole requests for the path came."""
        with self._guard:
            return self._asked[path]

    def come(self) -> None:
        """Listens, where it does not yet."""
        if self._listener is None:
            self._listener = _Listener(self)
            self._listener.begin()

    def leave(self) -> None:
        """Listens no more, and ends every connection."""
        if self._listener is not None:
            self._listener.end()
            self._listener = None
        self.drop()

    def drop(self) -> None:
        """Ends every connection, and takes new ones as before."""
        with self._guard:
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def met(self, connection: socket.socket) -> None:
        """Told by a connection that begins."""
        with self._guard:
            self._accepted += 1
            self._open.add(connection)

    def left(self, connection: socket.socket) -> None:
        """Told by a connection that has ended."""
        with self._guard:
            self._open.discard(connection)

    def heard(self, path: str) -> None:
        """Told of each request that came whole."""
        with self._guard:
            self._asked[path] += 1


class _Listener(ThreadingHTTPServer):
    """The socket that listens, with a thread for each connection."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        super().__init__((backend.endpoint.host, backend.endpoint.port), _Conversation)
        self._thread = threading.Thread(
            target=self.serve_forever, args=(_POLL_S,), name="backend", daemon=True
        )

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def server_bind(self) -> None:
        """Without the look-up of a name that `http.server` makes."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = self.backend.endpoint.host, self.backend.endpoint.port

    def handle_error(self, *_: object) -> None:
        """A connection that breaks is what is wanted."""


class _Conversation(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def setup(self) -> None:
        super().setup()
        self.server.backend.met(self.connection)

    def finish(self) -> None:
        self.server.backend.left(self.connection)
        super().finish()

    def do_GET(self) -> None:
        self._reply()

    def do_POST(self) -> None:
        self._read_body()
        self._reply()

    def do_PUT(self) -> None:
        self.do_POST()

    def log_message(self, *_: object) -> None:
        """Nothing is told."""

    def _read_body(self) -> None:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        else:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _reply(self) -> None:
        self.server.backend.heard(self.path)
        wrong = _WRONG.get(self.path)
        if wrong:
            self.close_connection = True
            wrong(self)
            return
        self._head("application/json", "Content-Length", str(len(CONTENT)))
        self.wfile.write(CONTENT)

    def _head(self, kind: str, field: str, value: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header(field, value)
        self.end_headers()

    def break_off(self) -> None:
        """Says nothing."""

    def cut(self) -> None:
        self._head("text/plain", "Content-Length", str(2 * len(_HALF)))
        self.wfile.write(_HALF)

    def cut_chunks(self) -> None:
        self._head("text/plain", "Transfer-Encoding", "chunked")
        self.wfile.write(b"%x\r\n%b\r\n" % (len(_HALF), _HALF))

    def say_garbage(self) -> None:
        self.wfile.write(b"these bytes begin no reply\r\n\r\n")

    def be_silent(self) -> None:
        self.rfile.read(1)


_WRONG: Final[dict[str, Callable[[_Conversation], None]]] = {
    BREAKS: _Conversation.break_off,
    CUT: _Conversation.cut,
    CUT_CHUNKS: _Conversation.cut_chunks,
    GARBAGE: _Conversation.say_garbage,
    SILENT: _Conversation.be_silent,
}

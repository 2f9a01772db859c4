"""A proxy that keeps its contract, but for the faults that it is told to have.

Usage: passing.py HOST PORT BACKEND_HOST BACKEND_PORT [FAULT...]
"""

from __future__ import annotations

import http.client
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DEADLINE_S = 10.0
SULK_S = 60.0


class Proxy(ThreadingHTTPServer):
    """A thread for each connection, with a connection of its own to the backend."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, backend: tuple[str, int], faults: set[str]) -> None:
        self.backend = backend
        self.faults = faults
        self.turn = threading.Lock()
        self.sulks_until = 0.0
        super().__init__((host, port), Conversation)

    def server_bind(self) -> None:
        """Without the look-up of a name that `http.server` makes."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "proxy", self.server_address[1]


class Conversation(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Proxy

    def setup(self) -> None:
        super().setup()
        self.behind: http.client.HTTPConnection | None = None

    def finish(self) -> None:
        self._forget()
        super().finish()

    def do_GET(self) -> None:
        self._pass_on(b"")

    def do_POST(self) -> None:
        self._pass_on(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def do_PUT(self) -> None:
        self.do_POST()

    def log_message(self, *_: object) -> None:
        """Nothing is told."""

    def _pass_on(self, body: bytes) -> None:
        faults = self.server.faults
        if time.monotonic() < self.server.sulks_until:
            self._reply(503, "text/plain", b"")
        elif "serial" in faults:
            with self.server.turn:
                self._ask(body)
        else:
            self._ask(body)

    def _ask(self, body: bytes) -> None:
        faults = self.server.faults
        if "fresh" in faults:
            self._forget()
        times = 2 if "retries" in faults or (self.behind and self.command == "GET") else 1
        if self.behind and "stale" not in faults and self._is_ended():
            self._forget()
        for left in reversed(range(times)):
            try:
                self._answer(self._asked(body))
            except (http.client.HTTPException, OSError) as error:
                self._forget()
                if left and isinstance(error, OSError):
                    continue
                self._fail(error)
            return

    def _is_ended(self) -> bool:
        """Whether the backend has ended the connection that is kept."""
        connection = self.behind.sock if self.behind else None
        if connection is None:
            return True
        connection.setblocking(False)
        try:
            return connection.recv(1) == b""
        except BlockingIOError:
            return False
        finally:
            connection.settimeout(DEADLINE_S)

    def _asked(self, body: bytes) -> http.client.HTTPResponse:
        if self.behind is None:
            self.behind = http.client.HTTPConnection(*self.server.backend, timeout=DEADLINE_S)
        self.behind.request(self.command, self.path, body or None)
        return self.behind.getresponse()

    def _answer(self, reply: http.client.HTTPResponse) -> None:
        kind = reply.headers.get("Content-Type", "text/plain")
        try:
            content = reply.read()
        except http.client.IncompleteRead as error:
            if "pads" not in self.server.faults:
                raise
            self._forget()
            content = error.partial
        self._reply(reply.status, kind, content)

    def _fail(self, error: Exception) -> None:
        faults = self.server.faults
        status = 502
        if isinstance(error, ConnectionRefusedError):
            status = 404 if "unlucky" in faults else 502
            if "sulks" in faults:
                self.server.sulks_until = time.monotonic() + SULK_S
        # Where the connection ended, it is a subclass.
        if type(error) is http.client.BadStatusLine and "trusts" in faults:
            status = 200
        self._reply(status, "text/plain", b"")

    def _reply(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _forget(self) -> None:
        if self.behind is not None:
            self.behind.close()
            self.behind = None


if __name__ == "__main__":
    place, port, backend_place, backend_port, *told = sys.argv[1:]
    with Proxy(place, int(port), (backend_place, int(backend_port)), set(told)) as proxy:
        proxy.serve_forever()

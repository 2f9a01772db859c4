"""A relay in front of a server that counts who connects to it.

Knows bytes and connections; must not know what they mean, or it would count requests too.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from typing import Self

PIECE = 65_536
LOOK_S = 0.05


class Relay:
    """Hands every connection on to `(host, port)`. A context manager; leaving it drops all."""

    def __init__(self, host: str, port: int, listen_on: str = "127.0.0.1") -> None:
        self.accepted = 0
        """Connections so far."""
        self._target = (host, port)
        self._listener = socket.create_server((listen_on, 0))
        self.port: int = self._listener.getsockname()[1]
        self._other: dict[socket.socket, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="relay", daemon=True)

    def __enter__(self) -> Self:
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        for connection in (self._listener, *self._other):
            connection.close()
        self._selector.close()

    def _serve(self) -> None:
        while not self._ending.is_set():
            for key, _ in self._selector.select(LOOK_S):
                if key.fileobj is self._listener:
                    self._accept()
                elif isinstance(key.fileobj, socket.socket) and key.fileobj in self._other:
                    self._hand_on(key.fileobj)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        self.accepted += 1
        try:
            server = socket.create_connection(self._target)
        except OSError:
            client.close()
            return
        for one, other in ((client, server), (server, client)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._other[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _hand_on(self, source: socket.socket) -> None:
        target = self._other[source]
        try:
            piece = source.recv(PIECE)
            target.sendall(piece)
        except OSError:
            piece = b""
        if not piece:
            # An end of one side is the end of both: nobody here speaks after that.
            for one in (source, target):
                del self._other[one]
                self._selector.unregister(one)
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()

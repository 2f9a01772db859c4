"""A port that takes no connection and refuses none: who connects to it waits.

Knows how a full listen queue behaves; must not know why somebody wants one. Nothing of the machine
is changed: the kernel drops the first packet of a connection for which the queue has no room.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Self

LOOPBACK = "::1"
FILLERS = 4
"""A queue of length 0 holds one connection, and those that come at once may be one or two more."""


class Silence:
    """`port` at an IPv6 address of this machine, silent as long as the context lasts.

    Raises `OSError` where there is no such address, or somebody has the port.
    """

    def __init__(self, port: int, host: str = LOOPBACK) -> None:
        self._sockets = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            listener = stack.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
            # IPv4's addresses of the same port are the server's.
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((host, port))
            listener.listen(0)
            for _ in range(FILLERS):
                filler = stack.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
                filler.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    filler.connect(listener.getsockname())
            self._sockets = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sockets.close()

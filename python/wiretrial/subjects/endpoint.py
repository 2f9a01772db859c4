"""Where a server speaks a protocol, and how a check connects to it.

Knows addresses, sockets and TLS contexts; must not know contracts.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from wiretrial.plan import SECURE
from wiretrial.subjects import quic_versions
from wiretrial.subjects.database_parts import Asked
from wiretrial.subjects.spec import OVER_HTTP2, Protocol, scheme, version_of
from wiretrial.words import QUIC

DEADLINE_S = 10.0
"""No answer of a check may take longer, where nothing else is said."""

AGREED = "h2"
"""HTTP/2 inside TLS, as ALPN names it."""


class Broken(Exception):
    """A contract that was not kept; the text says how."""


class Late(str):
    """A problem of which only the clock tells: no answer came in time."""

    __slots__ = ()


class Endpoint(BaseModel):
    """One protocol at one address."""

    model_config = ConfigDict(frozen=True)

    protocol: Protocol
    host: str
    port: int
    authority: Path | None = None
    threads: int = 1
    """Threads that the server was started with."""
    delay_ms: int = 0
    """Delay that the server was started with."""
    database: Asked | None = None
    """Where the server keeps its data, to be looked into; None: it keeps none."""
    deadline_s: float = Field(default_factory=lambda: DEADLINE_S)
    """No answer may take longer."""

    def __str__(self) -> str:
        is_usual = version_of(self.protocol) == "1.1"
        return self.url() if is_usual else f"{self.protocol} at {self.url()}"

    def url(self, path: str = "") -> str:
        """The URL of `path` here."""
        return f"{scheme(self.protocol)}://{self.host}:{self.port}{path}"

    def tls(self) -> ssl.SSLContext | None:
        """How to verify this server; None without TLS."""
        if self.protocol not in SECURE:
            return None
        context = ssl.create_default_context(cafile=str(self.authority) if self.authority else None)
        if self.protocol in OVER_HTTP2:
            context.set_alpn_protocols([AGREED])
        return context

    def connect(self) -> socket.socket:
        """A connected socket, inside TLS where the protocol says so."""
        plain = self.connect_plain()
        context = self.tls()
        if context is None:
            return plain
        try:
            secure = context.wrap_socket(plain, server_hostname=self.host)
        except OSError:
            plain.close()
            raise
        if self.protocol in OVER_HTTP2 and secure.selected_alpn_protocol() != AGREED:
            secure.close()
            raise Broken(f"TLS did not agree on {AGREED} (ALPN)")
        return secure

    def connect_plain(self) -> socket.socket:
        """A connected socket, without TLS even where the protocol asks for it; of UDP for QUIC."""
        if self.protocol == QUIC:
            datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            datagrams.settimeout(self.deadline_s)
            datagrams.connect((self.host, self.port))
            return datagrams
        plain = connected(self.host, self.port, self.deadline_s)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return plain

    def knock(self, host: str) -> None:
        """Returns where somebody has this port at `host`, and raises `OSError` where nobody has."""
        if self.protocol != QUIC:
            connected(host, self.port, self.deadline_s).close()
            return
        # A server on all addresses may answer from another one, which is not heard.
        with contextlib.suppress(TimeoutError):
            quic_versions.ask(host, self.port, self.deadline_s)


def connected(host: str, port: int, deadline_s: float) -> socket.socket:
    """A socket that is connected with somebody else.

    Where nobody listens, the kernel may give a connection that port as its own, so that it is
    connected with itself and hears what it says: that counts as refused.
    """
    found = socket.create_connection((host, port), timeout=deadline_s)
    if found.getsockname() != found.getpeername():
        return found
    # Reset: the port must not wait for the end of a connection when its server comes.
    found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    found.close()
    raise ConnectionRefusedError(f"nobody listens on port {port}: it met itself")


def expect(holds: bool, problem: str) -> None:
    """Raises `Broken` unless `holds`."""
    if not holds:
        raise Broken(problem)


def payload(size: int, seed: int = 0) -> bytes:
    """`size` printable bytes, another text for each seed."""
    block = bytes(33 + (index * 7 + seed * 13) % 90 for index in range(997))
    return (f"{seed:016x}".encode() + block * (size // len(block) + 1))[:size]

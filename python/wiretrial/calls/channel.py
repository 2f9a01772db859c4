"""A channel to a server, by grpcio: to ask it what it offers, and what it replies before a load.

Knows grpcio and whose certificate is accepted; must not know what is called. The load itself is the
engine's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wiretrial.calls import probing
from wiretrial.errors import EngineFailed, UsageProblem, WiretrialError

if TYPE_CHECKING:
    import grpc

LARGEST_BYTES = 64 * 1024 * 1024
"""Of a message: the description of a large API has some MiB."""


@dataclass(frozen=True)
class Server:
    """Where it is, and whose certificate is accepted. `server_name`: as which it is verified."""

    host: str
    port: int
    is_secure: bool = False
    ca_file: Path | None = None
    insecure: bool = False
    server_name: str | None = None

    @property
    def address(self) -> str:
        """`HOST:PORT`, with an address of IPv6 in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def refused(self, error: grpc.RpcError) -> WiretrialError:
        """Why it answers no call, of one that failed with UNAVAILABLE."""
        why = probing.refused(self.host, self.port, self.is_secure)
        return why or EngineFailed(
            f"{self.address} can't be asked: {words(error)}", "start the server first"
        )


@contextmanager
def opened(server: Server) -> Iterator[grpc.Channel]:
    """A connection of its own, which is made with the first call."""
    # Its own lines about a failed handshake would stand beside ours.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        import grpc
    except ModuleNotFoundError as error:
        raise UsageProblem(
            f"gRPC needs {error.name}, which is not installed", "pip install 'wiretrial[grpc]'"
        ) from error
    # No proxy: the engine has none either, and it is the same server that is meant.
    options: list[tuple[str, int | str]] = [
        ("grpc.max_receive_message_length", LARGEST_BYTES),
        ("grpc.enable_http_proxy", 0),
        ("grpc.use_local_subchannel_pool", 1),
    ]
    if not server.is_secure:
        with grpc.insecure_channel(server.address, options) as channel:
            yield channel
        return
    roots = server.ca_file.read_bytes() if server.ca_file else None
    name = server.server_name
    if server.insecure:
        roots, name = probing.certificate(server.host, server.port)
    if name:
        options.append(("grpc.ssl_target_name_override", name))
    with grpc.secure_channel(
        server.address, grpc.ssl_channel_credentials(roots), options
    ) as channel:
        yield channel


def words(error: grpc.RpcError) -> str:
    """`NOT_FOUND, there is no such item`."""
    return f"{error.code().name}, {error.details()}"

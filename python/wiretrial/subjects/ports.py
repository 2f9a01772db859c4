"""Ports for servers of ours, claimed: two that start at the same time never get the same.

Knows addresses and ports; must not know who listens. A port that is only found to be free stays
free until its server listens, and whoever looks meanwhile finds it too; servers that share ports
among their threads (SO_REUSEPORT) would even share the connections, each answering some of them.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable, Sequence

from wiretrial.errors import SubjectFailed
from wiretrial.machine import facts
from wiretrial.machine.namespaces import Namespace
from wiretrial.subjects.spec import QUIC_PORT

FIRST_PORT = 20_000
TRIES = 200

_claims: dict[int, socket.socket] = {}
"""What holds each claim of this process; the kernel gives it back with the process."""

_STREAMS = (socket.SOCK_STREAM,)
_OF_QUIC = (socket.SOCK_STREAM, socket.SOCK_DGRAM)
"""A server of HTTP/3 may have both ports of a number."""


def free_ports(
    hosts: Sequence[str], names: Sequence[str], isolation: Namespace | None = None
) -> dict[str, int]:
    """A port for each name that is free on all `hosts`, below those of outgoing connections.

    They are the caller's until `release`. In a namespace of its own, nobody else has any.
    """
    first_ephemeral = int((facts.sysctl("net.ipv4.ip_local_port_range") or "0").split()[0])
    last = first_ephemeral - 1 if first_ephemeral > FIRST_PORT + TRIES else 65_535
    ports: dict[str, int] = {}
    for name in names:
        for _ in range(TRIES):
            port = random.randint(FIRST_PORT, last)
            if port in ports.values():
                continue
            if isolation or _claim(port, hosts, _OF_QUIC if name == QUIC_PORT else _STREAMS):
                ports[name] = port
                break
        else:
            release(ports.values())
            raise SubjectFailed(
                f"no free port on {hosts[0]} between {FIRST_PORT} and {last} in {TRIES} tries",
                "end what holds them",
            )
    return ports


def claim(port: int, host: str, whose: str) -> None:
    """Takes the one port that a server can listen on; until `release`."""
    if not _claim(port, [host], _STREAMS):
        raise SubjectFailed(
            f"port {port} of {host}, on which {whose} listens, is in use", "end what listens there"
        )


def release(ports: Iterable[int]) -> None:
    """Gives up what is claimed of these; once their server has ended, or never started."""
    for port in ports:
        claim = _claims.pop(port, None)
        if claim:
            claim.close()


def _claim(port: int, hosts: Sequence[str], kinds: Sequence[socket.SocketKind]) -> bool:
    # A name without a file: one process of a network namespace can have it, and it never stays.
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0wiretrial-port-{port}")
    except OSError:
        claim.close()
        return False
    if not all(_is_free(host, port, kind) for host in hosts for kind in kinds):
        claim.close()
        return False
    _claims[port] = claim
    return True


def _is_free(host: str, port: int, kind: socket.SocketKind) -> bool:
    with socket.socket(socket.AF_INET, kind) as trial:
        if kind == socket.SOCK_STREAM:
            # Connections of an earlier server may be waiting there.
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError:
            return False
        return True

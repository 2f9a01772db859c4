"""Whether the kernel tracks each connection (nf_conntrack), and how many more it has room for.

It does where a firewall's rules ask for it, or what a container engine leaves behind. Each packet
then costs both sides more, and where the table is full the first packet of a connection is dropped
without a word. Knows the kernel's settings and one connection over loopback; must not know what is
measured.
"""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass
from pathlib import Path

MOST = "net.netfilter.nf_conntrack_max"
"""The setting, as `sysctl` calls it."""
_FOLDER = Path("/proc/sys/net/netfilter")
PROBES = 4
"""Connections that are opened to see whether the count grows; others may come at the same time."""
PATIENCE_S = 0.5
"""For one over loopback; it takes longer only where the table is full."""


@dataclass(frozen=True)
class Table:
    """The table of tracked connections of this network namespace."""

    count: int
    most: int

    @property
    def free(self) -> int:
        """How many more connections it has room for."""
        return max(0, self.most - self.count)


def table() -> Table | None:
    """The table as it stands; None where connections over loopback are not tracked."""
    before = _count()
    if before is None:
        return None
    with contextlib.ExitStack() as held:
        listener = held.enter_context(socket.create_server(("127.0.0.1", 0), backlog=PROBES))
        for _ in range(PROBES):
            try:
                held.enter_context(socket.create_connection(listener.getsockname(), PATIENCE_S))
            except OSError:
                # Full: the kernel drops what it has no room for.
                return Table(before, _most(before))
        after = _count()
    if after is None or after - before < PROBES:
        return None
    return Table(after, _most(after))


def _count() -> int | None:
    return _number("nf_conntrack_count")


def _most(known: int) -> int:
    return _number("nf_conntrack_max") or known


def _number(name: str) -> int | None:
    try:
        text = (_FOLDER / name).read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None

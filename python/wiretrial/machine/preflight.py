"""What can't work is refused before it is tried, with the arithmetic and the remedy.

Knows limits and sums; must not know how a load is made.
"""

from __future__ import annotations

import resource
from dataclasses import dataclass
from pathlib import Path

import psutil

from wiretrial.errors import UsageProblem
from wiretrial.machine import facts, tracking
from wiretrial.machine.facts import sysctl

SPARE_DESCRIPTORS = 64
"""What a process holds beside its connections: standard streams, poller, timers, libraries."""
POLLER_DESCRIPTORS = 4
"""Of each thread's poller."""
SERVER_DESCRIPTORS = 256
"""What a server holds beside its connections, at most."""
MOST_THREADS = 1024
FEW_TRACKED = 16_384
"""Connections that any table of tracked ones has room for; no kernel's default is smaller."""
BYTES_PER_END = 6_144
"""Memory of one end of an idle connection: 4.9 kB in the kernel (measured over a million pairs on
loopback, Linux 6.18), and what a lean client or server keeps itself."""
BYTES_PER_TRIAL = 8 << 20
"""A stored trial is well under this."""


ENGINES_OWN = frozenset({"descriptors", "files", "ports"})
"""What the engine checks, too, beside the limits of a server on the same machine."""


@dataclass(frozen=True)
class Demand:
    """What a run is going to need."""

    connections: int
    threads: int = 1
    """Of the generator. Where one table of descriptors is too small, each has one of its own."""
    source_addresses: int = 1
    server_here: bool = True
    fresh_connections: int = 0
    """Connections that are opened anew within one minute, in all."""
    trials: int = 1
    folder: Path | None = None


@dataclass(frozen=True)
class Finding:
    """One resource: what is needed and what is there."""

    name: str
    needed: int
    available: int
    unit: str
    remedy: str

    @property
    def enough(self) -> bool:
        """Whether the run can go on."""
        return self.needed <= self.available

    def line(self) -> str:
        """The arithmetic, for people."""
        return f"needs {self.needed:,} {self.unit}, {self.available:,} are available"


def check(demand: Demand) -> list[Finding]:
    """Every resource, needed and available."""
    findings = [
        Finding(
            name="descriptors",
            needed=_per_table(demand.connections, demand.threads),
            available=_descriptors(),
            unit="descriptors" if demand.threads == 1 else "descriptors per thread",
            remedy="use more threads (--threads: each has a table of its own), or raise the limit"
            " (ulimit -n)",
        ),
        *_open_files(demand),
        Finding(
            name="ports",
            needed=demand.connections + demand.fresh_connections,
            available=_ports() * demand.source_addresses,
            unit="local ports",
            remedy="use fewer connections (-c), or connect from more addresses (--sources)",
        ),
        Finding(
            name="memory",
            needed=demand.connections * BYTES_PER_END * (2 if demand.server_here else 1),
            available=psutil.virtual_memory().available,
            unit="bytes of memory",
            remedy="use fewer connections (-c)",
        ),
        *_tracked(demand),
    ]
    disk = None if demand.folder is None else psutil.disk_usage(str(_existing(demand.folder)))
    # One without blocks, such as /proc, says by itself what it takes.
    if disk and disk.total:
        findings.append(
            Finding(
                name="disk",
                needed=demand.trials * BYTES_PER_TRIAL,
                available=disk.free,
                unit="bytes of disk",
                remedy="free some, or name another folder (--results)",
            )
        )
    return findings


def threads_for(connections: int) -> int:
    """The fewest generator threads whose tables of descriptors hold so many connections.

    Where no number of them does, one: `check` then has the arithmetic.
    """
    limit = _descriptors()
    enough = (n for n in range(1, MOST_THREADS + 1) if _per_table(connections, n) <= limit)
    return next(enough, 1)


def copies_for(connections: int) -> int:
    """How many copies of a server hold so many connections, each in a process of its own."""
    return -(-connections // max(1, _descriptors() - SERVER_DESCRIPTORS))


def require(demand: Demand, *, engine_follows: bool = False) -> None:
    """Raises on what is short, all of it at once.

    `engine_follows`: the engine itself looks at its own limits next, and tells them all at once.
    """
    short = [one for one in check(demand) if not one.enough]
    if engine_follows:
        short = [one for one in short if one.name not in ENGINES_OWN]
    if short:
        lines, remedies = (one.line() for one in short), (one.remedy for one in short)
        raise UsageProblem("; ".join(lines), "; ".join(remedies))


def _per_table(connections: int, threads: int) -> int:
    """Descriptors in the table of each of so many threads."""
    own = SPARE_DESCRIPTORS + POLLER_DESCRIPTORS * threads
    return -(-connections // threads) + own


def _descriptors() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return int(sysctl("fs.nr_open") or 1 << 20)
    return soft


def _open_files(demand: Demand) -> list[Finding]:
    """Of all processes together; nothing where the limit doesn't bind us."""
    available = _files()
    if available is None:
        return []
    return [
        Finding(
            name="files",
            needed=demand.connections * (2 if demand.server_here else 1),
            available=available,
            unit="open files",
            remedy="use fewer connections (-c), or raise the machine's limit (sysctl fs.file-max)",
        )
    ]


def _tracked(demand: Demand) -> list[Finding]:
    """What a firewall's table must hold; nothing where it is surely enough, or tracks nothing."""
    needed = demand.connections + demand.fresh_connections
    if needed < FEW_TRACKED:
        return []
    table = tracking.table()
    if table is None:
        return []
    return [
        Finding(
            name="tracked connections",
            needed=needed,
            available=table.free,
            unit="tracked connections (nf_conntrack)",
            remedy=f"raise the kernel's table (sysctl -w {tracking.MOST}={2 * needed}), or take"
            " away the rules that have connections tracked (nft list ruleset shows them)",
        )
    ]


def _files() -> int | None:
    """How many more this machine can have open; None: its administrator is not bound by that."""
    if facts.administers():
        return None
    used, _unused, most = (int(field) for field in (sysctl("fs.file-nr") or f"0 0 {2**62}").split())
    return most - used


def _ports() -> int:
    first, last = (
        int(field) for field in (sysctl("net.ipv4.ip_local_port_range") or "1 0").split()
    )
    return last - first + 1


def _existing(folder: Path) -> Path:
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder

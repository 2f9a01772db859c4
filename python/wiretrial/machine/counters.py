"""Counters of the kernel: CPUs, links, TCP, and the memory that sockets take.

Knows the files under /proc and their units; must not know who asks or when. A counter that can't be
read is not there, and never 0.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from pathlib import Path

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
"""What CPU states are counted in."""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

CPU_STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""The columns of /proc/stat, in order."""

LINK_COLUMNS = {
    "received_bytes": 0,
    "received_packets": 1,
    "received_drops": 3,
    "sent_bytes": 8,
    "sent_packets": 9,
    "sent_drops": 11,
}

TCP_NAMES = {
    "received_segments": "Tcp.InSegs",
    "sent_segments": "Tcp.OutSegs",
    "retransmitted_segments": "Tcp.RetransSegs",
    "sent_resets": "Tcp.OutRsts",
    "timeouts": "TcpExt.TCPTimeouts",
    "delayed_acks": "TcpExt.DelayedACKs",
    "listen_overflows": "TcpExt.ListenOverflows",
    "listen_drops": "TcpExt.ListenDrops",
}
"""Our names, and the kernel's."""

SOCKET_SLABS = frozenset(
    {"TCP", "TCPv6", "sock_inode_cache", "request_sock_TCP", "request_sock_TCPv6"}
)
"""Caches whose objects live as long as a connection, or as its beginning."""


def cpu_times(cpus: Iterable[int]) -> dict[int | None, dict[str, int]]:
    """Nanoseconds in each state since the machine's start; under None, of all CPUs together."""
    wanted: dict[str, int | None] = {"cpu": None, **{f"cpu{cpu}": cpu for cpu in cpus}}
    found: dict[int | None, dict[str, int]] = {}
    for line in lines("/proc/stat"):
        name, *ticks = line.split()
        if not name.startswith("cpu"):
            break
        if name in wanted:
            found[wanted[name]] = {
                state: int(count) * TICK_NS for state, count in zip(CPU_STATES, ticks, strict=False)
            }
    return found


def link(pid: int, names: Iterable[str]) -> dict[str, int]:
    """Counters of interfaces, added up, in the network namespace of `pid`."""
    wanted = set(names)
    found: dict[str, int] = {}
    for interface, columns in _interfaces(pid).items():
        if interface in wanted:
            for name, column in LINK_COLUMNS.items():
                found[name] = found.get(name, 0) + columns[column]
    return found


def links(pid: int) -> tuple[str, ...]:
    """The interfaces in the network namespace of `pid`."""
    return tuple(_interfaces(pid))


def tcp(pid: int) -> dict[str, int]:
    """Counters of TCP in the network namespace of `pid`."""
    return {**_pairs(pid, "snmp", "Tcp"), **_pairs(pid, "netstat", "TcpExt")}


def tcp_memory_bytes() -> int | None:
    """What the buffers of all TCP sockets of the machine hold, all namespaces together."""
    pages = _sockstat(None).get("mem")
    return None if pages is None else pages * PAGE_BYTES


def tcp_sockets(pid: int) -> int | None:
    """TCP sockets in use in the network namespace of `pid`, those that listen included."""
    return _sockstat(pid).get("inuse")


def socket_slab_bytes() -> int | None:
    """Pages of the caches that hold TCP sockets themselves, machine-wide; only root may know."""
    total = None
    for line in lines("/proc/slabinfo"):
        fields = line.split() if "sock" in line or line.startswith("TCP") else ()
        if fields and fields[0] in SOCKET_SLABS:
            pages_per_slab, slabs = int(fields[5]), int(fields[fields.index("slabdata") + 2])
            total = (total or 0) + pages_per_slab * slabs * PAGE_BYTES
    return total


def same_namespace(pid: int) -> bool:
    """Whether `pid` is in our network namespace; where that can't be told, it counts as ours."""
    try:
        return Path(f"/proc/{pid}/ns/net").samefile("/proc/self/ns/net")
    except OSError:
        return True


def _interfaces(pid: int) -> dict[str, list[int]]:
    found = {}
    for line in lines(_net(pid, "dev")):
        name, colon, rest = line.partition(":")
        if colon:
            found[name.strip()] = [int(field) for field in rest.split()]
    return found


def _pairs(pid: int, name: str, group: str) -> dict[str, int]:
    """What we want of a file of pairs of lines: names, then numbers, each after the group."""
    read_lines = lines(_net(pid, name))
    for names, numbers in zip(read_lines[::2], read_lines[1::2], strict=False):
        if names.startswith(f"{group}: "):
            values = numbers.split()
            return {ours: int(values[column]) for ours, column in _columns(names, group)}
    return {}


@functools.cache
def _columns(names: str, group: str) -> tuple[tuple[str, int], ...]:
    """Where each of ours stands. The line is the kernel's own, the same every time."""
    there = {f"{group}.{name}": column for column, name in enumerate(names.split())}
    return tuple((ours, there[name]) for ours, name in TCP_NAMES.items() if name in there)


def _sockstat(pid: int | None) -> dict[str, int]:
    for line in lines(_net(pid, "sockstat")):
        group, _, rest = line.partition(":")
        if group == "TCP":
            words = rest.split()
            return {name: int(value) for name, value in zip(words[::2], words[1::2], strict=False)}
    return {}


def _net(pid: int | None, name: str) -> str:
    return f"/proc/{'self' if pid is None else pid}/net/{name}"


def lines(path: str) -> list[str]:
    """The lines of a small file of /proc; none where it can't be read."""
    try:
        return read(path).decode("ascii", "replace").splitlines()
    except OSError:
        return []


def read(path: str) -> bytes:
    """A small file of /proc, whole. Plain calls, because it is read many times a second."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        blocks = []
        while block := os.read(descriptor, 1 << 16):
            blocks.append(block)
        return b"".join(blocks)
    finally:
        os.close(descriptor)

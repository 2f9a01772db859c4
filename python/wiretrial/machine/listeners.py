"""Which processes of this machine listen where a load goes, or why that can't be told.

Knows the socket tables of this machine's network namespaces, and whose sockets they are; must not
know what becomes of the processes. Only root sees the processes of others and other namespaces.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import pwd
import socket
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from wiretrial.machine import counters
from wiretrial.plan import SECURE

ELSEWHERE = "it runs on another host, so look at its CPU there"
HIDDEN = (
    "it runs on another host, or in a network namespace of this one that only root may look into:"
    " run as root, or look at its CPU there"
)
NOBODY = (
    "no process in this network namespace listens on port {port}: where its port is forwarded, as"
    " to a container, load the address that it is forwarded to, or name the container with --server"
)
NOT_TOLD = "the process that listens on port {port} is not shown: run as root"
OF_ANOTHER = "it belongs to the user {user}: run as root, or as that user"

_INIT = 1

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class Found:
    """The server of an address: the roots of its process trees, or why there are none."""

    pids: tuple[int, ...] = ()
    unseen: str | None = None
    """Why its processes can't be watched, and what to do about it; None: they can."""


@dataclass(frozen=True)
class _Kind:
    """Sockets of one transport: the kernel's tables of them, and their state while they wait."""

    tables: tuple[str, ...]
    state: int


_STREAM = _Kind(("tcp", "tcp6"), 0x0A)
_DATAGRAM = _Kind(("udp", "udp6"), 0x07)
"""Without a peer of its own, as a server's are."""


@dataclass(frozen=True)
class _Socket:
    """A listening socket."""

    address: _Address
    user: int
    inode: int


def of_url(url: str, *, over_udp: bool = False) -> Found:
    """Who listens where a URL leads; `over_udp`: on the UDP port of that number."""
    return find(*place(url), over_udp=over_udp)


def of_addresses(url: str, addresses: Sequence[str], *, over_udp: bool = False) -> Found:
    """Who listens at these, each an `IP:PORT`, all together; where none is given, at the URL."""
    if not addresses:
        return of_url(url, over_udp=over_udp)
    found = [find(*place(f"//{address}"), over_udp=over_udp) for address in addresses]
    unseen = next((one.unseen for one in found if one.unseen), None)
    pids = dict.fromkeys(pid for one in found for pid in one.pids)
    return Found(unseen=unseen) if unseen else Found(pids=tuple(pids))


def place(url: str) -> tuple[str, int]:
    """The host and port of a URL."""
    parts = urlsplit(url)
    default = 443 if parts.scheme in SECURE else 80
    return parts.hostname or "", parts.port or default


def resolved(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a host, in the order in which they are tried; none for an unknown name."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def is_here(address: str) -> bool:
    """Whether this address is one of this machine's own, in our network namespace."""
    wanted = _address(address)
    return wanted.is_loopback or wanted in _own()


def is_local(host: str, port: int) -> bool:
    """Whether a server at `host` is reached over loopback: all its addresses are our own."""
    addresses = resolved(host, port)
    return bool(addresses) and all(is_here(address) for address in addresses)


def find(host: str, port: int, *, over_udp: bool = False) -> Found:
    """Who listens at the host's addresses: the first of them where somebody does decides."""
    kind = _DATAGRAM if over_udp else _STREAM
    addresses = [_address(one) for one in resolved(host, port)]
    if not addresses:
        return Found(unseen=f"the name {host} has no address here")
    ours = [one for one in addresses if one.is_loopback or one in _own()]
    for address in ours:
        if listening := _nearest(_listening("self", port, kind), address):
            return _owners(listening, port)
    if ours:
        return Found(unseen=NOBODY.format(port=port))
    hidden = False
    for pid in _other_namespaces():
        if pid is None:
            hidden = True
            continue
        for address in addresses:
            listening = _nearest(_listening(pid, port, kind), address)
            if listening and address in _local_to(pid):
                return _owners(listening, port)
    return Found(unseen=HIDDEN if hidden else ELSEWHERE)


def _owners(listening: Sequence[_Socket], port: int) -> Found:
    """The processes that hold one of these sockets, as the roots of their trees."""
    pids = _holders({one.inode for one in listening})
    if pids:
        return Found(pids=_roots(pids))
    users = {one.user for one in listening} - {os.geteuid()}
    if users:
        return Found(unseen=OF_ANOTHER.format(user=_name(min(users))))
    return Found(unseen=NOT_TOLD.format(port=port))


def _nearest(listening: Iterable[_Socket], address: _Address) -> list[_Socket]:
    """Those that the kernel hands a connection to this address: the exact ones before all."""
    exact: list[_Socket] = []
    any_of_kind: list[_Socket] = []
    any_at_all: list[_Socket] = []
    for one in listening:
        if one.address == address:
            exact.append(one)
        elif one.address.is_unspecified:
            (any_of_kind if one.address.version == address.version else any_at_all).append(one)
    # `::` takes connections over IPv4, too; 0.0.0.0 none over IPv6.
    return exact or any_of_kind or (any_at_all if address.version == 4 else [])


def _listening(pid: int | str, port: int, kind: _Kind) -> Iterator[_Socket]:
    """The sockets that listen on a port, in the network namespace of `pid`."""
    for table in kind.tables:
        for line in counters.lines(f"/proc/{pid}/net/{table}")[1:]:
            fields = line.split()
            address, _, number = fields[1].partition(":")
            if int(fields[3], 16) == kind.state and int(number, 16) == port:
                yield _Socket(_unpacked(address), int(fields[7]), int(fields[9]))


def _unpacked(text: str) -> _Address:
    """An address as the kernel prints it: words of the machine's own byte order, in hexadecimal."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    packed = struct.pack(f"={len(words)}I", *words)
    return _plain(ipaddress.ip_address(packed))


def _address(text: str) -> _Address:
    """An address of a person's or a resolver's; the zone of a link-local one is left out."""
    return _plain(ipaddress.ip_address(text.partition("%")[0]))


def _plain(address: _Address) -> _Address:
    """The same; an address of IPv4 that is written as one of IPv6 is the former."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _own() -> set[_Address]:
    """The addresses of our network namespace's interfaces."""
    kinds = (socket.AF_INET, socket.AF_INET6)
    return {
        _address(one.address)
        for interface in psutil.net_if_addrs().values()
        for one in interface
        if one.family in kinds
    }


def _local_to(pid: int) -> set[_Address]:
    """The addresses of the interfaces in another network namespace."""
    found: set[_Address] = set()
    last = ""
    for line in counters.lines(f"/proc/{pid}/net/fib_trie"):
        if "host LOCAL" in line:
            found.add(_address(last))
        elif "|--" in line:
            last = line.split()[-1]
    for line in counters.lines(f"/proc/{pid}/net/if_inet6"):
        found.add(_address(str(ipaddress.IPv6Address(int(line.split()[0], 16)))))
    return found


def _other_namespaces() -> Iterator[int | None]:
    """A process of each network namespace that is not ours; None where we may not look."""
    seen = {Path("/proc/self/ns/net").stat().st_ino}
    for pid in psutil.pids():
        try:
            inode = Path(f"/proc/{pid}/ns/net").stat().st_ino
        except PermissionError:
            yield None
            continue
        except OSError:
            continue
        if inode not in seen:
            seen.add(inode)
            yield pid


def _holders(inodes: set[int]) -> set[int]:
    """The processes with a descriptor of one of these sockets, as far as we may know them."""
    wanted = {f"socket:[{inode}]" for inode in inodes}
    pids = psutil.pids()
    found = {pid for pid in pids if not wanted.isdisjoint(_descriptors(f"/proc/{pid}"))}
    # Threads may have tables of their own.
    return found or {pid for pid in pids for one in _threads(pid) if not wanted.isdisjoint(one)}


def _threads(pid: int) -> Iterator[Iterator[str]]:
    """What the descriptors of each thread of a process stand for."""
    with contextlib.suppress(OSError):
        yield from (_descriptors(str(task)) for task in Path(f"/proc/{pid}/task").iterdir())


def _descriptors(folder: str) -> Iterator[str]:
    """What the descriptors of a process or thread stand for; nothing where we may not know."""
    with contextlib.suppress(OSError), os.scandir(f"{folder}/fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                yield str(Path(entry).readlink())


def _roots(pids: set[int]) -> tuple[int, ...]:
    """Those of which no ancestor is among them: the others are watched with their trees."""
    if len(pids) > 1:
        # It opens sockets for services that it starts, whose ancestor it is as everybody's.
        pids = pids - {_INIT}
    roots = []
    for pid in sorted(pids):
        with contextlib.suppress(psutil.NoSuchProcess):
            if not pids & {parent.pid for parent in psutil.Process(pid).parents()}:
                roots.append(pid)
    return tuple(roots)


@cache
def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)

"""A network namespace for a server, joined to ours by a veth pair; gone with its last process.

Knows links, addresses and the settings of a namespace; must not know what runs in it. It has no
name that could outlive us: a process of ours holds it, and that ends when we do, however that comes
about. The link goes with the namespace. Nothing that was here before is touched: our end of the
link is a new interface, and settings are made inside the namespace only.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wiretrial.closing import Closing
from wiretrial.errors import UsageProblem
from wiretrial.machine import facts, holder
from wiretrial.machine import steering as receiving
from wiretrial.machine.steering import Steering

ENVIRONMENT = "namespace"
"""The environment of scenarios whose server runs in one."""
STEERED = "veth-steered"
"""The same, where each side's own CPUs take in what comes to it."""
INTERFACE = "wire0"
"""The server's end of the link, inside."""
SERVER_ADDRESSES = range(1, 201)
"""Last bytes of the addresses inside, one for each copy of a server."""
OUR_ADDRESSES = range(201, 217)
"""Last bytes of our end's: one address alone runs out of ports where connections are not kept."""
PREFIX_BITS = 24
TRIES = 50
STEP_LIMIT_S = 10.0
_CONNECTING = threading.Lock()

INHERITED = tuple(
    name for name in facts.SYSCTLS if name.startswith("net.ipv4.") or name == "net.core.somaxconn"
)
"""Settings that a new namespace has afresh, and that a server must find as they are outside."""


class Held(Closing):
    """A namespace with nothing but its own loopback. A context manager: leaving it lets it go.

    `settings` are made beside those inherited. Raises `UsageProblem` where this machine or user
    allows none.
    """

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        outside = {name: facts.sysctl(name) for name in INHERITED}
        wanted = {**{name: value for name, value in outside.items() if value}, **(settings or {})}
        self._holder = subprocess.Popen(
            [sys.executable, "-I", "-S", holder.__file__]
            + [f"{name}={value}" for name, value in wanted.items()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            self.settings = self._wait_held(wanted)
            """Those that could be made."""
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """A process in it."""
        return self._holder.pid

    @property
    def file(self) -> Path:
        """What a process opens to enter."""
        return file_of(self.pid)

    def close(self) -> None:
        """Lets go of the namespace: it is taken away when the last process in it has ended."""
        for stream in (self._holder.stdin, self._holder.stdout, self._holder.stderr):
            assert stream is not None
            stream.close()
        try:
            self._holder.wait(STEP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._holder.kill()
            self._holder.wait()

    def _wait_held(self, wanted: Mapping[str, str]) -> dict[str, str]:
        """The settings that could be made, once the namespace is there."""
        assert self._holder.stdout is not None
        assert self._holder.stderr is not None
        left_out = []
        for line in self._holder.stdout:
            if line == holder.HELD:
                return {name: value for name, value in wanted.items() if name not in left_out}
            left_out.append(line.strip())
        said = self._holder.stderr.read().strip() or "it ended at once"
        raise refused(said)


class Namespace(Held):
    """A namespace with a link to ours, where a server is measured; the link goes with it.

    `copies` is the number of addresses inside. `steering`: who takes in what comes; None: whoever
    sent it.
    """

    interface: str
    """Our end of the link."""
    addresses: tuple[str, ...]
    """The server's, one for each copy."""
    sources: tuple[str, ...]
    """Ours."""
    mtu: int

    def __init__(
        self,
        copies: int = 1,
        settings: Mapping[str, str] | None = None,
        steering: Steering | None = None,
    ) -> None:
        if copies > len(SERVER_ADDRESSES):
            raise UsageProblem(
                f"{copies} copies need {copies} addresses, a namespace has {len(SERVER_ADDRESSES)}",
                "use fewer copies",
            )
        super().__init__(settings)
        self.steering = steering
        try:
            # Those of several threads look for a free network one after the other.
            with as_refusal(), _CONNECTING:
                self._connect(copies)
            if steering:
                receiving.here(self.interface, steering.ours)
                receiving.inside(self.pid, INTERFACE, steering.server)
        except BaseException:
            self.close()
            raise

    def _connect(self, copies: int) -> None:
        with routes_of(os.getpid()) as outside:
            network = free_network(outside)
            self.interface = new_interface()
            self.addresses = tuple(f"{network}.{last}" for last in SERVER_ADDRESSES[:copies])
            self.sources = tuple(f"{network}.{last}" for last in OUR_ADDRESSES)
            add_veth(outside, self.interface, INTERFACE, self.pid)
            bring_up(outside, self.interface, self.sources)
        with routes_of(self.pid) as inside:
            bring_up(inside, INTERFACE, self.addresses)
            (link,) = inside.get_links(ifname=INTERFACE)
            self.mtu = int(_attribute(link, "IFLA_MTU"))


@contextmanager
def as_refusal() -> Iterator[None]:
    """Turns what the kernel refuses into the line that says what to do."""
    from pyroute2.netlink.exceptions import NetlinkError

    try:
        yield
    except (NetlinkError, OSError) as error:
        raise refused(str(error)) from error


def file_of(pid: int) -> Path:
    """The file of a process's network namespace."""
    return Path(f"/proc/{pid}/ns/net")


def routes_of(pid: int) -> Any:
    """What makes and changes interfaces in the network namespace of `pid`; a context manager."""
    # Imported where it is needed: it takes a third of a second, and few runs need it.
    from pyroute2 import IPRoute, config

    # It forks to enter a namespace and ends that copy of us by SIGTERM, which must not run our
    # handlers there: they would clean up what is ours.
    config.disable_mp_signal = True
    return IPRoute() if pid == os.getpid() else IPRoute(netns=str(file_of(pid)))


def new_interface() -> str:
    """A name for an end of ours."""
    return f"wt{os.getpid():x}{random.randrange(0x1000):03x}"


def add_veth(routes: Any, interface: str, peer: str, pid: int) -> None:
    """A veth pair, born with one end in the namespace of `pid`, so that it can't outlive that."""
    routes.link("add", ifname=interface, kind="veth", peer={"ifname": peer, "net_ns_pid": pid})


def bring_up(routes: Any, interface: str, addresses: Sequence[str], **attributes: int) -> None:
    """Gives an interface its addresses and attributes, and sets it up."""
    (index,) = routes.link_lookup(ifname=interface)
    for address in addresses:
        routes.addr("add", index=index, address=address, prefixlen=PREFIX_BITS)
    routes.link("set", index=index, state="up", **attributes)


def free_network(routes: Any) -> str:
    """The first three bytes of a network that no interface there is in.

    They are from 198.18.0.0/15, which RFC 2544 sets aside for measurements.
    """
    taken = (_attribute(address, "IFA_ADDRESS") for address in routes.get_addr())
    used = {address.rpartition(".")[0] for address in taken if address}
    for _ in range(TRIES):
        network = f"198.{random.choice((18, 19))}.{random.randrange(256)}"
        if network not in used:
            return network
    raise refused("every network of 198.18.0.0/15 that was tried is in use")


def _attribute(message: Any, name: str) -> Any:
    return message.get_attr(name)


def refused(reason: str) -> UsageProblem:
    """Says that this machine or user allows none."""
    return UsageProblem(
        f"no network namespace can be made here: {reason}",
        "run it as root or under `unshare --user --map-root-user --net`, or measure over loopback",
    )

"""Several network namespaces on one bridge, as hosts of one network: for trials of what needs many.

Knows links, addresses and queues; must not know what runs there. The bridge stands in a namespace
of its own, one port of it is ours; all of it goes with the processes that hold it. Ports can be cut
and slowed, which hits what goes to the host.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from wiretrial.errors import UsageProblem
from wiretrial.machine import namespaces
from wiretrial.machine.namespaces import Held

BRIDGE = "bridge0"
MOST_HOSTS = 99
OUR_ADDRESS = 201
"""Last byte of ours."""
SLOW_BURST_BYTES = 3000
"""Two packets: less would let none through."""


@dataclass(frozen=True)
class NetworkHost:
    """One host: its address, and a process that holds its namespace."""

    name: str
    address: str
    held: Held
    port: str
    """Its port of the bridge."""


class Network:
    """So many hosts, and this machine, on one bridge. A context manager.

    Raises `UsageProblem` where this machine or user allows no namespaces, or no bridge.
    """

    def __init__(self, hosts: int) -> None:
        if not 1 <= hosts <= MOST_HOSTS:
            raise UsageProblem(f"{hosts} hosts", f"use 1 to {MOST_HOSTS}")
        self.hosts: tuple[NetworkHost, ...] = ()
        self.address = ""
        """Ours."""
        self._wanted = hosts
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack, namespaces.as_refusal():
            self._switch = stack.enter_context(Held())
            with namespaces.routes_of(os.getpid()) as ours:
                network = namespaces.free_network(ours)
                self.address = f"{network}.{OUR_ADDRESS}"
                with namespaces.routes_of(self._switch.pid) as switch:
                    switch.link("add", ifname=BRIDGE, kind="bridge")
                    bridge = _index(switch, BRIDGE)
                    switch.link("set", index=bridge, state="up")
                    interface = namespaces.new_interface()
                    namespaces.add_veth(ours, interface, "ours", self._switch.pid)
                    namespaces.bring_up(ours, interface, [self.address])
                    _join(switch, bridge, "ours")
                    self.hosts = tuple(
                        self._add(stack, switch, bridge, number, f"{network}.{number}")
                        for number in range(1, self._wanted + 1)
                    )
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def cut(self, host: NetworkHost) -> None:
        """Takes the host's cable out: nothing goes either way, and nobody is told."""
        self._set(host, "down")

    def mend(self, host: NetworkHost) -> None:
        """Puts it in again."""
        self._set(host, "up")

    def slow(self, host: NetworkHost, bits_per_second: int, queue_bytes: int = 50_000) -> None:
        """Lets so little through to the host from now on; what has no room in the queue is lost."""
        with namespaces.as_refusal(), namespaces.routes_of(self._switch.pid) as switch:
            switch.tc(
                "add",
                "tbf",
                _index(switch, host.port),
                rate=bits_per_second // 8,
                burst=SLOW_BURST_BYTES,
                limit=queue_bytes,
            )

    def _set(self, host: NetworkHost, state: str) -> None:
        with namespaces.as_refusal(), namespaces.routes_of(self._switch.pid) as switch:
            switch.link("set", index=_index(switch, host.port), state=state)

    def _add(
        self, stack: ExitStack, switch: Any, bridge: int, number: int, address: str
    ) -> NetworkHost:
        held = stack.enter_context(Held())
        port = f"port{number}"
        namespaces.add_veth(switch, port, namespaces.INTERFACE, held.pid)
        with namespaces.routes_of(held.pid) as inside:
            namespaces.bring_up(inside, namespaces.INTERFACE, [address])
        _join(switch, bridge, port)
        return NetworkHost(f"host{number}", address, held, port)


def _join(switch: Any, bridge: int, port: str) -> None:
    """Makes an interface a port of the bridge."""
    switch.link("set", index=_index(switch, port), master=bridge)
    switch.link("set", index=_index(switch, port), state="up")


def _index(routes: Any, interface: str) -> int:
    (index,) = routes.link_lookup(ifname=interface)
    return int(index)

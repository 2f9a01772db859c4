"""Which hosts a fleet has: one agent each, of our version, with an engine that fits.

Knows how workers become hosts, and what each must have; must not know what is run there.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wiretrial import __version__
from wiretrial.errors import FleetFailed
from wiretrial.fleet import agent, security
from wiretrial.fleet.agent import Described
from wiretrial.fleet.wire import Unreachable, Wire

WAIT_S = 120.0
"""How long a number of hosts that was asked for is waited for."""
PAUSE_S = 0.5
SEND_ENGINE_S = 60.0


@dataclass(frozen=True)
class Host:
    """A host of the fleet, and the worker on it that is its agent."""

    name: str
    address: str
    described: Described


async def find(wire: Wire, engine: Path, wanted: int | None = None) -> tuple[Host, ...]:
    """The hosts, in the order of their names; `wanted` are waited for, None: those that are there.

    A host with another version, or without an engine although it was sent ours, is refused, and so
    is one that others can reach without a certificate. Raises `FleetFailed`, `UsageProblem`.
    """
    hosts = await _wait(wire, wanted)
    for host in hosts:
        require_safe(host)
    _require_version(hosts)
    lacking = [host for host in hosts if host.described.engine]
    if lacking:
        await _send_engine(wire, engine, lacking)
    return hosts


def grouped(answers: Mapping[str, Described | BaseException]) -> tuple[Host, ...]:
    """One host for each machine's address, with the first of its workers that answers."""
    found: dict[str, Host] = {}
    for address in sorted(answers):
        answer = answers[address]
        name = host_of(address)
        if isinstance(answer, Described):
            found.setdefault(name, Host(name, address, answer))
    return tuple(found[name] for name in sorted(found, key=_order))


def host_of(address: str) -> str:
    """The host in a worker's address."""
    return urlsplit(address).hostname or address


def require_safe(host: Host) -> None:
    """Raises `UsageProblem` where anybody who reaches an agent may run code on it."""
    scheme = urlsplit(host.address).scheme
    if scheme != security.SECURE and not security.is_loopback(host.name):
        raise security.refused(f"the agent at {host.address}")


def sharing(hosts: Iterable[Host]) -> list[str]:
    """Names of hosts that are the same machine as one before them."""
    seen: set[str] = set()
    found = []
    for host in hosts:
        if host.described.boot in seen:
            found.append(host.name)
        seen.add(host.described.boot)
    return found


async def _wait(wire: Wire, wanted: int | None) -> tuple[Host, ...]:
    deadline = time.monotonic() + WAIT_S
    while True:
        answers = await wire.ask_all(agent.describe)
        hosts = grouped(answers)
        waits = wanted is not None and time.monotonic() < deadline
        _require_answers(answers, hosts, patient=waits)
        if hosts and len(hosts) >= (wanted or 1):
            return hosts[:wanted]
        if not waits:
            raise FleetFailed(
                f"{len(hosts)} of {wanted} agents have joined"
                if wanted
                else f"no agent has joined the scheduler at {wire.address}",
                "start them with `wiretrial fleet agent ADDRESS` on each host",
            )
        await asyncio.sleep(PAUSE_S)


def _require_answers(
    answers: Mapping[str, Described | BaseException], hosts: Iterable[Host], *, patient: bool
) -> None:
    """Raises for a host none of whose workers answers as an agent does; `patient`: it may yet."""
    good = {host.name for host in hosts}
    for address, answer in sorted(answers.items()):
        if not isinstance(answer, BaseException) or host_of(address) in good:
            continue
        if isinstance(answer, ImportError):
            raise FleetFailed(
                f"the worker at {address} can't be an agent: {answer}",
                f"pip install 'wiretrial[fleet]=={__version__}' there",
            )
        if not patient:
            raise FleetFailed(
                f"the worker at {address} does not answer: {answer}",
                "check its log and the network",
            )


def _require_version(hosts: Iterable[Host]) -> None:
    for host in hosts:
        if host.described.version != __version__:
            raise FleetFailed(
                f"{host.name} has wiretrial {host.described.version}, this is {__version__}",
                "install the same version on every host",
            )


async def _send_engine(wire: Wire, engine: Path, hosts: Iterable[Host]) -> None:
    """Gives our engine to hosts that have none that fits."""
    data = await asyncio.to_thread(engine.read_bytes)
    digest = hashlib.sha256(data).hexdigest()
    for host in hosts:
        try:
            problem = await wire.ask(host.address, SEND_ENGINE_S, agent.keep_engine, data, digest)
        except Unreachable as error:
            problem = str(error)
        if problem:
            raise FleetFailed(
                f"{host.name} has no engine ({host.described.engine}), and ours does not work there"
                f" ({problem})",
                f"install wiretrial {__version__} on it",
            )


def _order(name: str) -> tuple[tuple[int, str], ...]:
    """Numbers by their value: 10.0.0.9 stands before 10.0.0.10."""
    parts = name.replace(":", ".").split(".")
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)

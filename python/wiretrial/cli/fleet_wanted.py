"""The fleet that a load or a study runs on: what was typed about it, checked, and its engine.

Knows words and flags; must not know how a fleet is led.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from wiretrial import quantities
from wiretrial.cli import output
from wiretrial.cli.options import Fleet, OnAgentLoss
from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.fleet.security import Address, Certificates
from wiretrial.results.fleet import OnLoss


@dataclass(frozen=True)
class FleetWanted:
    """What the flags say, checked as far as no connection is needed."""

    address: Address
    certificates: Certificates | None
    agents: int | None
    on_loss: OnLoss
    words: tuple[str, ...] = ()
    """The flags themselves, to be repeated where a study is gone on with."""

    @classmethod
    def of(cls, typed: Fleet) -> FleetWanted | None:
        """None: the load is this machine's alone. Raises `UsageProblem`."""
        given = {
            "--fleet-certificates": typed.certificates,
            "--fleet-agents": typed.agents,
            "--on-agent-loss": typed.on_loss,
        }
        words = {flag: str(value) for flag, value in given.items() if value is not None}
        if typed.address is None:
            for flag in words:
                raise UsageProblem(f"{flag} is for fleets", "add --fleet ADDRESS")
            return None
        files = Certificates(typed.certificates) if typed.certificates else None
        address = Address.parse(typed.address, secure=files is not None)
        if files:
            files.require("client")
        agents = typed.agents
        return cls(
            address,
            files,
            None if agents is None else quantities.count(agents, "--fleet-agents", most=10_000),
            "go-on" if typed.on_loss is OnAgentLoss.GO_ON else "stop",
            ("--fleet", typed.address, *(word for pair in words.items() for word in pair)),
        )


@contextmanager
def engine(wanted: FleetWanted | None, *, keeps_cpus: bool = False) -> Iterator[Engine]:
    """This machine's engine, or the fleet that is wanted."""
    if wanted is None:
        yield Engine.find()
        return
    # Not at the top: what it needs is an extra.
    from wiretrial.fleet import engine as fleet_engine

    with fleet_engine.connected(
        wanted.address,
        wanted.certificates,
        agents=wanted.agents,
        on_loss=wanted.on_loss,
        keeps_cpus=keeps_cpus,
    ) as found:
        names = ", ".join(host.name for host in found.hosts[:8])
        more = f" and {len(found.hosts) - 8} more" if len(found.hosts) > 8 else ""
        output.say(f"fleet of {len(found.hosts)}: {names}{more}")
        yield found

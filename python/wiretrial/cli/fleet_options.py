"""The flags by which a load or a study runs on many machines.

Knows words and flags; must not know how a fleet is led.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wiretrial import quantities
from wiretrial.cli import output
from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.fleet.security import Address, Certificates
from wiretrial.results.fleet import OnLoss


class OnAgentLoss(StrEnum):
    """What the others do when an agent is lost."""

    STOP = "stop"
    GO_ON = "go-on"


Fleet = Annotated[
    str | None,
    typer.Option(
        "--fleet",
        metavar="ADDRESS",
        help="Send from the agents of this Dask scheduler: tls://HOST:8786.",
        show_default=False,
    ),
]
FleetCertificates = Annotated[
    Path | None,
    typer.Option(
        "--fleet-certificates",
        metavar="DIR",
        help="Folder with authority.pem, client.pem and client.key (`fleet certificates`).",
        show_default=False,
    ),
]
FleetAgents = Annotated[
    str | None,
    typer.Option(
        "--fleet-agents",
        metavar="N",
        help="Wait until N agents are connected. [use those connected]",
        show_default=False,
    ),
]
AgentLoss = Annotated[
    OnAgentLoss | None,
    typer.Option(
        "--on-agent-loss",
        help="What the other agents do when one is lost. [stop]",
        show_default=False,
    ),
]


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
    def of(
        cls,
        fleet: str | None,
        certificates: Path | None,
        agents: str | None,
        on_loss: OnAgentLoss | None,
    ) -> FleetWanted | None:
        """None: the load is this machine's alone. Raises `UsageProblem`."""
        given = {
            "--fleet-certificates": certificates,
            "--fleet-agents": agents,
            "--on-agent-loss": on_loss,
        }
        words = {flag: str(value) for flag, value in given.items() if value is not None}
        if fleet is None:
            for flag in words:
                raise UsageProblem(f"{flag} is for fleets", "add --fleet ADDRESS")
            return None
        files = Certificates(certificates) if certificates else None
        address = Address.parse(fleet, secure=files is not None)
        if files:
            files.require("client")
        return cls(
            address,
            files,
            None if agents is None else quantities.count(agents, "--fleet-agents", most=10_000),
            "go-on" if on_loss is OnAgentLoss.GO_ON else "stop",
            ("--fleet", fleet, *(word for pair in words.items() for word in pair)),
        )


@contextmanager
def engine(wanted: FleetWanted | None, *, keeps_cpus: bool = False) -> Iterator[Engine]:
    """This machine's engine, or the fleet that is wanted."""
    if wanted is None:
        yield Engine.find()
        return
    # Not at the top: what it needs is an extra, and takes longer to load than most commands take.
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

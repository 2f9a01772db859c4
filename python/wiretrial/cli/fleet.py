"""`wiretrial fleet`: certificates, scheduler, agents, and what a fleet has."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wiretrial.cli import fleet_demo, fleet_options, output
from wiretrial.cli.fleet_options import FleetWanted
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.fleet import authority, clocks, commands, security
from wiretrial.fleet.security import Address, Certificates
from wiretrial.results.fleet import Clock

EXAMPLES = """\b
Examples:
  wiretrial fleet certificates certs
  wiretrial fleet scheduler --host 0.0.0.0 --certificates certs
  wiretrial fleet agent tls://10.0.0.1:8786 --certificates certs
  wiretrial fleet status tls://10.0.0.1:8786 --fleet-certificates certs
  wiretrial load ws://10.0.0.9:9001 -c 300k --fleet tls://10.0.0.1:8786 --fleet-certificates certs
  wiretrial fleet demo

Anyone who can talk to the scheduler can run code on every agent: keep the certificates secret.
"""

CLOCK_SAMPLES = 16
CLOCK_S = 4.0
STATUS_S = 180.0

app = typer.Typer(
    help="Send one load from many machines, through Dask.distributed.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    no_args_is_help=True,
)

CertificatesOption = Annotated[
    Path | None,
    typer.Option(
        "--certificates",
        metavar="DIR",
        help="Folder that `fleet certificates` made; required beyond this machine.",
        show_default=False,
    ),
]


@app.command("certificates", short_help="Make certificates for a fleet's three roles.")
def certificates(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to create.")],
) -> int:
    """Make an authority and certificates for scheduler, agents and client.

    Each role needs authority.pem and its own two files; keys are readable by their owner alone.
    """
    made = authority.make(folder)
    for role in security.ROLES:
        names = f"{made.authority.name} {made.chain(role).name} {made.key(role).name}"
        output.emit(f"{role:<10} {names}", None)
    output.emit("anyone with one of these keys can run code on every agent", None)
    return EXIT_GOOD


@app.command("scheduler", short_help="Run a fleet's scheduler on this machine.")
def scheduler(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")
    ] = security.DEFAULT_PORT,
    files: CertificatesOption = None,
) -> int:
    """Run a fleet's Dask scheduler on this machine until Ctrl-C."""
    given = _given(files, "scheduler")
    if given is None and not security.is_loopback(host):
        raise security.refused(f"--host {host}")
    scheme = security.SECURE if given else security.PLAIN
    return _become(commands.scheduler(Address(scheme, host, port), given))


@app.command("agent", short_help="Make this machine an agent.")
def agent(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Scheduler: tls://HOST:8786.")],
    files: CertificatesOption = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of this agent in Dask's lists."),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="ADDRESS", help="Address of this machine to use, if it has several."
        ),
    ] = None,
) -> int:
    """Run an agent of the fleet of this scheduler, until the scheduler ends or Ctrl-C."""
    given = _given(files, "agent")
    # An agent without an engine gets one; who has one says so at once if it does not fit.
    return _become(
        commands.agent(
            Address.parse(address, secure=given is not None), given, name=name, host=host
        )
    )


@app.command("status", short_help="Show a fleet's hosts.")
def status(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Scheduler: tls://HOST:8786.")],
    fleet_certificates: fleet_options.FleetCertificates = None,
    fleet_agents: fleet_options.FleetAgents = None,
    format_: Annotated[
        output.Format, typer.Option("--format", help="How the result is written.")
    ] = output.Format.TEXT,
) -> int:
    """Show each host: what load it can carry, and the error of its clock."""
    wanted = FleetWanted.of(address, fleet_certificates, fleet_agents, None)
    assert wanted is not None
    rows = _asked(wanted)
    if format_ is output.Format.JSON:
        document = {
            "schema": "wiretrial-fleet",
            "version": 1,
            "scheduler": str(wanted.address),
            "hosts": [row.document() for row in rows],
        }
        output.emit(output.as_json(document), None)
        return EXIT_GOOD
    for row in rows:
        output.emit(row.line(), None)
    return EXIT_GOOD


@app.command("demo", short_help="Load one server from three agents in three namespaces.")
def demo(
    connections: Annotated[
        str, typer.Option("-c", "--connections", metavar="N", help="Connections in all.")
    ] = "60",
    requests: Annotated[
        str, typer.Option("-n", "--requests", metavar="N", help="Messages in all.")
    ] = "20k",
    rate: Annotated[
        str, typer.Option("--rate", metavar="R", help="Messages per second in all.")
    ] = "4k",
) -> int:
    """Load a server from three agents, and from this machine alone; check that the results agree.

    The agents run in network namespaces on one bridge, with mutual TLS: this needs root.
    """
    return fleet_demo.run(connections, requests, rate)


@dataclass(frozen=True)
class _Row:
    """One host."""

    name: str
    host: str
    cpus: int
    descriptors: int
    memory_bytes: int
    clock: Clock
    shares: bool

    def line(self) -> str:
        """As one line."""
        also = "   on the same machine as another" if self.shares else ""
        return (
            f"{self.name:<16} {self.host:<20} {self.cpus:>3} CPUs"
            f" {self.descriptors:>9,} descriptors {self.memory_bytes / 2**30:>6.1f} GiB free"
            f"   clock known within {self.clock.error_ns / 1e6:.2f} ms{also}"
        )

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.name,
            "host": self.host,
            "cpus": self.cpus,
            "descriptors": self.descriptors,
            "memory_bytes": self.memory_bytes,
            "clock": self.clock.model_dump(),
            "shares_machine": self.shares,
        }


def _asked(wanted: FleetWanted) -> list[_Row]:
    from wiretrial.fleet import agent as remote
    from wiretrial.fleet import hosts
    from wiretrial.fleet.wire import Wire

    async def clock(wire: Wire, address: str) -> Clock:
        samples = []
        for _ in range(CLOCK_SAMPLES):
            asked = time.monotonic_ns()
            told = await wire.ask(address, CLOCK_S, remote.clock)
            samples.append(clocks.Sample(asked, told, time.monotonic_ns()))
        return clocks.clock(samples)

    engine = Engine.find()
    with Wire(wanted.address, wanted.certificates) as wire:
        found = wire.call(hosts.find(wire, engine.binary, wanted.agents), STATUS_S)
        shared = hosts.sharing(found)
        return [
            _Row(
                name=host.name,
                host=host.described.host,
                cpus=len(host.described.cpus),
                descriptors=host.described.descriptors,
                memory_bytes=host.described.memory_bytes,
                clock=wire.call(clock(wire, host.address), STATUS_S),
                shares=host.name in shared,
            )
            for host in found
        ]


def _given(folder: Path | None, role: str) -> Certificates | None:
    if folder is None:
        return None
    found = Certificates(folder)
    found.require(role)
    return found


def _become(command: list[str]) -> int:
    """Turns this process into another program; returns only where that is refused."""
    commands.require_dask()
    sys.stdout.flush()
    try:
        os.execve(command[0], command, commands.environment())
    except OSError as error:
        raise UsageProblem(f"{command[0]}: {error.strerror}", "reinstall wiretrial") from error

"""`wiretrial fleet`: certificates, scheduler, agents, and what a fleet has.

Knows the options; must not know how a fleet is led.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import options
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face
from wiretrial.fleet.security import DEFAULT_PORT

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

app = Face(EXAMPLES)

CertificatesOption = Annotated[
    Path | None,
    typer.Option(
        "--certificates",
        metavar="DIR",
        help="Folder that `fleet certificates` made; required beyond this machine.",
        show_default=False,
    ),
]


@app.add("certificates", "Make certificates for a fleet's three roles.")
def certificates(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to create.")],
) -> int:
    """Make an authority and certificates for scheduler, agents and client.

    Each role needs authority.pem and its own two files; keys are readable by their owner alone.
    """
    from wiretrial.cli import fleet_roles

    return fleet_roles.certificates(folder)


@app.add("scheduler", "Run a fleet's scheduler on this machine.")
def scheduler(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")
    ] = DEFAULT_PORT,
    files: CertificatesOption = None,
) -> int:
    """Run a fleet's Dask scheduler on this machine until Ctrl-C."""
    from wiretrial.cli import fleet_roles

    return fleet_roles.scheduler(host, port, files)


@app.add("agent", "Make this machine an agent.")
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
    from wiretrial.cli import fleet_roles

    return fleet_roles.agent(address, files, name=name, host=host)


@app.add("status", "Show a fleet's hosts.")
def status(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Scheduler: tls://HOST:8786.")],
    fleet_certificates: options.FleetCertificates = None,
    fleet_agents: options.FleetAgents = None,
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """Show each host: what load it can carry, and the error of its clock."""
    from wiretrial.cli import fleet_status

    typed = options.Fleet(address, fleet_certificates, fleet_agents, None)
    return fleet_status.show(typed, format_)


@app.add("demo", "Load one server from three agents in three namespaces.")
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
    from wiretrial.cli import fleet_demo

    return fleet_demo.run(connections, requests, rate)

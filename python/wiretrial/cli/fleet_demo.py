"""`wiretrial fleet demo`: three agents in three namespaces against one machine, on one server.

Knows what must come out equal; must not know how a fleet is led.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from wiretrial import quantities
from wiretrial.cli import fleet_wanted, output
from wiretrial.cli.fleet_wanted import FleetWanted
from wiretrial.cli.live import Live
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD
from wiretrial.fleet import authority, commands, own, security
from wiretrial.fleet.security import Address, Certificates
from wiretrial.machine import facts
from wiretrial.machine.hosts import Network
from wiretrial.plan import (
    GeneratorSettings,
    Load,
    Message,
    OpenLoop,
    Phases,
    Plan,
    SequencePayload,
    Stop,
    Target,
)
from wiretrial.report import load_lines
from wiretrial.results import hdr
from wiretrial.results.model import Scenario, Trial
from wiretrial.studies import sent
from wiretrial.studies.recording import Recording

AGENTS = 3
PAYLOAD_BYTES = 20


def run(connections: str, requests: str, rate: str) -> int:
    """The whole demonstration; the exit code says whether both came out equal."""
    commands.require_dask()
    plan = Plan(
        target=Target(url="", message=Message(source=SequencePayload(bytes=PAYLOAD_BYTES))),
        load=Load(
            connections=quantities.count(connections, "--connections"),
            executor=OpenLoop(rate=quantities.rate(rate, "--rate")),
        ),
        stop=Stop(requests=quantities.count(requests, "--requests", most=2**40)),
        phases=Phases(),
        generator=GeneratorSettings(),
    )
    engine = Engine.find()
    with ExitStack() as stack:
        network = stack.enter_context(Network(AGENTS))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wiretrial-fleet-")))
        url = stack.enter_context(own.serving(engine, network.address))
        wanted = stack.enter_context(fleet_of(network, authority.make(folder / "certificates")))
        asked = plan.model_copy(update={"target": plan.target.model_copy(update={"url": url})})
        with fleet_wanted.engine(wanted) as fleet:
            many = measure(fleet, asked)
        # One machine with as many threads as all agents together: the same split of the load.
        threads = GeneratorSettings(threads=AGENTS)
        one = measure(engine, asked.model_copy(update={"generator": threads}))
    width, colour = output.width(), output.colour(sys.stdout)
    output.emit(load_lines.render(many, width=width, colour=colour), None)
    output.emit(f"\n{'':<34}{'three agents':>16}{'one machine':>16}", None)
    unequal = 0
    for name, left, right in compared(many, one):
        unequal += left != right
        mark = "" if left == right else "   differs"
        output.emit(f"{name:<34}{left:>16,}{right:>16,}{mark}", None)
    output.emit("\nequal" if not unequal else f"\n{unequal} figures differ", None)
    return EXIT_FAILED if unequal else EXIT_GOOD


def compared(many: Trial, one: Trial) -> Iterator[tuple[str, int, int]]:
    """What must be equal, whatever the machines: each figure of both."""

    def of(trial: Trial) -> dict[str, int]:
        summary = trial.summary
        found = {
            "connections opened": summary.connections.opened,
            "messages sent": summary.counters.sent,
            "replies verified": summary.counters.ok,
            "errors": sum(summary.counters.errors.values()),
            "in flight at the end": summary.counters.in_flight,
            "payload bytes sent": summary.bytes.payload_sent,
            "payload bytes received": summary.bytes.payload_received,
            "bytes sent": summary.bytes.application_sent,
            "bytes received": summary.bytes.application_received,
            "worker threads": trial.start.threads,
        }
        for name in sorted(summary.histograms):
            found[f"values of {name}"] = hdr.decode(summary.histograms[name]).count
        inside = sum(interval.counters.ok for interval in trial.intervals)
        return {**found, "replies in intervals": inside}

    left, right = of(many), of(one)
    for name in {**left, **right}:
        yield name, left.get(name, 0), right.get(name, 0)


def measure(engine: Engine, plan: Plan) -> Trial:
    """One run, recorded."""
    with (
        Recording(engine, plan) as recording,
        Live.for_plan(plan, further=recording.progress) as live,
    ):
        for snapshot in recording:
            live.see(snapshot)
    scenario = Scenario(name=plan.target.url, subject="reference", protocol="ws", workload="echo")
    return sent.record(recording.sent("network"), scenario, "fleet demo", facts.collect())


@contextmanager
def fleet_of(network: Network, certificates: Certificates) -> Iterator[FleetWanted]:
    """A scheduler at our own port of the network, and an agent on each host of it."""
    address = Address(security.SECURE, network.address, own.free_port(network.address))
    with ExitStack() as stack:
        stack.enter_context(own.scheduling(address, certificates))
        for host in network.hosts:
            command = commands.agent(address, certificates, name=host.name, host=host.address)
            stack.enter_context(own.started(command, namespace=host.held.file))
        yield FleetWanted(address, certificates, len(network.hosts), "stop")

"""A fleet in the place of an engine: whoever has a plan run on one machine has it run on many.

Knows how a fleet is reached and how fine its intervals may be; must not know what runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from wiretrial.engine import Engine, Run
from wiretrial.fleet import hosts, security
from wiretrial.fleet.hosts import Host
from wiretrial.fleet.run import FleetRun
from wiretrial.fleet.security import Address, Certificates
from wiretrial.fleet.wire import Wire
from wiretrial.plan import Plan
from wiretrial.results.fleet import OnLoss

FIND_S = hosts.WAIT_S + hosts.SEND_ENGINE_S
MOST_INTERVALS = 20_000
"""Of all agents of a run: each brings histograms to be kept, and to be added."""
MOST_PER_SECOND = 200
"""Of all agents: adding a histogram takes a few tenths of a millisecond."""
STEP_NS = 100_000_000
LONGEST_INTERVAL_NS = 1_000_000_000


class FleetEngine(Engine):
    """Runs plans on all hosts of a fleet at once. Made by `connected`."""

    def __init__(
        self,
        own: Engine,
        wire: Wire,
        found: Sequence[Host],
        *,
        on_loss: OnLoss,
        keeps_cpus: bool,
    ) -> None:
        super().__init__(own.binary)
        self.hosts = tuple(found)
        self._wire = wire
        self._on_loss: OnLoss = on_loss
        self._keeps_cpus = keeps_cpus
        first = self.hosts[0].name
        # Servers of ours listen where the agents are, which may be this machine alone.
        here = all(security.is_loopback(host.name) for host in self.hosts)
        self.server_host = None if here else security.own_address_towards(first)

    def run(self, plan: Plan) -> Run:
        """Starts a run; `generator` is that of each agent. Raises `UsageProblem`."""
        generator = plan.generator
        if not self._keeps_cpus:
            # They were chosen for this machine.
            generator = generator.model_copy(update={"cpus": ()})
        phases = plan.phases.model_copy(update={"interval_ns": interval_ns(plan, len(self.hosts))})
        here = security.is_loopback(urlsplit(plan.target.url).hostname or "")
        target = plan.target
        if not here:
            # Addresses of loopback were meant for a server on this machine.
            kept = tuple(one for one in target.sources if not security.is_loopback(one))
            target = target.model_copy(update={"sources": kept})
        shared = plan.model_copy(
            update={"generator": generator, "phases": phases, "target": target}
        )
        return FleetRun(self._wire, self.hosts, shared, on_loss=self._on_loss, server_here=here)


@contextmanager
def connected(
    address: Address,
    certificates: Certificates | None,
    *,
    agents: int | None = None,
    on_loss: OnLoss = "stop",
    keeps_cpus: bool = False,
) -> Iterator[FleetEngine]:
    """The fleet whose scheduler listens there; `agents` are waited for, None: those there are.

    Raises `FleetFailed` or `UsageProblem` where it can't be reached or is not fit.
    """
    own = Engine.find()
    if certificates:
        certificates.require("client")
    with Wire(address, certificates) as wire:
        found = wire.call(hosts.find(wire, own.binary, agents), FIND_S)
        yield FleetEngine(own, wire, found, on_loss=on_loss, keeps_cpus=keeps_cpus)


def interval_ns(plan: Plan, agents: int) -> int:
    """How long a fleet's intervals are: the plan's, or longer where many agents tell for long."""
    length = (plan.stop.duration_ns or 0) + plan.phases.warmup_ns
    fewest = max(agents * length / MOST_INTERVALS, agents * 1e9 / MOST_PER_SECOND)
    stepped = math.ceil(fewest / STEP_NS) * STEP_NS
    return max(plan.phases.interval_ns, min(stepped, LONGEST_INTERVAL_NS))

"""Shows a fleet's hosts: what load each can carry, and how well its clock is known.

Knows what is asked of an agent; must not know how a load is sent.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from wiretrial.cli import output
from wiretrial.cli.fleet_wanted import FleetWanted
from wiretrial.cli.options import Fleet
from wiretrial.cli.output import Format
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD
from wiretrial.fleet import clocks
from wiretrial.results.fleet import Clock

CLOCK_SAMPLES = 16
CLOCK_S = 4.0
STATUS_S = 180.0


def show(fleet: Fleet, format_: Format) -> int:
    """Shows each host."""
    wanted = FleetWanted.of(fleet)
    assert wanted is not None
    rows = _asked(wanted)
    if format_ is Format.JSON:
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

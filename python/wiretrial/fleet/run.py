"""A run on many machines that looks like a run on one: snapshots in, `stop`, `close`.

Knows the conductor's events and how snapshots are merged; must not know how agents are reached. It
also tells what each agent did.
"""

from __future__ import annotations

import contextlib
import queue
import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

from wiretrial import engine, words
from wiretrial.closing import Closing
from wiretrial.errors import FleetFailed, UsageProblem
from wiretrial.fleet import conductor, split
from wiretrial.fleet.conductor import Conductor, Event
from wiretrial.fleet.hosts import Host
from wiretrial.fleet.merge import Merge
from wiretrial.fleet.wire import Wire
from wiretrial.plan import Plan
from wiretrial.results.fleet import Agent, Fleet, Loss, OnLoss
from wiretrial.snapshot import Failure, Interval, Snapshot

LOOK_S = 1.0
"""How often it is looked at whether anybody is left who could tell something."""
END_S = 12.0
MOST_SHOWN = 12
"""Agents in the live block."""


class FleetRun(Closing):
    """One run of a fleet. `plan` is that of one machine which would do the same."""

    def __init__(
        self, wire: Wire, hosts: Sequence[Host], plan: Plan, *, on_loss: OnLoss, server_here: bool
    ) -> None:
        parts = split.split(plan, len(hosts))
        self.plan = split.whole(plan, len(hosts))
        self.begun_ns: int | None = None
        """Our monotonic clock at offset 0 of the run."""
        self._wire = wire
        self._on_loss: OnLoss = on_loss
        self._losses: dict[str, str] = {}
        self._last: dict[str, Interval] = {}
        """What each agent told last."""
        self._merge = Merge(self.plan, (host.name for host in hosts))
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._conductor = Conductor(
            wire,
            secrets.token_hex(4),
            list(zip(hosts, parts, strict=True)),
            authority=_authority(plan),
            server_here=server_here,
            on_loss=on_loss,
            tell=self._events.put,
        )
        self._conduct: Future[None] = wire.begin(self._conductor.conduct())

    def __iter__(self) -> Iterator[Snapshot]:
        """The fleet's snapshots in order. What an agent's engine or the fleet fails in, raises."""
        while True:
            try:
                event: Event = self._events.get(timeout=LOOK_S)
            except queue.Empty:
                if not self._conduct.done():
                    continue
                event = conductor.Over()
            match event:
                case conductor.Began(start_ns):
                    self.begun_ns = start_ns
                case conductor.Line(name, line):
                    snapshot = engine.parse(line)
                    if isinstance(snapshot, Failure):
                        raise engine.failed(snapshot, self._last.get(name), of=f"{name}: ")
                    if isinstance(snapshot, Interval):
                        self._last[name] = snapshot
                    yield from self._merge.see(name, snapshot)
                case conductor.Lost(name, reason):
                    self._losses[name] = reason
                    yield from self._merge.lose(name)
                case conductor.Failed(error):
                    raise error
                case conductor.Over():
                    # A defect of ours shows as one.
                    self._conduct.result(END_S)
                    if not self._merge.is_over:
                        raise FleetFailed("the fleet ended before its summary", "check its hosts")
                    return

    def stop(self) -> None:
        """Asks every agent for a graceful end; iteration goes on to the summary."""
        self._wire.soon(self._conductor.stop)

    def close(self) -> None:
        """Ends every agent's load. Whom this does not reach ends by its lease."""
        self._wire.soon(self._conductor.end)
        with contextlib.suppress(Exception):
            self._conduct.result(END_S)
        self._conduct.cancel()

    def progress(self) -> Sequence[str]:
        """A line for each agent, the slowest first: what it told last. Of many, only some."""
        what = words.of_target(self.plan.target)
        known = sorted(self._last.items(), key=lambda item: _rate(item[1]))
        lines = [
            f"  {_rate(last):>12,.0f} {what.many}/s   {last.connections.open:,} connections"
            f"   {100 * last.generator.loop_utilisation:.0f} % busy   {name}"
            for name, last in known
            if name not in self._losses
        ]
        more = len(lines) - MOST_SHOWN
        shown = lines[:MOST_SHOWN] + ([f"  and {more} agents more"] if more > 0 else [])
        return [*shown, *(f"  lost: {name}, {reason}" for name, reason in self._losses.items())]

    def agents(self) -> Mapping[str, Interval]:
        """What each agent told last; those that were lost are left out."""
        return {name: last for name, last in self._last.items() if name not in self._losses}

    def account(self) -> Fleet:
        """What each agent did, once all is over."""
        return Fleet(
            on_loss=self._on_loss,
            agents=tuple(
                Agent(
                    name=one.name,
                    address=one.host.address,
                    host=one.host.described.host,
                    boot=one.host.described.boot,
                    part=split.part_of(one.part),
                    clock=clock,
                    summary=self._merge.summary_of(one.name),
                    loss=Loss(at_ns=self._merge.end_of(one.name), reason=self._losses[one.name])
                    if one.name in self._losses
                    else None,
                    facts=one.host.described.facts,
                )
                for one in self._conductor.agents
                if (clock := one.clock()) is not None
            ),
        )


def _authority(plan: Plan) -> bytes | None:
    """The authorities that the plan trusts: the file is here, not where the agents are."""
    name = plan.target.tls.ca_file
    if name is None:
        return None
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageProblem(f"{name} can't be read: {error.strerror}", "name a PEM file") from error


def _rate(interval: Interval) -> float:
    """Verified replies per second."""
    return interval.counters.ok * 1e9 / max(1, interval.end_ns - interval.start_ns)

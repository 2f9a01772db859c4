"""What leading a fleet costs: the coordinator's and the scheduler's own CPU and memory.

Agents are real ones, each at a loopback address of its own with a real engine that hardly sends,
many of them in one process: what they cost themselves is not measured. With --simulated their
engines replay what a real one told, so that hundreds fit on a small machine. Usage:
python -m bench.fleet [AGENTS…] [--seconds S] [--simulated]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.fleet_replay import record
from bench.places import ended
from wiretrial.engine import Engine
from wiretrial.fleet import engine as fleet_engine
from wiretrial.fleet import own
from wiretrial.fleet.security import Address
from wiretrial.plan import Load, Message, OpenLoop, Plan, SequencePayload, Stop, Target
from wiretrial.snapshot import Interval, Summary

HOST = "127.0.0.1"
PER_PROCESS = 25
RATE_EACH = 10.0
CONNECTIONS_EACH = 2
FOUND = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
"""So that another process finds this module."""


@dataclass(frozen=True)
class Cost:
    """What one run took of those who lead it."""

    agents: int
    begin_s: float
    """From the order to the first interval of the load."""
    run_s: float
    end_s: float
    """From the end of the load to the fleet's summary."""
    coordinator_s: float
    """CPU seconds while the load ran."""
    scheduler_s: float
    peak_rss_bytes: int
    interval_ms: float
    intervals: int

    def line(self) -> str:
        """As one line of the table."""
        each = 1e3 / self.agents / self.run_s
        return (
            f"{self.agents:>7} {self.begin_s:>8.1f} {self.end_s:>7.1f} {self.interval_ms:>9.0f}"
            f" {self.coordinator_s / self.run_s:>12.2f} {self.coordinator_s * each:>10.2f}"
            f" {self.scheduler_s / self.run_s:>10.2f} {self.scheduler_s * each:>10.2f}"
            f" {self.peak_rss_bytes / 2**20:>8.0f}"
        )


HEAD = (
    f"{'':>7} {'to the':>8} {'to the':>7} {'interval':>9} {'coordinator':>12} {'per agent':>10}"
    f" {'scheduler':>10} {'per agent':>10} {'memory':>8}\n"
    f"{'agents':>7} {'load, s':>8} {'end, s':>7} {'ms':>9} {'CPUs':>12} {'ms/s':>10} {'CPUs':>10}"
    f" {'ms/s':>10} {'MiB':>8}"
)


def main() -> int:
    """A line for each number of agents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agents", nargs="*", type=int, default=[10, 50, 200])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--simulated", action="store_true")
    flags = parser.parse_args()
    print(HEAD)
    for agents in flags.agents:
        print(measured(agents, flags.seconds, simulated=flags.simulated).line(), flush=True)
    return 0


def measured(agents: int, seconds: float, *, simulated: bool) -> Cost:
    """One run with so many agents."""
    engine = Engine.find()
    with ExitStack() as stack:
        url = stack.enter_context(own.serving(engine, HOST))
        plan = Plan(
            target=Target(url=url, message=Message(source=SequencePayload(bytes=20))),
            load=Load(
                connections=agents * CONNECTIONS_EACH, executor=OpenLoop(rate=agents * RATE_EACH)
            ),
            stop=Stop(duration_ns=round(seconds * 1e9)),
        )
        recorded: list[str] = []
        if simulated:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            record(engine.binary, _alone(plan, agents), folder / "run.jsonl")
            recorded = [str(folder / "run.jsonl")]
        address = Address("tcp", HOST, own.free_port(HOST))
        scheduler = stack.enter_context(own.scheduling(address, None))
        for first in range(0, agents, PER_PROCESS):
            count = min(PER_PROCESS, agents - first)
            words = ["-m", "bench.fleet_hosts", str(address), str(first), str(count), *recorded]
            stack.enter_context(own.started([sys.executable, *words], environment=FOUND))
        fleet = stack.enter_context(fleet_engine.connected(address, None, agents=agents))
        return _run(fleet, plan, psutil.Process(scheduler.pid), agents)


def _alone(plan: Plan, agents: int) -> Plan:
    """What one agent of so many does, as a load of its own."""
    interval_ns = fleet_engine.interval_ns(plan, agents)
    return plan.model_copy(
        update={
            "load": Load(connections=CONNECTIONS_EACH, executor=OpenLoop(rate=RATE_EACH)),
            "phases": plan.phases.model_copy(update={"interval_ns": interval_ns}),
        }
    )


def _run(
    fleet: fleet_engine.FleetEngine, plan: Plan, scheduler: psutil.Process, agents: int
) -> Cost:
    ordered = time.monotonic()
    begun = ended = own_before = their_before = own_after = their_after = 0.0
    intervals = 0
    summary: Summary | None = None
    with fleet.run(plan) as run:
        for snapshot in run:
            if isinstance(snapshot, Interval):
                intervals += 1
                if snapshot.phase != "connect" and not begun:
                    begun, own_before, their_before = time.monotonic(), _own(), _of(scheduler)
                if snapshot.phase == "drain" and not ended:
                    ended, own_after, their_after = time.monotonic(), _own(), _of(scheduler)
            if isinstance(snapshot, Summary):
                summary = snapshot
                ended, own_after, their_after = (
                    (ended, own_after, their_after)
                    if ended
                    else (time.monotonic(), _own(), _of(scheduler))
                )
        over = time.monotonic()
        assert summary is not None
        if summary.end != "complete":
            raise SystemExit(f"bench: an agent was lost: {run.account().lost}")  # type: ignore[attr-defined]
    return Cost(
        agents=agents,
        begin_s=begun - ordered,
        run_s=ended - begun,
        end_s=over - ended,
        coordinator_s=own_after - own_before,
        scheduler_s=their_after - their_before,
        peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        interval_ms=run.plan.phases.interval_ns / 1e6,
        intervals=intervals,
    )


def _own() -> float:
    """CPU seconds of this process, all its threads."""
    return time.process_time()


def _of(process: psutil.Process) -> float:
    """CPU seconds of a process and what it has begun."""
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            total += times.user + times.system
    return total


if __name__ == "__main__":
    sys.exit(ended("fleet", main))

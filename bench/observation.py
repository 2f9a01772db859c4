"""What it costs to watch a server while it is measured, as a share of one CPU.

Starts the reference server and a load, watches them as a trial does, and prints one line for each
number of threads and connections. Usage: python -m bench.observation [SECONDS]
"""

from __future__ import annotations

import os
import sys

from bench.places import ended
from wiretrial.engine import Engine
from wiretrial.plan import GeneratorSettings, Load, Phases, Plan, Stop, Target
from wiretrial.results.model import Scenario
from wiretrial.studies import sent
from wiretrial.studies.recording import Recording
from wiretrial.subjects import build, registry
from wiretrial.subjects.process import Server

SHAPES = ((1, 1), (1, 100), (1, 1000), (16, 100), (128, 1000))
"""Threads of the server, and connections."""
ALLOWED = 0.01


def main() -> int:
    """Measures each shape; 1 if one of them costs more than it may."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    engine = Engine.find()
    print(f"{'threads':>8} {'connections':>12} {'readings':>9} {'share of a CPU':>15}")
    worst = 0.0
    for threads, connections in SHAPES:
        readings, share = watched(engine, threads, connections, seconds)
        worst = max(worst, share)
        print(f"{threads:>8} {connections:>12} {readings:>9} {100 * share:>13.2f} %", flush=True)
    print(f"at most {100 * worst:.2f} %, {100 * ALLOWED:g} % are allowed")
    return 0 if worst <= ALLOWED else 1


def watched(engine: Engine, threads: int, connections: int, seconds: float) -> tuple[int, float]:
    """One trial: how often the tree was read, and what all watching cost."""
    subject = registry.find("reference")
    built = build.install(subject, engine.binary)
    cpus = sorted(os.sched_getaffinity(0))
    with Server(subject, built, "default", engine=engine.binary, threads=threads) as server:
        server.wait_ready()
        plan = Plan(
            target=Target(url=server.endpoint("http").url("/message")),
            load=Load(connections=connections),
            stop=Stop(duration_ns=round(seconds * 1e9)),
            phases=Phases(warmup_ns=1_000_000_000),
            generator=GeneratorSettings(threads=1, cpus=(cpus[-1],)),
        )
        with Recording(engine, plan, [server.pid]) as recording:
            for _ in recording:
                pass
        scenario = Scenario(name="bench", subject="reference", protocol="http", workload="")
        trial = sent.record(recording.sent(), scenario, "bench", {})
    assert trial.observation is not None
    share = trial.observation.cost_ns / trial.observation.watched_ns
    return len(trial.subject_samples), share


if __name__ == "__main__":
    sys.exit(ended("observation", main))

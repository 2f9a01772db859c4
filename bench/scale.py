"""How long it takes until many connections stand: the engine beside bare loops.

Both open as many WebSocket connections to a reference server of their own, in turn, with the same
limit of descriptors per process; bare loops connect, upgrade and read the answer, and verify
nothing. The engine then asks each connection for one reply, which is timed apart. A crowd of bare
loops goes first and does not count: on a virtual machine whoever is first waits for the memory that
its host has to hand out.

Usage: python -m bench.scale [CONNECTIONS] [--rounds N] [--descriptors N]. Exit code 0: the engine
took at most 1.25 times as long; 1: longer, or something failed; 2: usage.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import crowds, measure, places
from wiretrial.engine import Engine
from wiretrial.snapshot import Summary

ENGINE, LOOPS = "engine", "bare loops"
CONNECTIONS = 100_000
ROUNDS = 3
ALLOWED = 1.25


@dataclass(frozen=True)
class Stood:
    """One crowd: when the last connection stood, and what was asked of them then."""

    seconds: float
    alive_s: float | None
    """In which each connection then gave a verified reply; bare loops ask none."""
    peak_bytes: int


def main() -> int:
    """Compares as often as it was asked to; the exit code."""
    flags = _flags()
    try:
        crowds.limit_descriptors(flags.descriptors)
    except ValueError:
        print("scale: --descriptors is over the limit; see ulimit -Hn", file=sys.stderr)
        return 2
    engine = places.engine_and_floor()
    found: dict[str, list[Stood]] = {ENGINE: [], LOOPS: []}
    print(f"{flags.connections:,} connections, {flags.descriptors:,} descriptors per process")
    _crowd(LOOPS, engine, flags.connections, flags.descriptors)
    for number in range(flags.rounds):
        for who in random.Random(number).sample(sorted(found), len(found)):
            stood = _crowd(who, engine, flags.connections, flags.descriptors)
            found[who].append(stood)
            print(_line(who, stood), flush=True)
    ratio = median(
        ours.seconds / theirs.seconds
        for ours, theirs in zip(found[ENGINE], found[LOOPS], strict=True)
    )
    print(f"the engine took {ratio:.2f} times as long (median), {ALLOWED:g} are allowed")
    return 0 if ratio <= ALLOWED else 1


def _crowd(who: str, engine: Engine, connections: int, descriptors: int) -> Stood:
    threads = crowds.threads_for(connections, descriptors)
    with crowds.server(engine, threads) as port:
        if who == ENGINE:
            return _of_engine(engine, port, connections, threads)
        command = crowds.of_floor("hold", port, connections, threads)
        with tempfile.TemporaryDirectory(prefix="wiretrial-scale-") as folder:
            run = measure.run(command, cpu=None, seconds=crowds.LIMIT_S, folder=Path(folder))
        return Stood(json.loads(run.text)["seconds"], None, run.peak_bytes)


def _of_engine(engine: Engine, port: int, connections: int, threads: int) -> Stood:
    with engine.run(crowds.plan(port, connections, threads, requests=connections)) as run:
        summary = list(run)[-1]
    assert isinstance(summary, Summary)
    counters = summary.counters
    if counters.errors or counters.ok < connections:
        raise measure.RunFailed(
            f"the engine: {counters.ok:,} replies were right, errors: {counters.errors}"
        )
    return Stood(
        seconds=((summary.connected_ns or 0) - (summary.connect_start_ns or 0)) / 1e9,
        alive_s=(summary.end_ns - summary.first_send_ns) / 1e9,
        peak_bytes=summary.generator.peak_rss_bytes,
    )


def _line(who: str, stood: Stood) -> str:
    peak = f"{stood.peak_bytes / 1e6:,.0f} MB at most"
    if stood.alive_s is None:
        return f"{who:<12} {stood.seconds:>7.1f} s, {peak}"
    return f"{who:<12} {stood.seconds:>7.1f} s, {peak}, all verified in {stood.alive_s:.1f} s more"


def _flags() -> argparse.Namespace:
    most = crowds.most_descriptors()
    parser = argparse.ArgumentParser(
        prog="bench.scale", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("connections", nargs="?", type=int, default=CONNECTIONS)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"crowds of each [{ROUNDS}]")
    parser.add_argument("--descriptors", type=int, default=most, help="per process [ulimit -n]")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(places.ended("scale", main))

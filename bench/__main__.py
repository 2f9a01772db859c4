"""`python -m bench`: the engine, its floor and its peers, interleaved on the same pinned server.

Exit code 0: it ran; 1: a workload gave no figure at all; 2: usage.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

import psutil

from bench import generators, measure, places, servers, table, workloads
from bench.generators import Ask, Generator
from bench.places import GENERATOR_CPU, SERVER_CPU, ended
from bench.workloads import Workload
from wiretrial.engine import Engine

SECONDS, QUICK_SECONDS = 30, 3
ROUNDS = 3


def main() -> int:
    """Runs what was asked for; the exit code."""
    flags = _flags()
    loads = workloads.chosen(flags.workload)
    if not loads:
        print(f"bench: no workload is called so; there are:\n{_names()}", file=sys.stderr)
        return 2
    if (os.cpu_count() or 1) < 2:
        print("bench: needs two CPUs, one for the server and one for the load", file=sys.stderr)
        return 2
    seconds = QUICK_SECONDS if flags.quick else flags.seconds
    engine = Engine.find().binary
    asked = generators.all_of(engine, flags.before)
    if flags.generator:
        asked = [one for one in asked if one.name in flags.generator]
    present = [one for one in asked if one.binary()]
    for one in asked:
        if one not in present:
            print(f"bench: no {one.name} here; to have it: {one.remedy}")
    found = {}
    for load in loads:
        samples = _compare(load, present, engine, seconds, flags.rounds)
        found[load.name] = table.rows(samples, seconds)
        print(table.text(f"\n{load.name}", found[load.name]), flush=True)
        if flags.output:
            table.write(flags.output, places.machine(), seconds, found)
    return 0 if all(found.values()) else 1


def _compare(
    load: Workload, present: list[Generator], engine: Path, seconds: int, rounds: int
) -> dict[str, list[table.Sample | None]]:
    """Every generator once in each round, in an order drawn anew, on one start of the server."""
    able = [one for one in present if one.does(load)]
    samples: dict[str, list[table.Sample | None]] = {one.name: [] for one in able}
    order = random.Random(load.name)
    with (
        servers.serving(load, engine, SERVER_CPU) as server,
        tempfile.TemporaryDirectory(prefix="wiretrial-bench-") as scratch,
    ):
        endpoint = server.endpoint(load.protocol)
        ask = Ask(endpoint.url(load.path), str(endpoint.authority), seconds, GENERATOR_CPU)
        for _ in range(rounds):
            for one in order.sample(able, len(able)):
                samples[one.name].append(_sample(one, load, ask, server.pid, Path(scratch)))
    return samples


def _sample(
    one: Generator, load: Workload, ask: Ask, server: int, folder: Path
) -> table.Sample | None:
    try:
        before = measure.cpu_s(server)
        run = measure.run(one.command(load, ask), cpu=ask.cpu, seconds=ask.seconds, folder=folder)
        messages = one.messages(run.text)
        used_s = measure.cpu_s(server) - before
    except (measure.RunFailed, ValueError, KeyError) as failure:
        print(f"bench: {one.name}, {load.name}: {failure}", file=sys.stderr)
        return None
    except psutil.NoSuchProcess:
        print(f"bench: {one.name}, {load.name}: the server is gone", file=sys.stderr)
        return None
    return table.Sample(
        messages=messages,
        wall_s=run.wall_s,
        user_s=run.user_s,
        system_s=run.system_s,
        peak_bytes=run.peak_bytes,
        server_cpu_s=used_s,
    )


def _flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("workload", nargs="*", help="words that a workload's name must hold")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="length of a run [30]")
    parser.add_argument("--quick", action="store_true", help="runs of 3 s")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each generator [3]")
    parser.add_argument("--generator", action="append", help="only this one; may be given again")
    parser.add_argument(
        "--before", type=Path, metavar="ENGINE", help="an older engine, as before/uring beside ours"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help="keep the figures here, as JSON, beside those of other workloads",
    )
    return parser.parse_args()


def _names() -> str:
    return "\n".join(f"  {load.name}" for load in workloads.ALL)


if __name__ == "__main__":
    sys.exit(ended("bench", main))

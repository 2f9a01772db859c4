"""`python -m bench.http2`: HTTP/2 and gRPC, beside a floor and peers, on the same pinned servers.

Each generator once in each round, in an order drawn anew, on one start of the server. Its CPU
seconds are what the kernel says that it used, from its start to its end.

Exit code 0: it ran; 1: a load gave no figure at all; 2: usage.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench import idle, places, stream_generators, stream_table
from bench.generators import Ask
from bench.places import GENERATOR_CPU, SERVER_CPU
from bench.rounds import Bench
from bench.stream_generators import StreamGenerator
from bench.streams import ALL, StreamLoad, chosen
from bench.table import Sample
from wiretrial.engine import Engine
from wiretrial.errors import WiretrialError
from wiretrial.subjects import build, registry
from wiretrial.subjects.process import Server

SECONDS, ROUNDS = 2, 4


def main() -> int:
    """Runs what was asked for; the exit code."""
    flags = _flags()
    loads = chosen(flags.load)
    if not loads:
        names = "\n".join(f"  {load.name}" for load in ALL)
        print(f"bench.http2: no load is called so; there are:\n{names}", file=sys.stderr)
        return 2
    if (os.cpu_count() or 1) < 2:
        print("bench.http2: needs two CPUs, a server's and a generator's", file=sys.stderr)
        return 2
    engine = Engine.find()
    asked = stream_generators.all_of(engine.binary, flags.before)
    if flags.generator:
        asked = [one for one in asked if one.name in flags.generator]
    present = [one for one in asked if one.binary()]
    absent = [one for one in asked if one not in present]
    for one in absent:
        print(f"bench.http2: {one.name} is not here; to have it: {one.remedy}")
    figures = {}
    for load in loads:
        samples = _compare(load, present, engine.binary, flags.seconds, flags.rounds)
        figures[load.name] = stream_table.figures(samples, flags.seconds)
        print(stream_table.text(f"\n{load.name}", figures[load.name]), flush=True)
    memory = None if flags.no_memory else idle.memory(engine)
    found = stream_table.Found(
        places.machine(), flags.seconds, figures, memory, [one.name for one in absent]
    )
    if flags.output:
        stream_table.write(flags.output, found)
    if flags.page:
        stream_table.into_page(flags.page, stream_table.PLACE, stream_table.markdown(found))
    print("\n" + stream_table.markdown(found))
    return 0 if all(figures.values()) else 1


def _compare(
    load: StreamLoad, present: Sequence[StreamGenerator], engine: Path, seconds: int, rounds: int
) -> dict[str, list[Sample | None]]:
    able = [one for one in present if one.does(load)]
    try:
        with _serving(load, engine) as (address, authority, server):
            scheme = "https" if load.is_secure else "http"
            ask = Ask(f"{scheme}://{address}{load.path}", authority, seconds, GENERATOR_CPU)
            bench = Bench(f"bench.http2: {load.name}", load, ask)
            return bench.samples(able, rounds, lambda _: server)
    except WiretrialError as failure:
        print(f"bench.http2: {load.name}: {failure.line()}", file=sys.stderr)
        return {}


@contextmanager
def _serving(load: StreamLoad, engine: Path) -> Iterator[tuple[str, str, int]]:
    """The server's address, the file of who signed its certificate, and its process."""
    subject = registry.find(load.server)
    built = build.install(subject, engine)
    with Server(subject, built, "tuned", engine=engine, cpus=(SERVER_CPU,)) as server:
        server.wait_ports()
        speaks_calls = "grpc" in subject.spec.speaks
        endpoint = server.endpoint("h2" if load.is_secure else "grpc" if speaks_calls else "h2c")
        yield f"{endpoint.host}:{endpoint.port}", str(endpoint.authority), server.pid


def _flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.http2", description=__doc__)
    parser.add_argument("load", nargs="*", help="words that a load's name must hold")
    parser.add_argument("--seconds", type=int, default=SECONDS, help=f"length of a run [{SECONDS}]")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"runs of each [{ROUNDS}]")
    parser.add_argument("--generator", action="append", help="only this one; may be given again")
    parser.add_argument("--no-memory", action="store_true", help="leave out idle connections")
    parser.add_argument(
        "--before", type=Path, metavar="ENGINE", help="an older engine, as `before` beside ours"
    )
    parser.add_argument("-o", "--output", type=Path, help="keep the figures here, as JSON")
    parser.add_argument(
        "--page", type=Path, help="write the tables into this page (docs/performance.md)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(places.ended("bench.http2", main))

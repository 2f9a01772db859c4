"""`python -m bench.http3`: HTTP/3 beside the kernel's floor and peers, on the same pinned servers.

The floor sends and receives datagrams of the lengths that our generator's have, as many for a
request, in one call for what goes together: what the kernel takes, without QUIC.

Exit code 0: it ran; 1: a load gave no figure at all; 2: usage.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import measure, places, quic_servers, quic_table, stream_table
from bench.generators import Ask
from bench.places import GENERATOR_CPU
from bench.quic_generators import PEERS, EngineQuic, FloorDatagrams, QuicGenerator
from bench.quic_loads import ALL, PATH, QuicLoad, Shape, chosen, shape
from bench.rounds import Bench
from bench.stream_generators import summary
from bench.table import Sample
from wiretrial.errors import WiretrialError
from wiretrial.subjects import certificates
from wiretrial.subjects.certificates import Certificate

SECONDS, ROUNDS = 2, 4


def main() -> int:
    """Runs what was asked for; the exit code."""
    flags = _flags()
    loads = chosen(flags.load)
    if not loads:
        names = "\n".join(f"  {load.name}" for load in ALL)
        print(f"bench.http3: no load is called so; there are:\n{names}", file=sys.stderr)
        return 2
    if (os.cpu_count() or 1) < 2:
        print("bench.http3: needs two CPUs, a server's and a generator's", file=sys.stderr)
        return 2
    engine = places.engine_and_floor().binary
    peers = [one for one in PEERS if not flags.generator or one.name in flags.generator]
    absent = [one for one in peers if not one.binary()]
    for one in absent:
        print(f"bench.http3: {one.name} is not here; to have it: {one.remedy}")
    present = [one for one in peers if one not in absent]
    figures = {}
    with tempfile.TemporaryDirectory(prefix="wiretrial-bench-tls-") as folder:
        certificate = certificates.make(Path(folder), "127.0.0.1")
        for load in loads:
            samples = _compare(load, present, engine, certificate, flags)
            figures[load.name] = stream_table.figures(samples, flags.seconds)
            print(stream_table.text(f"\n{load.name}", figures[load.name]), flush=True)
    lacking = [one.name for one in absent]
    found = stream_table.Found(places.machine(), flags.seconds, figures, None, lacking)
    if flags.output:
        stream_table.write(flags.output, found, quic_table.SCHEMA)
    if flags.page:
        stream_table.into_page(flags.page, quic_table.PLACE, quic_table.markdown(found))
    print("\n" + quic_table.markdown(found))
    return 0 if all(figures.values()) else 1


def _compare(
    load: QuicLoad,
    peers: Sequence[QuicGenerator],
    engine: Path,
    certificate: Certificate,
    flags: argparse.Namespace,
) -> dict[str, list[Sample | None]]:
    ours = EngineQuic(engine)
    try:
        with quic_servers.serving(load, engine, certificate) as (address, server):
            url = f"https://{address}{PATH}"
            ask = Ask(url, str(certificate.authority), flags.seconds, GENERATOR_CPU)
            seen = _shape(ours, load, ask)
            with quic_servers.answering(seen) as (floor_address, floor_server):
                floor = FloorDatagrams(seen, floor_address)
                servers = {floor.name: floor_server}
                bench = Bench(f"bench.http3: {load.name}", load, ask)
                asked: list[QuicGenerator] = [ours, floor, *peers]
                return bench.samples(asked, flags.rounds, lambda one: servers.get(one.name, server))
    except WiretrialError as failure:
        print(f"bench.http3: {load.name}: {failure.line()}", file=sys.stderr)
        return {}


def _shape(ours: EngineQuic, load: QuicLoad, ask: Ask) -> Shape:
    """Of a run that is not counted."""
    with tempfile.TemporaryDirectory(prefix="wiretrial-bench-") as folder:
        asked = ours.asked(load, ask, Path(folder))
        run = measure.run(
            asked.command, cpu=ask.cpu, seconds=ask.seconds, folder=Path(folder), told=asked.told
        )
    try:
        return shape(load, summary(run.text))
    except ValueError as failure:
        raise WiretrialError(str(failure)) from failure


def _flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.http3", description=__doc__)
    parser.add_argument("load", nargs="*", help="words that a load's name must hold")
    parser.add_argument("--seconds", type=int, default=SECONDS, help=f"length of a run [{SECONDS}]")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"runs of each [{ROUNDS}]")
    parser.add_argument("--generator", action="append", help="only this peer; may be given again")
    parser.add_argument("-o", "--output", type=Path, help="keep the figures here, as JSON")
    parser.add_argument(
        "--page", type=Path, help="write the table into this page (docs/performance.md)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(places.ended("bench.http3", main))

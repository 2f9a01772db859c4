"""What an idle connection of HTTP/2 or HTTP/3 takes of the generator, and a stream of events.

Slopes of its largest resident size, between few and many. Connections are held after one verified
reply on each; streams are streams of events on which nothing is said, many on a connection over
HTTP/2, each on its own over HTTP/1.1. The kernel's part is left out.

Usage: python -m bench.idle [--rounds N] [--http3 CONNECTIONS]. With --http3 that many connections
of HTTP/3 are held, and nothing else is measured: once, over as many threads as their sockets need.

Exit code 0: told; 1: something failed; 2: usage.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Literal

from bench import measure, places, quic_servers, servers
from bench.measure import RunFailed
from bench.places import GENERATOR_CPU
from bench.quic_loads import QuicLoad
from bench.stream_table import Memory
from wiretrial.engine import Engine, parse
from wiretrial.plan import GeneratorSettings, Hold, Http, Load, Phases, Plan, Stop, Target, Tls
from wiretrial.snapshot import Summary
from wiretrial.subjects import certificates

SECONDS, CONNECT_S, ROUNDS = 4, 20, 3
PER_THREAD = 18_000
"""Sockets of a thread, which has a table of descriptors of its own: below the usual limit."""
PER_SOURCE = 28_000
"""Ports of a source address towards one server."""
PER_SECOND = 1_000
"""Handshakes that a CPU does at least."""
LEAST = 2_000
Poller = Literal["uring", "epoll"]
POLLERS: tuple[Poller, ...] = ("uring", "epoll")
NAMES: Mapping[Poller, str] = {"uring": "io_uring", "epoll": "epoll"}


@dataclass(frozen=True)
class Held:
    """What is held, few and many of it."""

    what: str
    path: str
    version: Literal["1.1", "2", "3"]
    is_stream: bool
    few: tuple[int, int]
    """Connections, and streams on each."""
    many: tuple[int, int]

    @property
    def threads(self) -> int:
        """Of the generator."""
        return math.ceil(self.many[0] / PER_THREAD)


CONNECTION = Held("connection of HTTP/2", "/message", "2", False, (1_000, 1), (9_000, 1))
QUIC = Held("connection of HTTP/3", "/message", "3", False, (1_000, 1), (9_000, 1))
STREAM = Held("stream of events over HTTP/2", "/events?rate=0", "2", True, (100, 10), (100, 500))
OWN = Held("stream of events over HTTP/1.1", "/events?rate=0", "1.1", True, (1_000, 1), (9_000, 1))


def memory(engine: Engine) -> Memory:
    """What one more connection of HTTP/2 takes, and one more stream, with io_uring.

    Raises RunFailed where one of them does not stand.
    """
    return Memory(slope(engine, CONNECTION, "uring"), slope(engine, STREAM, "uring"))


def slope(engine: Engine, held: Held, poller: Poller) -> float:
    """Bytes that one more of them takes.

    Raises RunFailed where not all of them stand to the end.
    """
    with _serving(engine, held) as target:
        few, many = (
            _peak(engine, _plan(target, size, poller, held.threads))
            for size in (held.few, held.many)
        )
    (few_connections, few_streams), (connections, streams) = held.few, held.many
    return (many - few) / (connections * streams - few_connections * few_streams)


def main() -> int:
    """Measures all of them with either poller; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.idle", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--http3", type=int, metavar="CONNECTIONS")
    flags = parser.parse_args()
    if flags.rounds < 1:
        print("idle: --rounds must be above zero", file=sys.stderr)
        return 2
    engine = Engine.find()
    if flags.http3 is not None:
        return _held(engine, flags.http3)
    print(f"| bytes | {' | '.join(NAMES[poller] for poller in POLLERS)} |\n|---|---|---|")
    for held in (CONNECTION, QUIC, STREAM, OWN):
        rounds = range(flags.rounds)
        slopes = [median(slope(engine, held, poller) for _ in rounds) for poller in POLLERS]
        print(f"| {held.what} | {' | '.join(f'{each:,.0f}' for each in slopes)} |", flush=True)
    return 0


def _held(engine: Engine, count: int) -> int:
    """Holds as many connections of HTTP/3 with either poller, and tells what one takes."""
    if count < LEAST:
        print(f"idle: --http3 must be {LEAST:,} or more", file=sys.stderr)
        return 2
    held = replace(QUIC, few=(count // 10, 1), many=(count, 1))
    print(f"{count:,} connections of HTTP/3, {held.threads} threads, verified and held:")
    for poller in POLLERS:
        print(f"  {NAMES[poller]}: {slope(engine, held, poller):,.0f} bytes each", flush=True)
    return 0


@contextmanager
def _serving(engine: Engine, held: Held) -> Iterator[Target]:
    """The reference server, as it is asked."""
    http = Http(version=held.version, sse=held.is_stream)
    if held.version != "3":
        with servers.reference(engine) as port:
            yield Target(url=f"http://127.0.0.1:{port}{held.path}", http=http)
        return
    with tempfile.TemporaryDirectory(prefix="wiretrial-bench-tls-") as folder:
        own = certificates.make(Path(folder), "127.0.0.1")
        load = QuicLoad("reference", 1)
        with quic_servers.serving(load, engine.binary, own) as (address, _):
            tls = Tls(ca_file=str(own.authority))
            yield Target(url=f"https://{address}{held.path}", http=http, tls=tls)


def _plan(target: Target, size: tuple[int, int], poller: Poller, threads: int) -> Plan:
    connections, depth = size
    sources = tuple(f"127.1.0.{1 + n}" for n in range(math.ceil(connections / PER_SOURCE)))
    connect_s = max(CONNECT_S, connections // PER_SECOND)
    return Plan(
        target=target.model_copy(update={"sources": sources if len(sources) > 1 else ()}),
        load=Load(connections=connections, depth=depth, executor=Hold()),
        stop=Stop(duration_ns=SECONDS * 1_000_000_000),
        phases=Phases(warmup_ns=0, connect_ns=connect_s * 1_000_000_000),
        generator=GeneratorSettings(threads=threads, cpus=(GENERATOR_CPU,), poller=poller),
    )


def _peak(engine: Engine, plan: Plan) -> int:
    # Streams on which nothing is said are no success to the engine: its summary tells whether all
    # of them stood to the end.
    ended = subprocess.run(
        [str(engine.binary), "run"],
        input=plan.to_json() + "\n",
        capture_output=True,
        text=True,
        timeout=SECONDS + plan.phases.connect_ns // 1_000_000_000 + measure.CLOSING_S,
    )
    last = parse((ended.stdout.strip().splitlines() or ["{}"])[-1].encode())
    if not isinstance(last, Summary) or last.counters.errors:
        raise RunFailed(f"idle connections failed: {ended.stderr.strip()[:200]}")
    wanted = plan.load.connections * plan.load.depth
    if last.counters.ok + last.counters.in_flight < wanted:
        raise RunFailed(f"not all of {wanted:,} idle connections or streams stood")
    return last.generator.peak_rss_bytes


if __name__ == "__main__":
    sys.exit(places.ended("idle", main))

"""What an idle connection of HTTP/2 or HTTP/3 takes of the generator, and a stream of events.

Slopes of its largest resident size, between few and many. Connections are held after one verified
reply on each; streams are streams of events on which nothing is said, many on a connection over
HTTP/2, each on its own over HTTP/1.1. The kernel's part is left out.

Usage: python -m bench.idle [--rounds N]. Exit code 0: told; 1: something failed; 2: usage.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
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
        few, many = (_peak(engine, _plan(target, size, poller)) for size in (held.few, held.many))
    (few_connections, few_streams), (connections, streams) = held.few, held.many
    return (many - few) / (connections * streams - few_connections * few_streams)


def main() -> int:
    """Measures all of them with either poller; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.idle", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    flags = parser.parse_args()
    if flags.rounds < 1:
        print("idle: --rounds must be above zero", file=sys.stderr)
        return 2
    engine = Engine.find()
    print(f"| bytes | {' | '.join(NAMES[poller] for poller in POLLERS)} |\n|---|---|---|")
    for held in (CONNECTION, QUIC, STREAM, OWN):
        rounds = range(flags.rounds)
        slopes = [median(slope(engine, held, poller) for _ in rounds) for poller in POLLERS]
        print(f"| {held.what} | {' | '.join(f'{each:,.0f}' for each in slopes)} |", flush=True)
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


def _plan(target: Target, size: tuple[int, int], poller: Poller) -> Plan:
    connections, depth = size
    return Plan(
        target=target,
        load=Load(connections=connections, depth=depth, executor=Hold()),
        stop=Stop(duration_ns=SECONDS * 1_000_000_000),
        phases=Phases(warmup_ns=0, connect_ns=CONNECT_S * 1_000_000_000),
        generator=GeneratorSettings(threads=1, cpus=(GENERATOR_CPU,), poller=poller),
    )


def _peak(engine: Engine, plan: Plan) -> int:
    # Streams on which nothing is said are no success to the engine: its summary tells whether all
    # of them stood to the end.
    ended = subprocess.run(
        [str(engine.binary), "run"],
        input=plan.to_json() + "\n",
        capture_output=True,
        text=True,
        timeout=SECONDS + CONNECT_S + measure.CLOSING_S,
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

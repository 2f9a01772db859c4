"""What an idle connection of HTTP/2 takes of the generator's memory, and an idle stream.

Slopes of its largest resident size, between few and many. Connections are held after one verified
reply on each; streams are streams of events on which nothing is said. The kernel's part is left
out.
"""

from __future__ import annotations

import subprocess

from bench import measure, servers
from bench.measure import RunFailed
from bench.places import GENERATOR_CPU
from bench.stream_table import Memory
from wiretrial.engine import Engine, parse
from wiretrial.plan import GeneratorSettings, Hold, Http, Load, Phases, Plan, Stop, Target
from wiretrial.snapshot import Summary

SECONDS, CONNECT_S = 4, 20
CONNECTIONS = (1_000, 9_000)
STREAMS = (10, 500)
"""On each of so many connections."""
STREAM_CONNECTIONS = 100
EVENTS = "/events?rate=0"


def memory(engine: Engine) -> Memory:
    """Measures both.

    Raises RunFailed where one of them does not stand.
    """
    with servers.reference(engine) as port:
        few, many = (
            _peak(engine, _plan(f"http://127.0.0.1:{port}/message", count, 1, is_stream=False))
            for count in CONNECTIONS
        )
        connection = (many - few) / (CONNECTIONS[1] - CONNECTIONS[0])
    with servers.reference(engine) as port:
        url = f"http://127.0.0.1:{port}{EVENTS}"
        few, many = (
            _peak(engine, _plan(url, STREAM_CONNECTIONS, count, is_stream=True))
            for count in STREAMS
        )
        stream = (many - few) / ((STREAMS[1] - STREAMS[0]) * STREAM_CONNECTIONS)
    return Memory(connection, stream)


def _plan(url: str, connections: int, depth: int, *, is_stream: bool) -> Plan:
    return Plan(
        target=Target(url=url, http=Http(version="2", sse=is_stream)),
        load=Load(connections=connections, depth=depth, executor=Hold()),
        stop=Stop(duration_ns=SECONDS * 1_000_000_000),
        phases=Phases(warmup_ns=0, connect_ns=CONNECT_S * 1_000_000_000),
        generator=GeneratorSettings(threads=1, cpus=(GENERATOR_CPU,), poller="uring"),
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

"""Crowds of WebSocket connections that are held: a reference server for them, and who opens them.

Knows the engine's plan and the floor's command line; must not know what is measured.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from bench import servers
from bench.places import FLOOR
from wiretrial.engine import Engine
from wiretrial.plan import (
    GeneratorSettings,
    Hold,
    Load,
    Message,
    Phases,
    Plan,
    SequencePayload,
    Stop,
    Target,
)

SOURCES = tuple(f"127.1.0.{number}" for number in range(1, 127))
"""Each has local ports of its own; the floor's connections come from the same."""
LIMIT_S = 300
SPARE = 0.07
"""Of a table of descriptors, left free: the kernel does not spread connections evenly."""

Poller = Literal["auto", "uring", "epoll"]


def most_descriptors() -> int:
    """How many a process may have here."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def limit_descriptors(descriptors: int) -> None:
    """For the processes of this run too: none of them is to raise it again.

    Raises ValueError where this process may not have as many.
    """
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))


def threads_for(connections: int, descriptors: int) -> int:
    """With a table of descriptors for each thread."""
    return -(-connections // round(descriptors * (1 - SPARE))) + 1


@contextmanager
def server(engine: Engine, threads: int) -> Iterator[int]:
    """The port of a reference server with as many tables of descriptors, until the block ends."""
    with servers.reference(engine, "--own-descriptors", "--threads", str(threads)) as port:
        yield port


def plan(
    port: int,
    connections: int,
    threads: int,
    *,
    poller: Poller = "auto",
    requests: int | None = None,
) -> Plan:
    """What the engine is asked: to open them, and have a verified reply from each.

    It ends after so many `requests`; without, it holds them.
    """
    limit_ns = LIMIT_S * 1_000_000_000
    return Plan(
        target=Target(
            url=f"ws://127.0.0.1:{port}/",
            sources=SOURCES,
            message=Message(source=SequencePayload(bytes=20)),
        ),
        load=Load(connections=connections, executor=Hold()),
        stop=Stop(requests=requests, duration_ns=limit_ns),
        phases=Phases(connect_ns=limit_ns, timeout_ns=limit_ns),
        generator=GeneratorSettings(threads=threads, poller=poller),
    )


def of_floor(
    word: Literal["hold", "watch"], port: int, connections: int, threads: int
) -> list[str]:
    """The command that opens them and does nothing else."""
    return [str(FLOOR), word, f"127.0.0.1:{port}", "/", str(connections), str(threads)]

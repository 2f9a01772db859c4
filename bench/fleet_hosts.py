"""Many agents in one process, each at a loopback address of its own, for `bench.fleet`.

Usage: python -m bench.fleet_hosts SCHEDULER FIRST COUNT [RECORDED]
With RECORDED, the lines of a real engine's run, their engines are simulated.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import IPv4Address
from pathlib import Path
from unittest import mock

from distributed import Worker

from bench.fleet_replay import Replay
from wiretrial.fleet import agent
from wiretrial.plan import Plan

FIRST_ADDRESS = IPv4Address("127.2.0.1")


async def serve(scheduler: str, first: int, count: int) -> None:
    """Holds the agents until the process is ended."""
    with tempfile.TemporaryDirectory() as folder:
        workers = [
            Worker(
                scheduler,
                host=str(FIRST_ADDRESS + number),
                nthreads=1,
                dashboard=False,
                memory_limit=0,
                local_directory=folder,
                silence_logs=True,
            )
            for number in range(first, first + count)
        ]
        await asyncio.gather(*workers)
        await asyncio.gather(*(worker.finished() for worker in workers))


@contextmanager
def simulated(recorded: Path) -> Iterator[None]:
    """Agents of this process replay the recorded run instead of starting engines."""

    def replay(_binary: Path, plan: Plan) -> Replay:
        return Replay(recorded, plan)

    with mock.patch.object(agent, "EngineRun", replay):
        yield


if __name__ == "__main__":
    scheduler, first, count, *recorded = sys.argv[1:]
    with ExitStack() as stack:
        for file in recorded:
            stack.enter_context(simulated(Path(file)))
        asyncio.run(serve(scheduler, int(first), int(count)))

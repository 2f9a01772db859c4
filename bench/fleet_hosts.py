"""Many agents in one process, each at a loopback address of its own, for `bench.fleet`.

Usage: python -m bench.fleet_hosts SCHEDULER FIRST COUNT
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from ipaddress import IPv4Address

from distributed import Worker

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


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))

"""Groups of cases at once: most of them wait for what must not come.

Knows how many run at a time; must not know what they do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


def run(does: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[tuple[Job, Result]]:
    """Each job with its result, in their order. One more than there are cores run at a time."""
    pool = ThreadPoolExecutor((os.cpu_count() or 1) + 1)
    try:
        yield from zip(jobs, pool.map(does, jobs), strict=True)
    finally:
        # Whoever interrupts does not wait for what still runs.
        pool.shutdown(wait=False, cancel_futures=True)

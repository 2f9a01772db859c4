"""All places of one run, from the rest before its load to what its record holds of them.

Knows the order of a run's marks, and how long a host is watched at rest; must not know how any
place is reached, nor what a counter means.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from wiretrial.observers import cost, opening
from wiretrial.observers.address import Address
from wiretrial.observers.cost import Load
from wiretrial.observers.watch import BEFORE, Watch, interval_ns
from wiretrial.results.watched import WatchedPlace

REST_S: Final = 1.0
"""Before the load: what the hosts do then is their idle baseline."""


class Watching:
    """Watches every place while the context lasts. Entering it takes the idle baseline.

    Raises `ObserverFailed` where a place, or a part on it, is not there.
    """

    def __init__(self, watches: Sequence[Watch], rest_s: float = REST_S) -> None:
        self._watches = tuple(watches)
        self._rest_s = rest_s
        self._stack = contextlib.ExitStack()
        self._marked: set[str] = set()

    @classmethod
    def of(
        cls,
        addresses: Sequence[Address],
        engine: Path,
        length_ns: int | None,
        rest_s: float = REST_S,
    ) -> Self:
        """Of the addresses that were typed. `length_ns`: of the run."""
        every_ns = interval_ns(length_ns)
        return cls(opening.watches(addresses, engine, every_ns, length_ns), rest_s)

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            for watch in self._watches:
                stack.enter_context(watch)
                watch.start()
            time.sleep(self._rest_s)
            self.mark(BEFORE)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def mark(self, name: str) -> None:
        """Asks every place for its counters now; a mark has its meaning once."""
        if name in self._marked:
            return
        self._marked.add(name)
        for watch in self._watches:
            watch.mark(name)

    def places(self, load: Load) -> tuple[WatchedPlace, ...]:
        """Ends all watches; what was seen, cut to the window that counts."""
        watched = [watch.stop() for watch in self._watches]
        return tuple(cost.place(one, load) for one in watched)

"""Rounds of generators against one start of a server: each once in each, in an order drawn anew.

Knows processes and their CPU time; must not know what is asked, or how figures are shown.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import psutil

from bench import measure
from bench.generators import Ask
from bench.measure import RunFailed
from bench.table import Sample

Load = TypeVar("Load")
Wanted = TypeVar("Wanted", contravariant=True)


@dataclass(frozen=True)
class Asked:
    """The command of one run, and its standard input."""

    command: list[str]
    told: str = ""


class Asks(Protocol[Wanted]):
    """A generator, as far as a round is concerned."""

    @property
    def name(self) -> str:
        """What it is called in tables."""
        ...

    def asked(self, load: Wanted, ask: Ask, folder: Path) -> Asked:
        """What one run is told; what it reads may be put into the folder."""
        ...

    def messages(self, text: str) -> int:
        """How many replies it had; raises RunFailed where it does not say, or had errors."""
        ...


@dataclass(frozen=True)
class Bench(Generic[Load]):
    """One load on one server. `called`: what a line of a failed run begins with."""

    called: str
    load: Load
    ask: Ask

    def samples(
        self, able: Sequence[Asks[Load]], rounds: int, server_of: Callable[[Asks[Load]], int]
    ) -> dict[str, list[Sample | None]]:
        """By generator, one for each round; `server_of`: the process that answers one."""
        samples: dict[str, list[Sample | None]] = {one.name: [] for one in able}
        order = random.Random(self.called)
        with tempfile.TemporaryDirectory(prefix="wiretrial-bench-") as scratch:
            for _ in range(rounds):
                for one in order.sample(able, len(able)):
                    samples[one.name].append(self._sample(one, server_of(one), Path(scratch)))
        return samples

    def _sample(self, one: Asks[Load], server: int, folder: Path) -> Sample | None:
        ask = self.ask
        try:
            before = measure.cpu_s(server)
            asked = one.asked(self.load, ask, folder)
            run = measure.run(
                asked.command, cpu=ask.cpu, seconds=ask.seconds, folder=folder, told=asked.told
            )
            messages = one.messages(run.text)
            used_s = measure.cpu_s(server) - before
        except (RunFailed, ValueError, KeyError) as failure:
            print(f"{self.called}: {one.name}: {failure}", file=sys.stderr)
            return None
        except psutil.NoSuchProcess:
            print(f"{self.called}: {one.name}: the server is gone", file=sys.stderr)
            return None
        return Sample(messages, run.wall_s, run.user_s, run.system_s, run.peak_bytes, used_s)

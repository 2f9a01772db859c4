"""What a workload says of sizes of machine: the server's CPUs, and shares of its capacity as loads.

Pure. Knows these two factors; must not know how a server is held to its CPUs, nor what its capacity
turns out to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field

from wiretrial.studies.fields import IF_POSSIBLE, AskedIdleStates, IdleStates, Levels
from wiretrial.studies.spec import RateFrom
from wiretrial.studies.workload import Factors, Workload

SHARE = "share"
LEAST_CPUS = 0.05
MOST_CPUS = 1024
UNKNOWN_RATE = 1.0
"""Until the top is measured."""


class Limited(Workload):
    """Servers that have no more CPU time than a number of CPUs."""

    cpus: Levels[Annotated[float, Field(ge=LEAST_CPUS, le=MOST_CPUS)]] | None = None
    """Of the server: whole ones by pinning, parts of one by a control group; None: as many as it
    has threads. It gets no fewer threads than CPUs."""
    idle_states: Levels[AskedIdleStates] | None = None
    """`off`: the CPUs of this machine stay awake, so that no message pays for waking one.
    `off-if-possible`: where they can't, they sleep. None: as the machine has them."""

    @property
    def is_rather_awake(self) -> bool:
        """Whether it asks for CPUs that are kept awake where they can be."""
        return IF_POSSIBLE in (self.idle_states or ())

    def asleep(self) -> Self:
        """The workload on a machine where they can't."""
        return self.model_copy(update={"idle_states": self._idle_states("on") or None})

    def levels(self) -> Factors:
        found = super().levels()
        own = {"cpus": self.cpus, "idle_states": self._idle_states("off")}
        return found | {name: levels for name, levels in own.items() if levels}

    def _idle_states(self, possible: IdleStates) -> tuple[AskedIdleStates, ...]:
        """What is asked for, each once, with what is `possible` in the place of the wish."""
        asked = (possible if one == IF_POSSIBLE else one for one in self.idle_states or ())
        return tuple(dict.fromkeys(asked))


class Shared(Workload):
    """What a server carries at most, and beside it lower rates that are shares of that."""

    shares: Levels[Annotated[float, Field(gt=0, lt=1)]] | None = None
    """Of what each subject reaches by itself in the same place, in a closed loop or by a search:
    open loops at these rates, from which its capacity is predicted. None: the top alone."""

    def levels(self) -> Factors:
        found = super().levels()
        return found | {SHARE: (None, *self.shares)} if self.shares else found


def share_of(levels: Mapping[str, Any]) -> float | None:
    """The share of its capacity at which a level is asked; None: it is the top."""
    share = levels.get(SHARE)
    return None if share is None else float(share)


def own_rate(levels: Mapping[str, Any]) -> dict[str, Any]:
    """The field of a case whose rate its own top decides; which scenario that is follows later."""
    share = share_of(levels)
    return {} if share is None else {"rate_from": RateFrom(scenarios=("",), share=share)}

"""What a trial's record keeps of each agent of a fleet, so that one bad machine shows.

Knows the form; must not know how agents are reached. Times are nanoseconds; offsets count from the
run's start, which is one instant for all agents, as exactly as their clocks are known.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from wiretrial.results import hdr
from wiretrial.results.hdr import Hdr
from wiretrial.snapshot import Summary

OnLoss = Literal["stop", "go-on"]
"""What the others do when an agent is lost."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Clock(_Part):
    """How an agent's monotonic clock stands to ours: agent = ours + offset, within the error."""

    offset_ns: int
    error_ns: int
    """Half of the shortest round trip: no way of being off can be greater."""
    samples: int
    drift_ns: int | None = None
    """How much further off it was at the end; None: not measured."""


class Part(_Part):
    """What of the plan was an agent's."""

    connections: int
    rate: float | None = None
    requests: int | None = None


class Loss(_Part):
    """An agent that was there and is not any more."""

    at_ns: int
    """The end of the last interval that it told; what it did after that is not known."""
    reason: str


class Agent(_Part):
    """One agent's own result."""

    name: str
    address: str
    host: str
    """What the machine calls itself."""
    boot: str = ""
    """Names the machine, and this start of it."""
    part: Part
    clock: Clock
    summary: Summary | None = None
    """Its own figures; of a lost agent, those until then; None: it told nothing."""
    loss: Loss | None = None
    facts: dict[str, Any] = Field(default_factory=dict)
    """Of its machine."""

    @property
    def service_time(self) -> Hdr:
        """Of all its replies."""
        texts = [self.summary.histograms.get("service_time")] if self.summary else []
        return hdr.merge(filter(None, texts))

    @property
    def reached(self) -> float:
        """Verified replies per second while it sent."""
        if self.summary is None:
            return 0.0
        lasted = max(1, self.summary.measure_end_ns - self.summary.first_send_ns)
        return self.summary.counters.ok * 1e9 / lasted


class Fleet(_Part):
    """The agents of one run."""

    on_loss: OnLoss
    agents: tuple[Agent, ...]

    @property
    def lost(self) -> tuple[Agent, ...]:
        """Those that were lost."""
        return tuple(agent for agent in self.agents if agent.loss)

    @property
    def clock_error_ns(self) -> int:
        """How far the agents may have been apart at an instant that was meant to be one."""
        return 2 * max((agent.clock.error_ns for agent in self.agents), default=0)

"""What the generator reaches by itself, against the cheapest server that there is.

Knows the form of the figures; must not know how they are measured or where they are kept.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Ceiling(BaseModel):
    """One load, answered by the reference server on the same machine and CPUs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reached: float = Field(gt=0)
    """Verified replies per second."""
    loop_utilisation: float = Field(gt=0, le=1)
    """How much of its time the generator's busiest loop needed for that."""

    @property
    def messages_per_second(self) -> float:
        """What the loop could do, had it had no time to rest."""
        return self.reached / self.loop_utilisation


class Pacing(BaseModel):
    """How exactly the generator keeps due instants, at a rate that is no strain."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rate: float
    """Messages per second."""
    messages: int
    lag_p50_ns: float | None
    lag_p99_ns: float | None

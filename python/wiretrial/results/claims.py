"""What others published, in a form that can be held against our own trials.

Knows how a claim is written down; must not know how it is judged.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

MetricName = Literal[
    "throughput",
    "p50",
    "p90",
    "p99",
    "p999",
    "server",
    "connect",
    "application_bytes",
    "elapsed",
    "wall",
    "client",
]
"""The keys of the report's figures."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Side(_Part):
    """One side of a claim: the workload, the subject, and the levels that tell it from others."""

    subject: str
    """With `:tuned` where that configuration is meant."""
    workload: str
    levels: dict[str, int | float | str] = Field(default_factory=dict)


class Arithmetic(_Part):
    """What the claim's figure is by arithmetic alone, without any measurement."""

    formula: str
    value: float = Field(gt=0)


STALLED: Literal["stalled"] = "stalled"


class Claim(_Part):
    """A published ratio, or that a subject stops answering."""

    text: str
    source: str
    metric: MetricName
    of: Side
    to: Side | None = None
    """None where nothing is compared: what is claimed is a stall."""
    published: Annotated[float, Field(gt=0)] | Literal["stalled"]
    """`of`'s figure divided by `to`'s; or that `of` stalls."""
    within: float = Field(default=1.25, gt=1)
    """It counts as reproduced where our interval, stretched by this factor, holds it."""
    arithmetic: Arithmetic | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.published == STALLED) != (self.to is None):
            raise ValueError("a claim is a ratio with `of` and `to`, or a stall with `of` alone")
        return self

    @property
    def sides(self) -> tuple[Side, ...]:
        """Whom it speaks of."""
        return (self.of,) if self.to is None else (self.of, self.to)

"""What others published, in a form that can be held against our own trials.

Knows how a claim is written down; must not know how it is judged.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

MetricName = Literal[
    "throughput", "p50", "p90", "p99", "p999", "server", "connect", "application_bytes", "elapsed"
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


class Claim(_Part):
    """A published ratio."""

    text: str
    source: str
    metric: MetricName
    of: Side
    to: Side
    published: float = Field(gt=0)
    """`of`'s figure divided by `to`'s."""
    within: float = Field(default=1.25, gt=1)
    """It counts as reproduced where our interval, stretched by this factor, holds it."""
    arithmetic: Arithmetic | None = None

"""What others published, in a form that can be held against our own trials.

Knows how a claim is written down; must not know how it is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from wiretrial.results.model import WITHIN

MetricName = Literal[
    "throughput",
    "p50",
    "p90",
    "p99",
    "p999",
    "server",
    "connect",
    "application_bytes",
    "transport_bytes",
    "byte_rate",
    "wire_bytes",
    "idle",
    "elapsed",
    "wall",
    "client",
    "connect_rate",
    "user_memory",
    "bandwidth",
]
"""The keys of the report's figures."""


class Named(Protocol):
    """A scenario, or what was found of it."""

    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str | None: ...
    @property
    def levels(self) -> Mapping[str, int | float | str]: ...
    @property
    def twin_of(self) -> str | None: ...


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Side(_Part):
    """One side of a claim: the workload, the subject, and the levels that tell it from others."""

    subject: str
    """With `:tuned` where that configuration is meant."""
    workload: str
    levels: dict[str, int | float | str] = Field(default_factory=dict)

    def means(self, scenario: Named) -> bool:
        """Whether it is this scenario that it speaks of."""
        # A name begins with the subject and its configuration, which a label may leave out.
        names = (scenario.label, scenario.levels.get(WITHIN), scenario.name.partition(": ")[0])
        return (
            self.subject in names
            and scenario.levels.get("workload") == self.workload
            and all(scenario.levels.get(name) == level for name, level in self.levels.items())
            and scenario.twin_of is None
        )


class Arithmetic(_Part):
    """What the claim's figure is by arithmetic alone, without any measurement."""

    formula: str
    value: float = Field(gt=0)


TIMES: tuple[MetricName, ...] = ("p50", "p90", "p99", "p999", "connect", "elapsed", "wall")
"""Figures that are times."""

STALLED: Literal["stalled"] = "stalled"


class Claim(_Part):
    """A published ratio, that a subject stops answering, or that it stays below a time."""

    text: str
    source: str
    quote: str = ""
    """Where the source makes it: the figures or words there. Older results have none."""
    metric: MetricName
    of: Side
    to: Side | None = None
    """None where nothing is compared: what is claimed is a stall, or a bound."""
    is_ours: bool = False
    """Whether it is what we read out of the source, and not what the source says."""
    published: Annotated[float, Field(gt=0)] | Literal["stalled"] | None = None
    """`of`'s figure divided by `to`'s; or that `of` stalls."""
    below_ms: float | None = Field(default=None, gt=0)
    """Instead: the time below which `of` is said to stay, milliseconds."""
    arithmetic: Arithmetic | None = None
    """How the source's own figure comes about without any measurement."""

    @model_validator(mode="before")
    @classmethod
    def _one_factor(cls, told: Any) -> Any:
        """Claims used to name a factor of their own; today one counts for all."""
        if isinstance(told, Mapping):
            return {name: value for name, value in told.items() if name != "within"}
        return told

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.published is None) != (self.below_ms is not None):
            raise ValueError("a claim has either `published` or `below_ms`")
        is_ratio = isinstance(self.published, float)
        if is_ratio != (self.to is not None):
            raise ValueError(
                "a claim is a ratio with `of` and `to`, or a stall or a bound with `of` alone"
            )
        if self.below_ms is not None and self.metric not in TIMES:
            raise ValueError(f"`below_ms` is for times: {', '.join(TIMES)}")
        if self.is_ours and self.arithmetic is not None:
            raise ValueError("`arithmetic` explains only a figure that the source itself gives")
        return self

    @property
    def sides(self) -> tuple[Side, ...]:
        """Whom it speaks of."""
        return (self.of,) if self.to is None else (self.of, self.to)

"""Which server and protocol carry a demand, as kept studies have it: one document.

Knows the form of the document; must not know how it is worked out. Rates are messages per second.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wiretrial.results.advice import Demand, Purchase

CHOICE_SCHEMA: Final = "wiretrial-choice"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Near(_Part):
    """The p99 at the lowest rate that was kept and is no lower than what is asked."""

    rate: float
    p99_ns: float


class Choice(_Part):
    """One server over one protocol: an instance is one core of it."""

    server: str
    version: str
    protocol: str
    study: str
    workload: str
    date: str
    trials: int
    payload: int | None
    """Bytes of a message there; None: it carried none."""
    connections: int
    throughput: float
    """The highest of one core: the median over the trials."""
    low: float | None = None
    high: float | None = None
    """The lowest and the highest median of an occasion; of one, the ends of the 95 % interval.

    None: too few trials, or it is a lower bound."""
    occasions: int = 1
    """Boots of a machine on which it was measured."""
    is_at_least: bool = False
    """The load generator was the limit."""
    cpu_ns: float | None = None
    """Per message, there."""
    instances: int
    each: float
    near: Near | None = None
    memory_bytes: float | None = None
    """User and kernel memory, per connection."""
    most_connections: int
    """The most that one copy of it held in any kept trial over this protocol."""

    @property
    def keeps_connections(self) -> bool:
        """Whether users keep a connection over this protocol, however seldom they send."""
        return self.protocol not in ("http", "https")

    @property
    def busy(self) -> float:
        """What is asked of a core, as a share of the highest that it answered."""
        return self.each / self.throughput


class Chosen(_Part):
    """Every server that can be told of, the one that needs least first."""

    schema_name: Literal["wiretrial-choice"] = Field(default=CHOICE_SCHEMA, alias="schema")
    version: Literal[1] = 1
    demand: Demand
    payload: int
    choices: tuple[Choice, ...]
    purchases: tuple[Purchase, ...] = ()
    """Of the first choice, the cheapest first."""

    @property
    def by_protocol(self) -> tuple[Choice, ...]:
        """The first of each protocol."""
        found: dict[str, Choice] = {}
        for one in self.choices:
            found.setdefault(one.protocol, one)
        return tuple(found.values())

    def to_json(self) -> str:
        """The document."""
        return self.model_dump_json(by_alias=True, indent=2) + "\n"

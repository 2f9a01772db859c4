"""Goals: bounds that a traffic file states, from the file to the result that is held against them.

Knows the form of a bound; must not know how it is written in a file, or held against a result.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}
"""The figures of times that are quantiles, by name."""


BLOCKED = "blocked."
"""Begins the figures of the time that steps wait for a connection of a pool."""


class Goal(BaseModel):
    """A bound. `of`: a route's or flow's name, None: the whole run.

    `value` is in nanoseconds for times, a share for errors, replies per second for throughput.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    of: str | None = None
    figure: str
    relation: Literal["<", "<=", ">", ">="]
    value: float

    @property
    def is_floor(self) -> bool:
        """Whether less than the value is too little."""
        return self.relation in (">", ">=")

    @property
    def name(self) -> str:
        """`login.p99`."""
        return f"{self.of}.{self.figure}" if self.of else self.figure

    @property
    def is_of_sessions(self) -> bool:
        """Whether it is about whole sessions of a flow, not about requests."""
        return self.figure.startswith(("iteration.", "wait."))

    @property
    def is_of_blocked(self) -> bool:
        """Whether it bounds how long steps wait for a connection of a pool."""
        return self.figure.startswith(BLOCKED)

    @property
    def is_time(self) -> bool:
        """Whether it bounds a time."""
        return self.figure not in ("errors", "throughput")

    def __str__(self) -> str:
        return f"{self.name} {self.relation} {_written(self.figure, self.value)}"


def _written(figure: str, value: float) -> str:
    if figure == "errors":
        return f"{value:.4%}".rstrip("0%").rstrip(".") + "%"
    if figure == "throughput":
        return f"{value:g}/s"
    return f"{value / 1e6:g}ms"

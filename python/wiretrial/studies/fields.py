"""What stands in a `study.toml`, value by value: times, shares, levels.

Pure. Knows how a value is written; must not know which field it is for.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from wiretrial import quantities
from wiretrial.errors import UsageProblem
from wiretrial.plan import RULE, Content
from wiretrial.studies import environments

Item = TypeVar("Item")

Fit = Literal["fit"]
FIT: Fit = "fit"
Pattern = Literal["steady", "random-burst"]
"""Of a closed loop: each connection goes on by itself; or all wait for the slowest of a burst."""
STEADY: Pattern = "steady"
Pacing = Literal["constant", "poisson", "phased", "after-response"]
AFTER_RESPONSE: Literal["after-response"] = "after-response"
IPv6 = Literal["refused", "silent"]
"""What a connection to `::1` meets where the server listens on 127.0.0.1 only."""
IdleStates = Literal["on", "off"]
"""Whether idle CPUs may sleep while a scenario is measured."""
IF_POSSIBLE = "off-if-possible"
AskedIdleStates = Literal["on", "off", "off-if-possible"]
"""What a workload asks for: without root, or a kernel that allows it, the last is `on`."""
COMMON = "common"
"""A rate that every subject sustains, found from what each reached in a closed loop."""
Kept = Literal["kept", "opened"]
KEPT: Literal["kept"] = "kept"
"""Connections that are used for all requests, as a level beside numbers of requests."""
OPENED: Literal["opened"] = "opened"
"""Connections for all requests of theirs too, which are opened within the measured time."""


class Part(BaseModel):
    """Of a document, or of what is made of one."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def _duration(value: Any) -> Any:
    return _read(lambda text: quantities.duration_ns(text, "a time of"), value)


def _share(value: Any) -> Any:
    return _read(lambda text: quantities.share(text, "a share of"), value)


def _read(read: Any, value: Any) -> Any:
    """Text as it is meant; a problem becomes one that pydantic collects."""
    try:
        return read(value) if isinstance(value, str) else value
    except UsageProblem as problem:
        raise ValueError(problem.line()) from problem


def _rule(value: Any) -> Any:
    """`learned`, a rule such as `json:status=ok`, or a list of rules; else as in a plan."""
    if isinstance(value, str) and not re.match(RULE, value):
        return {"is": value}
    return value if isinstance(value, dict) else {"is": "matching", "rules": _one_or_more(value)}


def _one_or_more(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _not_empty(value: tuple[Item, ...]) -> tuple[Item, ...]:
    if not value:
        raise ValueError("at least one value is needed")
    return value


Nanoseconds = Annotated[int, BeforeValidator(_duration), Field(ge=0)]
"""Written as `5s` or `200ms`."""
Length = Annotated[int, BeforeValidator(_duration), Field(gt=0)]
"""The same, and not 0."""
Share = Annotated[float, BeforeValidator(_share), Field(ge=0, lt=1)]
"""Written as `0.1%` too."""
Levels = Annotated[tuple[Item, ...], BeforeValidator(_one_or_more), AfterValidator(_not_empty)]
"""A value, or a list of levels, each of which makes a scenario."""
Count = Annotated[int, Field(ge=1)]
Counts = Levels[Count]
Layout = Annotated[str, Field(pattern=r"^[1-9]\d* x [1-9]\d*$")]
"""Connections and streams on each, as `4 x 8`."""
Environment = Annotated[str, AfterValidator(lambda name: _read(environments.check, name))]
Rules = Annotated[Content, BeforeValidator(_rule)]
"""What a right reply carries."""


def pair(layout: str) -> tuple[int, int]:
    """The connections of a layout, and the streams on each."""
    connections, _, streams = layout.partition(" x ")
    return int(connections), int(streams)


class Knee(Part):
    """Search for the highest rate that is sustained, instead of measuring at one."""

    quantile: float = Field(default=0.99, gt=0, lt=1)
    objective: Nanoseconds = 5_000_000
    """The response time that this quantile must keep."""
    first: float = Field(default=1000, gt=0)
    """Messages per second to begin with."""
    ceiling: float = Field(default=1_000_000, gt=0)
    tolerance: float = Field(default=0.05, gt=0, lt=1)

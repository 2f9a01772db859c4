"""What a search for the highest rate found, with every level that it measured: one document.

Knows the form of the document; must not know how rates are chosen or how a load is sent. Rates are
messages per second, of a traffic file sessions per second; times are nanoseconds.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wiretrial.results.model import Bottleneck, Verdict
from wiretrial.results.watched import MemoryKind

LIMIT_SCHEMA: Final = "wiretrial-limit"
LIMIT_VERSION: Final = 1

Reason = Literal["goal", "achieved", "backlog", "invalid"]
"""Why a rate was refused: a goal was missed, not all was answered, the line of waiting messages
grew, or what was measured can't count."""
Binding = Literal["goal", "overload", "server", "generator", "connections", "ceiling"]
"""What keeps the rate from being higher. `ceiling`: the highest rate that was asked for was kept.
`server`: its CPU, whatever was missed for want of it."""

End = Literal["complete", "time", "interrupted", "failed"]
"""`time`: the time allowed was over before all searches had ended. `failed`: a level could not be
measured."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Figure(_Part):
    """What a goal is about, as one level had it. `value` None: it cannot be told."""

    goal: str
    value: float | None
    is_kept: bool


class Resource(_Part):
    """What one server of the application used while a level was measured."""

    name: str
    cpus: float | None = None
    """CPUs that it kept busy on average; None: that could not be read."""
    of_cpus: float | None = None
    """CPUs that it can keep busy; None: that is not known."""
    of_kernel: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """Share of its CPU time that it spent in the kernel; None: that could not be read."""
    memory_bytes: int | None = None
    """At the end of the level."""
    memory_kind: MemoryKind | None = Field(default=None, exclude_if=lambda value: value is None)
    """How that was counted; None: that was not kept."""
    memory_limit_bytes: int | None = None
    descriptors: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """The most that were seen open."""
    descriptor_limit: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """So many its processes may have; None: nothing limits them, or that could not be read."""
    written_bytes: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """To disks, per second; None: that could not be read."""


class RouteRate(_Part):
    """A route of a traffic file, and how often a second it was answered rightly."""

    name: str
    rate: float


class Level(_Part):
    """One load at one rate."""

    search: int
    """Which of the searches, from 1; 0: none, it was measured beside them."""
    rate: float
    """As it was offered."""
    answered: float
    duration_ns: int
    """Of what counts."""
    connections: int
    is_kept: bool
    reason: Reason | None = None
    why: str = ""
    """In words, where it was refused: `p99 was 71.2 ms`."""
    figures: tuple[Figure, ...] = ()
    """One per goal."""
    time_ns: float | None = None
    """The time that the limit names in `time`; None: it cannot be told."""
    failed_share: float = 0.0
    unopened: int = Field(default=0, exclude_if=lambda count: not count)
    """Connections that could not be opened, or that the server did not accept; not those that this
    machine itself had no room for."""
    occupied: float = 0.0
    """Share of the messages that may be in flight which were; 1: all connections were busy."""
    server_busy: float | None = None
    """Of its CPUs; None where they can't be read."""
    server_waiting: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """Ready to run, while something else had its CPUs; a share of the same."""
    generator_busy: float
    verdict: Verdict
    bottleneck: Bottleneck
    evidence: str
    stay_ns: float | None = None
    """How long a message, or a whole session, takes on average from when it was due."""
    bytes: float | None = None
    """TCP payload of one message, both ways."""
    resources: tuple[Resource, ...] = ()
    kernel_bytes: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """Sockets and their buffers, per connection; None: that was not seen."""
    routes: tuple[RouteRate, ...] = Field(default=(), exclude_if=lambda routes: not routes)
    """Of a traffic file: all of them, in its order."""


class Found(_Part):
    """How one search ended. `kept` None: no rate was."""

    search: int
    kept: float | None
    refused: float | None
    """The lowest rate above it that was not kept; None: there is none."""
    is_confirmed: bool


class Limit(_Part):
    """The highest rate that keeps the goals."""

    schema_name: Literal["wiretrial-limit"] = Field(default=LIMIT_SCHEMA, alias="schema")
    version: Literal[1] = LIMIT_VERSION
    target: str
    command: str
    started_at: str
    unit: str
    """Of the rates: `requests/s`, `messages/s`, `sessions/s`."""
    goals: tuple[str, ...]
    time: str
    """Which time the levels tell: `p99`, `login.p99`."""
    time_goal_ns: float | None = None
    """Its bound; None: no goal is about it."""
    tolerance: float
    thinking_ns: float = 0.0
    """Think time before the first requests of sessions, in whose place their arrivals stand."""
    rate: float | None
    """Geometric mean of the searches' kept rates; None: no rate was kept."""
    low: float | None = None
    high: float | None = None
    """Ends of the interval; None: there is no upper end."""
    is_at_least: bool = False
    """The load generator was the limit, or the highest rate that was asked for was kept."""
    binding: Binding | None = None
    refused: Level | None = None
    """The level that shows what binds."""
    end: End
    silent_after: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """Rate of the level after which the server did not answer again; None: it did."""
    searches: tuple[Found, ...]
    levels: tuple[Level, ...]
    """All of them, in the order in which they were measured."""

    def to_json(self) -> str:
        """The document."""
        return self.model_dump_json(by_alias=True, indent=2) + "\n"

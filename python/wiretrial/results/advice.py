"""An advice about machines, with the measurement that it rests on: one document.

Knows the form of the document; must not know how it is worked out. Rates are per second, in the
unit of the limit: messages, or sessions of a traffic file.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wiretrial.results.limits import Level, Limit
from wiretrial.results.watched import MemoryKind

ADVICE_SCHEMA: Final = "wiretrial-advice"
ADVICE_VERSION: Final = 1
MEASUREMENT_SCHEMA: Final = "wiretrial-measurement"
FURTHEST: Final = 2
"""Times the most instances that were measured together."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Demand(_Part):
    """What is to be carried."""

    rate: float
    """On average, of all instances together."""
    peak: float = 1.0
    """So many times the average must be carried."""
    users: int | None = None
    """None: the rate itself was given."""
    think_ns: float = 0.0
    """How long a user waits between two messages or sessions."""
    stay_ns: float = 0.0
    """How long a message or session takes, as the measured levels had it."""

    @property
    def highest(self) -> float:
        """The rate that must be carried."""
        return self.rate * self.peak


class Memory(_Part):
    """Memory of a server for each connection, by a straight line through levels."""

    each_bytes: float
    low_bytes: float
    high_bytes: float
    """Ends of its 95 % interval."""
    base_bytes: float
    most: int
    """Connections: the most that were measured."""

    def at(self, connections: float) -> float:
        """Bytes with so many connections."""
        return self.base_bytes + max(self.each_bytes, 0.0) * connections


class Opened(_Part):
    """Open descriptors of a server for each connection, by a straight line through levels."""

    each: float
    low: float
    high: float
    """Ends of its 95 % interval."""
    base: float
    most: int
    """Connections: the most that were measured."""

    def at(self, connections: float) -> float:
        """So many are open with so many connections."""
        return self.base + max(self.each, 0.0) * connections


class Written(_Part):
    """Bytes that a server writes to disks, by a straight line through levels."""

    each_bytes: float
    """Per message, or per session."""
    low_bytes: float
    high_bytes: float
    """Ends of its 95 % interval."""
    base_bytes: float
    """Per second at rest."""
    at_capacity: float | None
    advised: float | None
    """Per second, at the measured capacity and at the advised load; as `Use` has them of CPUs."""

    @property
    def is_nothing(self) -> bool:
        """Whether no message has it write a byte."""
        return self.high_bytes < 1


class Use(_Part):
    """One resource: what a message takes of it, and how much of it the advised load keeps busy."""

    name: str
    slope_ns: float
    """CPU time per message, or per session."""
    low_ns: float
    high_ns: float
    """Ends of its 95 % interval."""
    base: float
    """CPUs busy at rest, by the same line."""
    at_capacity: float | None
    """CPUs busy at the measured capacity, as a line of the levels has it."""
    advised: float | None
    """CPUs busy at the advised load, of one instance; of what is shared, in all. None: that is
    beyond twice what was measured."""
    of_cpus: float | None
    of_kernel: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """Share of its CPU time that it spent in the kernel, at the highest kept level."""
    memory_bytes: int | None
    memory_kind: MemoryKind | None = Field(default=None, exclude_if=lambda value: value is None)
    """How the levels counted it; None: they do not tell."""
    memory_limit_bytes: int | None
    memory: Memory | None = Field(default=None, exclude_if=lambda memory: memory is None)
    """What a connection takes; None: that can't be told."""
    descriptors: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Open at the highest kept level."""
    descriptor_limit: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """So many may be open, while they lie over its processes as they did; None: none is known."""
    opened: Opened | None = Field(default=None, exclude_if=lambda value: value is None)
    """What a connection takes of them; None: that can't be told."""
    descriptors_advised: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """Open with the users of one instance, a connection each; None: a rate was asked for, or all
    instances share it."""
    written: Written | None = Field(default=None, exclude_if=lambda value: value is None)
    """What goes to disks; None: that could not be read."""
    is_shared: bool = False
    """All instances ask the same one."""
    full_at: float | None = None
    """The rate at which all its CPUs are busy; None: not known, or beyond twice the measured."""

    @property
    def lacks_descriptors(self) -> bool:
        """Whether its users need more of them than it may have."""
        needed, limit = self.descriptors_advised, self.descriptor_limit
        return needed is not None and limit is not None and needed > limit


class RouteCost(_Part):
    """CPU time of one server for one request of a route, with its 95 % interval."""

    server: str
    ns: float
    low_ns: float
    high_ns: float


class RouteUse(_Part):
    """A route of a traffic file: its share of the requests, and of the CPU time of all servers."""

    name: str
    of_messages: float
    of_cpu: float
    costs: tuple[RouteCost, ...]

    @property
    def ns(self) -> float:
        """CPU time of all servers for one request."""
        return sum(cost.ns for cost in self.costs)


class Check(_Part):
    """How well levels below 60 % of the capacity predict the resource that binds at the highest."""

    name: str
    rate: float
    predicted: float
    measured: float
    """CPUs."""

    @property
    def error(self) -> float:
        """As a share of what was measured."""
        return self.predicted / self.measured - 1


class Together(_Part):
    """Several instances that were measured at once."""

    instances: int
    limit: Limit
    is_spread: bool = False
    """The load generator spread its connections over them; else a proxy did, and is part of it."""
    shared_cpus: int | None = None
    """They and the load generator ran on so many CPUs; None: each had CPUs of its own."""
    times: tuple[float, float] | None = Field(default=None, exclude_if=lambda value: value is None)
    """So many times one alone they carried: the ends of the interval over several occasions."""


class Size(_Part):
    """So many instances together, behind what divides the load among them."""

    instances: int
    target: str
    rate: float
    """The highest that kept the goals."""
    is_spread: bool = Field(default=False, exclude_if=lambda value: not value)
    shared_cpus: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Both as `Together` has them."""


class Coefficient(_Part):
    """Of the law of scalability, with its 95 % interval; None: too few sizes for one."""

    value: float
    low: float | None = None
    high: float | None = None


class Scaling(_Part):
    """How instances divide the load (`stats.scalability`)."""

    sizes: tuple[Size, ...]
    unit: float
    contention: Coefficient
    coherency: Coefficient
    lacks: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Why the contention has no interval."""

    @property
    def most(self) -> int:
        """The most instances that were measured together."""
        return max(size.instances for size in self.sizes)

    @property
    def furthest(self) -> int:
        """Beyond so many it is not told how they divide the load."""
        return FURTHEST * self.most

    def at(self, number: int) -> float:
        """What so many carry together, most likely."""
        more = number - 1
        waits = 1 + self.contention.value * more + self.coherency.value * number * more
        return self.unit * number / waits

    def each(self, number: int) -> float:
        """What each of so many carries; beyond the furthest, what each of those does."""
        told = min(number, self.furthest)
        return self.at(told) / told


class Alternative(_Part):
    """Another protocol or server, as a kept result of it has it: same demand, same goals."""

    name: str
    target: str
    unit: str
    capacity: float
    """Of one instance: the lower end of its interval."""
    instances: int
    is_at_least: bool = Field(default=False, exclude_if=lambda value: not value)
    """It may take more of them, as in `Advice`."""
    is_divided: bool = Field(default=False, exclude_if=lambda value: not value)
    """Several were measured together; else each is taken to carry as much as one alone."""
    carries_more: bool = Field(default=False, exclude_if=lambda value: not value)
    """The capacity is a lower bound, so that so many instances are enough and fewer may be."""


class Purchase(_Part):
    """Machines of one type that hold the advised instances."""

    name: str
    machines: int
    """One of them may be lost."""
    instances_each: int
    per_hour: float | None
    """Of all together, in the currency of the price; None: no price was given."""


class Growth(_Part):
    """How long the advised instances are enough."""

    per_month: float
    """As a share."""
    months: float
    in_a_year: int | None = None
    """Instances that keep the goals in twelve months; None: so many can't be told."""


class Measurement(_Part):
    """What was measured for an advice that could not be given, or before it ended early."""

    schema_name: Literal["wiretrial-measurement"] = Field(
        default=MEASUREMENT_SCHEMA, alias="schema"
    )
    version: Literal[1] = 1
    limit: Limit
    beside: tuple[Level, ...] = ()
    mixes: tuple[Level, ...] = ()
    crowded: tuple[Level, ...] = ()
    together: tuple[Together, ...] = Field(default=(), exclude_if=lambda value: not value)
    division_lacks: str | None = Field(default=None, exclude_if=lambda value: value is None)
    pinned: tuple[int, ...] = Field(default=(), exclude_if=lambda value: not value)

    def to_json(self) -> str:
        """The document."""
        return self.model_dump_json(by_alias=True, indent=2) + "\n"


class Advice(_Part):
    """How many instances meet the goals, and what that rests on."""

    schema_name: Literal["wiretrial-advice"] = Field(default=ADVICE_SCHEMA, alias="schema")
    version: Literal[1] = ADVICE_VERSION
    demand: Demand
    instances: int
    """So many keep the goals; one more keeps them where one is lost."""
    is_at_least: bool = Field(default=False, exclude_if=lambda value: not value)
    """More than it is known of how they divide the load: it may take more of them."""
    each: float
    """The rate of one of them at the demand's highest."""
    binding: str | None
    """The resource that is busiest at the capacity; None: no CPU time was read."""
    stopped_by: str | None = None
    """A shared resource that is full below the demand, so that more instances do not help."""
    uses: tuple[Use, ...]
    routes: tuple[RouteUse, ...] = ()
    """Of a traffic file, in its order; none: it has one, or their costs can't be told."""
    routes_lack: str | None = None
    """Why they can't be told; None: they are, or there is nothing to tell apart."""
    check: Check | None
    """None: too few levels are below 60 % of the capacity."""
    near: Level | None
    """The lowest kept level that has at least the advised rate of one instance."""
    purchases: tuple[Purchase, ...] = ()
    """The cheapest first."""
    occasions: tuple[float, ...] = ()
    """The capacity of each occasion; none: all was measured on one."""
    bytes_per_second: float | None = None
    """TCP payload of the whole demand, both ways; None: that was not counted."""
    growth: Growth | None = None
    scaling: Scaling | None = None
    """How several of them divide the load; None: one alone was measured."""
    division_lacks: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Why several of a server that was started for this were not measured; None: they were, or it
    was not started for this."""
    instead: tuple[Alternative, ...] = ()
    command: str
    """What confirms it: one instance at its rate, against the same goals."""
    limit: Limit
    beside: tuple[Level, ...] = ()
    """Levels below the capacity, measured for what a message takes."""
    crowded: tuple[Level, ...] = ()
    """Levels with more connections, measured for what each of them takes."""
    kernel_bytes: float | None = None
    """Sockets and their buffers, per connection; None: that was not seen."""
    together: tuple[Together, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Several instances, measured with this one."""
    pinned: tuple[int, ...] = Field(default=(), exclude_if=lambda value: not value)
    """CPUs of this one and of the load generator, where other instances had the rest."""
    mixes: tuple[Level, ...] = ()
    """Levels of other mixes of a traffic file's routes, measured for what each route takes."""

    @property
    def users_each(self) -> float | None:
        """Users of one instance; None: a rate was asked for."""
        return None if self.demand.users is None else self.demand.users / self.instances

    @property
    def levels(self) -> tuple[Level, ...]:
        """All of what was asked of it, in its own mix."""
        return (*self.limit.levels, *self.beside)

    @property
    def by_cpu(self) -> tuple[RouteUse, ...]:
        """The routes, the largest share of the CPU time first."""
        return tuple(sorted(self.routes, key=lambda route: -route.of_cpu))

    def to_json(self) -> str:
        """The document."""
        return self.model_dump_json(by_alias=True, indent=2) + "\n"

"""What was seen of servers that somebody else runs: a place for each host, a part for each server.

Knows the form of this part of a record, and the arithmetic of its own figures; must not know how
anything was read. Growth is over the span of a part, whose replies are counted between the same two
instants. What could not be read is None, and never 0. Offsets count from the run's start.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wiretrial.observation import Descriptors

DATABASE: Final = "database"
"""What the database is called that is started for a server of a study."""
BACKEND: Final = "backend"
"""The same of what a proxy of a study stands before."""
SERVER: Final = "server"
"""The server beside it, and one of this machine that nobody named."""

MemoryKind = Literal["proportional", "resident", "control group"]
"""Proportional set size (PSS): pages that processes share count once. Resident set size (RSS): they
count for each, so that a sum over processes is an upper bound."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Span(_Part):
    """The two readings that growth is between, and the verified replies that came meanwhile."""

    start_ns: int
    end_ns: int
    replies: float
    is_around: bool = False
    """It reaches beyond the window: too few readings lie within."""

    @property
    def length_ns(self) -> int:
        """From one reading to the other; above 0."""
        return self.end_ns - self.start_ns


class PartSample(_Part):
    """One reading of a part. CPU time counts from the first one."""

    offset_ns: int
    cpu_ns: int | None
    memory_bytes: int | None


class WatchedPart(_Part):
    """One server of an application: its CPU time, memory and limits in the window."""

    name: str
    address: str
    span: Span | None = None
    """None: it was not read twice."""
    cpu_ns: int | None = None
    cpu_user_ns: int | None = None
    cpu_system_ns: int | None = None
    cpu_resolution_ns: int = 0
    """Of the two parts of CPU time."""
    run_queue_ns: int | None = None
    """Its threads were ready to run, and waited for a CPU."""
    memory: MemoryKind | None = None
    """How `memory_end_bytes` was counted."""
    memory_end_bytes: int | None = None
    memory_growth_bytes: int | None = None
    memory_limit_bytes: int | None = None
    quota_cpus: float | None = None
    """Its CPU limit; None: it has none, or that is not known."""
    throttled_ns: int | None = None
    """Its CPU limit stopped it, over all CPUs."""
    throttled_periods: int | None = None
    periods: int | None = None
    shares_group: bool = False
    """Whether limit and throttling are those of a control group that others may be in, too."""
    oom_kills: int | None = None
    written_bytes: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """To disks."""
    descriptors: Descriptors | None = Field(default=None, exclude_if=lambda value: value is None)
    """The most that were seen open, with all connections or at the end."""
    restarts: int = 0
    """Times that another process took its place in the span."""
    has_ended: bool = False
    """Whether no process of it was left at the end of the span."""
    processes: int | None = None
    threads: int | None = None
    lacks: tuple[str, ...] = ()
    """What could not be read of it, and why."""
    samples: tuple[PartSample, ...] = ()

    @property
    def is_void(self) -> bool:
        """Whether it was not one and the same server throughout, so that it has no cost."""
        return self.restarts > 0 or self.has_ended

    @property
    def per_reply_ns(self) -> float | None:
        """CPU time for each verified reply."""
        return self._per_reply(self.cpu_ns)

    @property
    def user_per_reply_ns(self) -> float | None:
        """The part of it that was spent in the program."""
        return self._per_reply(self.cpu_user_ns)

    @property
    def system_per_reply_ns(self) -> float | None:
        """The part of it that was spent in the kernel."""
        return self._per_reply(self.cpu_system_ns)

    @property
    def cpus(self) -> float | None:
        """CPUs that it kept busy on average."""
        return self._rate(self.cpu_ns)

    @property
    def written_per_second(self) -> float | None:
        """Bytes that went to disks."""
        return None if self.is_void else self._rate(self.written_bytes, 1e9)

    @property
    def throttled_share(self) -> float | None:
        """Share of its limit's periods in which it was stopped; None: it has no limit."""
        if not self.periods or self.throttled_periods is None:
            return None
        return self.throttled_periods / self.periods

    def _per_reply(self, ns: int | None) -> float | None:
        if ns is None or self.span is None or self.span.replies <= 0 or self.is_void:
            return None
        return ns / self.span.replies

    def _rate(self, grown: int | None, per_ns: float = 1.0) -> float | None:
        if grown is None or self.span is None:
            return None
        return grown * per_ns / self.span.length_ns


class WatchedPlace(_Part):
    """One host with servers on it: what it did as a whole, beside what its parts did."""

    place: str
    kind: Literal["observe", "prometheus"]
    parts: tuple[WatchedPart, ...]
    has_generator: bool = False
    """Whether the load was sent from the same host."""
    cpus: int | None = None
    span: Span | None = None
    """Of the figures below; None: the host was not read twice."""
    user_ns: int | None = None
    system_ns: int | None = None
    irq_ns: int | None = None
    softirq_ns: int | None = None
    steal_ns: int | None = None
    idle_ns: int | None = None
    baseline_ns: int | None = None
    """How long it was watched before the load; None: it was not."""
    baseline_busy_ns: int | None = None
    """Its busy time in that."""
    generator_ns: int | None = None
    """CPU time of the generator in the span, where it is on this host."""
    own_ns: int | None = None
    """CPU time of the observer in the whole run."""
    charges_softirq: bool | None = None
    """Whether time in soft interrupts counts for the process that they interrupted, too."""
    lowest_khz: float | None = None
    highest_khz: float | None = None
    """Mean frequency of its CPUs in the span."""
    memory_used_bytes: int | None = None
    """Memory of the host that programs could not have, at the end of the span."""
    memory_growth_bytes: int | None = None
    clock_error_ns: int = 0
    """How far off its clock may have been laid on ours; 0: it is the same."""
    kernel: str | None = None
    lacks: tuple[str, ...] = ()
    failed: str | None = None
    """Why watching it ended early; None: it did not."""
    coarse: str | None = None
    """Why its figures are coarse, and what to do about it, in a sentence; None: they are not."""

    @property
    def busy_ns(self) -> int | None:
        """All that its CPUs did in the span; what a hypervisor took is none of it."""
        states = (self.user_ns, self.system_ns, self.irq_ns, self.softirq_ns)
        known = [ns for ns in states if ns is not None]
        return sum(known) if known else None

    @property
    def busy_cpus(self) -> float | None:
        """CPUs that were busy on average."""
        return self.rate(self.busy_ns)

    @property
    def baseline_cpus(self) -> float | None:
        """CPUs that were busy before the load."""
        if not self.baseline_ns or self.baseline_busy_ns is None:
            return None
        return self.baseline_busy_ns / self.baseline_ns

    @property
    def parts_cpus(self) -> float:
        """CPUs that its parts kept busy."""
        return sum(one.cpus or 0.0 for one in self.parts)

    @property
    def gap_cpus(self) -> float | None:
        """Busy CPUs that are neither the baseline's, nor the parts', nor the generator's."""
        if self.busy_cpus is None:
            return None
        known = (self.baseline_cpus or 0.0) + self.parts_cpus + (self.rate(self.generator_ns) or 0)
        return self.busy_cpus - known

    @property
    def gap_per_reply_ns(self) -> float | None:
        """The gap's CPU time for each verified reply: of a host without parts, the server's."""
        if self.gap_cpus is None or self.span is None or self.span.replies <= 0:
            return None
        return self.gap_cpus * self.span.length_ns / self.span.replies

    @property
    def interrupt_cpus(self) -> float:
        """CPUs in interrupts: most of it takes packets in, and it may be charged to nobody."""
        return self.rate((self.irq_ns or 0) + (self.softirq_ns or 0)) or 0.0

    @property
    def others_cpus(self) -> float | None:
        """What of the gap is more than interrupts can be: other programs.

        None, too, where the host alone is known: the server is in the gap.
        """
        gap = self.gap_cpus if self.parts else None
        return None if gap is None else max(gap - self.interrupt_cpus, 0.0)

    @property
    def steal_share(self) -> float | None:
        """Share of its CPUs' time that a hypervisor took."""
        if self.steal_ns is None or self.busy_ns is None or self.idle_ns is None:
            return None
        whole = self.steal_ns + self.busy_ns + self.idle_ns
        return self.steal_ns / whole if whole else None

    @property
    def edge_error(self) -> float:
        """How far off a cost may be for the clock alone, as a share."""
        return 2 * self.clock_error_ns / self.span.length_ns if self.span else 0.0

    def rate(self, ns: int | None) -> float | None:
        """CPUs that so much time in the span is."""
        return None if ns is None or self.span is None else ns / self.span.length_ns

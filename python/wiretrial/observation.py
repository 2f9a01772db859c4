"""Counters of a host, one JSON object a line. Mirrors `wiretrial-engine schema observation`.

Knows names and types; must not know what a counter means for a server. Counters are the kernel's
own and count from its start, or the process's; `ticks` are `clock_ticks` to the second, all else is
in the unit that its name ends with. None is what could not be read.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

OBSERVATION_SCHEMA: Final = "wiretrial-observation"
OBSERVATION_VERSION: Final = 1

Why = Literal["first", "interval", "mark", "last"]
EndedBy = Literal["time", "input", "order", "signal"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class TargetName(_Part):
    """What is observed beside the host: a process tree by its root, or a control group."""

    name: str
    pid: int | None
    cgroup: str | None


class Source(_Part):
    """A source of counters. `missing`: why it can't be read; `target` None: the host's."""

    name: str
    target: str | None
    missing: str | None


class Accounting(_Part):
    """What the kernel was built with, as far as it changes what a tick counts."""

    source: str | None
    tick_cpu_accounting: bool | None
    virt_cpu_accounting_gen: bool | None
    virt_cpu_accounting_native: bool | None
    irq_time_accounting: bool | None
    sched_info: bool | None
    hz: int | None
    nohz_full: str | None


class Instants(_Part):
    """The monotonic clock and the wall clock at one instant."""

    monotonic_ns: int
    real_ns: int


class Start(_Part):
    """The first line: the host, and what may be read on it."""

    kind: Literal["start"] = "start"
    schema_name: Literal["wiretrial-observation"] = Field(
        default=OBSERVATION_SCHEMA, alias="schema"
    )
    version: Literal[1] = OBSERVATION_VERSION
    engine: str
    pid: int
    boot_id: str | None
    host_hash: str
    kernel: str
    architecture: str
    clock_ticks: int
    page_bytes: int
    cpus: int
    accounting: Accounting
    at: Instants
    since_boot_ns: int
    """At `at`: start times of processes count from the machine's start, in clock ticks."""
    interval_ns: int
    duration_ns: int | None
    targets: tuple[TargetName, ...]
    sources: tuple[Source, ...]


class CpuTicks(_Part):
    """What a CPU did. A guest's time is in `user` and `nice`, too."""

    cpu: int
    user: int
    nice: int
    system: int
    idle: int
    iowait: int | None
    irq: int | None
    softirq: int | None
    steal: int | None
    guest: int | None
    guest_nice: int | None


class Softnet(_Part):
    """Packets that a CPU took in."""

    cpu: int | None
    processed: int
    dropped: int
    time_squeeze: int
    received_rps: int | None
    flow_limited: int | None
    backlog: int | None


class Tcp(_Part):
    """Counters of TCP in one network namespace, by the kernel's own names."""

    tcp: dict[str, int]
    tcp_ext: dict[str, int]


class Frequency(_Part):
    """The frequency of a CPU."""

    cpu: int
    khz: int


class Stall(_Part):
    """Microseconds in which at least one thread, or all of them, stood still."""

    some_us: int
    full_us: int | None


class Pressure(_Part):
    """Time lost for want of CPUs, memory and disks."""

    cpu: Stall | None
    memory: Stall | None
    io: Stall | None


class Host(_Part):
    """Counters of the whole machine; those of TCP are of the observer's network namespace."""

    cpus: tuple[CpuTicks, ...]
    context_switches: int | None
    forks: int | None
    running: int | None
    blocked: int | None
    softnet: tuple[Softnet, ...] | None
    tcp: Tcp | None
    frequencies: tuple[Frequency, ...] | None
    pressure: Pressure


class Gone(_Part):
    """Processes and threads that ended during the observation, as they were last seen.

    The ticks of those that a process of the target waited for are among its children's, too.
    """

    processes: int
    user_ticks: int
    system_ticks: int
    on_cpu_ns: int
    run_queue_ns: int


class Member(_Part):
    """One process. `pid` and `start_ticks` together name it."""

    pid: int
    parent: int
    start_ticks: int
    state: str
    user_ticks: int
    system_ticks: int
    threads: int
    rss_bytes: int


class Descriptors(_Part):
    """Open descriptors of a target's processes.

    `fullest`: of the process that has the largest share of its limit; `limit` None: it has none.
    """

    open: int
    fullest: int
    limit: int | None

    @property
    def most(self) -> int | None:
        """How many all may have while they lie over the processes as they do; None: no limit."""
        if self.limit is None or not self.fullest:
            return self.limit
        return round(self.limit * self.open / self.fullest)


class Processes(_Part):
    """Processes of a target: CPU time is `user_ticks`, `system_ticks` and both of the children."""

    count: int
    threads: int
    user_ticks: int
    system_ticks: int
    children_user_ticks: int
    children_system_ticks: int
    on_cpu_ns: int | None
    run_queue_ns: int | None
    ended: Gone
    rss_bytes: int
    pss_bytes: int | None
    """At marks only."""
    written_bytes: int | None = None
    """To disks, with those of children that were waited for."""
    descriptors: Descriptors | None = None
    """At marks only."""
    unread: int
    members: tuple[Member, ...]
    members_left_out: int


class GroupCpu(_Part):
    """CPU time of a control group. `quota_ns` None: no limit of its own."""

    usage_ns: int | None
    user_ns: int | None
    system_ns: int | None
    periods: int | None
    throttled_periods: int | None
    throttled_ns: int | None
    quota_ns: int | None
    period_ns: int | None


class GroupMemory(_Part):
    """Memory of a control group. `limit_bytes` None: no limit of its own."""

    current_bytes: int | None
    peak_bytes: int | None
    limit_bytes: int | None
    oom_kills: int | None


class Group(_Part):
    """A control group."""

    path: str
    versions: tuple[int, ...]
    cpu: GroupCpu
    memory: GroupMemory
    pressure: Pressure


class TargetSample(_Part):
    """Counters of a target. `tcp` None: its network namespace is the observer's."""

    name: str
    processes: Processes
    cgroup: Group | None
    tcp: Tcp | None


class Sample(_Part):
    """All counters between two instants, `before` and `after`; what is read at marks, later."""

    kind: Literal["sample"] = "sample"
    why: Why
    mark: str | None
    end: EndedBy | None
    before: Instants
    after: Instants
    reading_ns: int
    memory_reading_ns: int | None
    own_cpu_ns: int
    host: Host
    targets: tuple[TargetSample, ...]


Observation = Annotated[Start | Sample, Field(discriminator="kind")]

OBSERVATION: TypeAdapter[Observation] = TypeAdapter(Observation)

"""What was seen of a subject and its machine while it was measured, beside its CPU samples.

Knows the form of this part of a record; must not know how it was read. Growth is over the window
that counts. What could not be read is None, and never 0.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wiretrial.observation import Descriptors


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LinkCarried(BaseModel):
    """What one direction of an emulated link did in a trial: priming was before it."""

    # What else the link counts is its own.
    model_config = ConfigDict(extra="ignore", frozen=True)

    offered: int
    """Packets that came in."""
    carried: int
    lost: int
    """As asked."""
    queue_full: int
    late: int
    """Handed on more than 0.2 ms after their instants: the link was kept from running."""
    lateness_ns: int
    """Of all packets together."""
    worst_lateness_ns: int
    """Since the link was made."""

    def since(self, before: LinkCarried | None) -> LinkCarried:
        """What came after it had done so much."""
        if before is None:
            return self
        grown = {
            name: getattr(self, name) - getattr(before, name)
            for name in type(self).model_fields
            if name != "worst_lateness_ns"
        }
        return self.model_copy(update=grown)


class EmulatedLink(_Part):
    """A link that was asked for, and how well it was kept."""

    name: str
    up: str
    """From the generator to the subject, in the words of `wiretrial link`."""
    down: str
    seed: int
    carrier: Literal["engine", "netem"]
    realtime: bool
    """Whether it ran before ordinary programs."""
    carried_up: LinkCarried | None = None
    carried_down: LinkCarried | None = None


class Isolation(_Part):
    """Where a subject that we started ran, and over what it was reached."""

    kind: Literal["loopback", "namespace", "link"]
    interface: str = "lo"
    """Its end of the link."""
    mtu: int | None = None
    settings: tuple[tuple[str, str], ...] = ()
    """Kernel settings of its namespace by name; the machine's are with the machine's facts."""
    link: EmulatedLink | None = None
    receiving_cpus: tuple[int, ...] = ()
    """Those that take in what comes to the subject; empty: whoever sent it."""


class CpuLimit(_Part):
    """A control group that held a server to less CPU time than its CPUs have, during a trial."""

    cpus: float
    version: Literal[1, 2]
    """Of control groups."""
    period_ns: int
    periods: int
    """In which it wanted to run."""
    throttled_periods: int
    """In which its time was used up, so that it waited for the next."""
    throttled_ns: int
    """How long it waited, summed over the CPUs on which it did."""

    @property
    def throttled(self) -> float:
        """The share of the periods in which it waited."""
        return self.throttled_periods / self.periods if self.periods else 0.0

    def since(self, before: CpuLimit) -> CpuLimit:
        """What came after it had counted so much."""
        counted = ("periods", "throttled_periods", "throttled_ns")
        grown = {name: getattr(self, name) - getattr(before, name) for name in counted}
        return self.model_copy(update=grown)


class CpuUse(_Part):
    """How one CPU spent the window. The kernel counts it in ticks; see `tick_ns`."""

    cpu: int | None
    """None: all CPUs of the machine together."""
    user_ns: int | None = None
    nice_ns: int | None = None
    system_ns: int | None = None
    idle_ns: int | None = None
    iowait_ns: int | None = None
    irq_ns: int | None = None
    softirq_ns: int | None = None
    steal_ns: int | None = None


class LinkUse(_Part):
    """What went through the server's interfaces, as the server's side counts it."""

    interfaces: tuple[str, ...]
    received_bytes: int | None = None
    received_packets: int | None = None
    received_drops: int | None = None
    sent_bytes: int | None = None
    sent_packets: int | None = None
    sent_drops: int | None = None
    send_rate_bytes: float | None = None
    """Bytes per second that a shaper lets through from the server; None: no shaper is known."""
    receive_rate_bytes: float | None = None
    """Likewise towards the server."""


class TcpUse(_Part):
    """What TCP did in the server's network namespace."""

    received_segments: int | None = None
    sent_segments: int | None = None
    retransmitted_segments: int | None = None
    sent_resets: int | None = None
    timeouts: int | None = None
    delayed_acks: int | None = None
    listen_overflows: int | None = None
    listen_drops: int | None = None


class SocketUse(_Part):
    """A few connections of one side, followed through the window: sums over them."""

    side: Literal["server", "generator"]
    followed_ns: int
    """Connections, times how long each was followed: what the next three are shares of."""
    busy_ns: int
    receive_window_limited_ns: int
    send_buffer_limited_ns: int
    retransmitted_segments: int
    mean_send_queue_bytes: float
    mean_receive_queue_bytes: float


class Plateau(_Part):
    """Memory and descriptors when nothing changes: before the load, with all connections, after."""

    name: Literal["before", "connected", "end"]
    offset_ns: int
    took_ns: int
    connections: int
    """As the generator last told."""
    threads: int | None = None
    pss_bytes: int | None = None
    anonymous_bytes: int | None = None
    """The part of the PSS that is no file's."""
    tcp_memory_bytes: int | None = None
    """Buffers of all TCP sockets of the machine: both ends, where the generator runs on it."""
    tcp_sockets: int | None = None
    """In the server's network namespace."""
    socket_slab_bytes: int | None = None
    """The sockets themselves, machine-wide."""
    descriptors: Descriptors | None = Field(default=None, exclude_if=lambda value: value is None)
    """Open ones of the subject."""


class PerConnection(_Part):
    """Growth from the plateau before the load to the one with all connections, by their number."""

    pss_bytes: float | None = None
    anonymous_bytes: float | None = None
    tcp_memory_bytes: float | None = None
    socket_slab_bytes: float | None = None


class Observation(_Part):
    """Everything that was seen, and what the watching cost."""

    cpu_resolution_ns: int
    """Of the subject's CPU time; its parts, user and system, are known to one `tick_ns`."""
    tick_ns: int
    cost_ns: int
    """CPU time of the watching itself, in the laboratory's process."""
    watched_ns: int
    """How long it watched."""
    start_ns: int | None = None
    """What the growth below is over: the part of the window that the readings span."""
    end_ns: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    run_queue_ns: int | None = None
    """Threads of the subject were ready to run, and waited for a CPU."""
    written_bytes: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """What the subject had written to disks."""
    threads_peak: int | None = None
    alone: bool
    """Whether the counters of link and TCP are the subject's only. Else they count both ends of
    every connection, and whatever else the machine did."""
    cpus: tuple[CpuUse, ...] = ()
    link: LinkUse | None = None
    tcp: TcpUse | None = None
    sockets: tuple[SocketUse, ...] = ()
    plateaus: tuple[Plateau, ...] = ()
    per_connection: PerConnection | None = None

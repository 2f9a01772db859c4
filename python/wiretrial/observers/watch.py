"""What every kind of place gives while it is watched: raw counters with the instants they stood at.

Knows the form of what is read, and when it is asked for; must not know how a place is reached nor
what follows from a counter. All instants are of the generator's own monotonic clock, in
nanoseconds: who reads a clock of another machine lays it on ours first, and says how far off that
may be. Counters grow from some beginning of theirs. What could not be read is None, and never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol, Self

from wiretrial.observation import Descriptors

BEFORE: Final = "before"
"""The load has not begun: what the host does until then is its idle baseline."""
CONNECTED: Final = "connected"
"""All connections stand."""
END: Final = "end"
"""The last message of the measurement is over; replies may still come."""

SHORTEST_INTERVAL_NS: Final = 250_000_000
"""Between two readings: with `observe`, one takes a millisecond or two of a CPU there."""
MOST_READINGS: Final = 4_000
"""Of a run: long ones are read less often."""

PlaceKind = Literal["observe", "prometheus"]


class Watch(Protocol):
    """Watches one place: a host with parts of an application on it. A context manager.

    The order is: `start`, any number of `mark`s, `stop`; leaving the context ends what still runs.
    """

    place: str
    """The host in words: `this machine`, `db.example.org`."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def start(self) -> None:
        """Begins, and returns when the first counters have been read.

        Raises `errors.ObserverFailed` where the place or a part of it is not there.
        """

    def mark(self, name: str) -> None:
        """Asks for all counters now, and does not wait for them. It never raises.

        Memory that is costly to read is read at marks only.
        """

    def stop(self) -> Watched:
        """Reads once more and ends. It never raises: what failed meanwhile stands in `failed`."""


@dataclass(frozen=True)
class HostCpu:
    """CPU time of a whole host, over all its CPUs, in nanoseconds.

    `user` holds what ran at low priority and guests, too.
    """

    user_ns: int | None = None
    system_ns: int | None = None
    irq_ns: int | None = None
    softirq_ns: int | None = None
    steal_ns: int | None = None
    idle_ns: int | None = None
    """With the time in which a disk was waited for."""


@dataclass(frozen=True)
class HostReading:
    """Counters of a host at one instant."""

    at_ns: int
    cpu: HostCpu
    frequency_khz: float | None = None
    """Mean of the CPUs that tell theirs; an instant's value, no counter."""
    used_bytes: int | None = None
    """Memory in use that programs could not have, likewise."""


@dataclass(frozen=True)
class Reading:
    """Counters of a part at one instant.

    `total_ns` is the whole CPU time where it is known more finely than by its two parts, or they
    are not known. Ended processes count as long as anything tells of them.
    """

    at_ns: int
    user_ns: int | None = None
    system_ns: int | None = None
    total_ns: int | None = None
    run_queue_ns: int | None = None
    """Threads were ready to run and waited for a CPU."""
    rss_bytes: int | None = None
    """Resident memory; what processes share counts for each."""
    pss_bytes: int | None = None
    """What processes share counts once; read at marks only."""
    group_bytes: int | None = None
    """Memory of a control group: with the page cache and the kernel's own for it."""
    throttled_ns: int | None = None
    """Its CPU limit stopped it, over all CPUs."""
    throttled_periods: int | None = None
    periods: int | None = None
    quota_cpus: float | None = None
    """Its CPU limit, in CPUs; None: it has none, or that is not known."""
    limit_bytes: int | None = None
    """Its memory limit, likewise."""
    oom_kills: int | None = None
    written_bytes: int | None = None
    """To disks."""
    descriptors: Descriptors | None = None
    """Open ones; read at marks only."""
    processes: int | None = None
    """0: all of them have ended."""
    threads: int | None = None
    life: str | None = None
    """What another start of the same server changes: its process id and start time."""


@dataclass(frozen=True)
class Part:
    """A part of an application, and what was read of it, in order of time."""

    name: str
    address: str
    readings: tuple[Reading, ...]
    lacks: tuple[str, ...] = ()
    """What could not be read, and why: `proportional memory: permission denied; run as root`."""
    cpu_resolution_ns: int = 0
    """How finely `user_ns` and `system_ns` are counted."""
    shares_group: bool = False
    """Whether limits and throttling are those of a control group that others may be in, too."""


@dataclass(frozen=True)
class Mark:
    """An instant at which counters were asked for."""

    name: str
    at_ns: int
    """When the counters stood so, by our clock."""
    round_trip_ns: int
    """From the question to the answer."""


@dataclass(frozen=True)
class Watched:
    """Everything that was read of a place."""

    place: str
    kind: PlaceKind
    parts: tuple[Part, ...]
    host: tuple[HostReading, ...] = ()
    marks: tuple[Mark, ...] = ()
    has_generator: bool = False
    """Whether the load was sent from the same host, so that its CPU time is among the host's."""
    cpus: int | None = None
    """CPUs of the host that are online."""
    charges_softirq: bool | None = None
    """Whether time in soft interrupts counts for the process that they interrupted, too."""
    clock_error_ns: int = 0
    """How far off an instant of ours may be; 0: it is the same clock."""
    own_cpu_ns: int | None = None
    """What the observer itself used on that host."""
    kernel: str | None = None
    lacks: tuple[str, ...] = ()
    """What of the host could not be read, and why."""
    failed: str | None = None
    """Why it ended before it was asked to; None: it did not."""


def interval_ns(length_ns: int | None) -> int:
    """How often to read in a run of so long; None: nobody knows how long it takes."""
    if length_ns is None:
        return 4 * SHORTEST_INTERVAL_NS
    return max(SHORTEST_INTERVAL_NS, length_ns // MOST_READINGS)

"""The metrics that are sent: their names, units and meaning, and one second of them.

Pure. Knows how OpenTelemetry names things and how Prometheus makes its names of those; must not
know where the values come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

Labels = tuple[tuple[str, str], ...]
"""Names and values, sorted by name."""


class Kind(Enum):
    """How values of a metric follow one another."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


_SUFFIXES: Final[Mapping[str, str]] = {"s": "_seconds", "By": "_bytes", "1": "_ratio"}
"""What Prometheus adds for a unit of UCUM. One in braces is a word, and adds nothing."""


@dataclass(frozen=True)
class Family:
    """One metric. `name` as OpenTelemetry writes it, `unit` in UCUM."""

    name: str
    kind: Kind
    unit: str
    help: str

    @property
    def prometheus(self) -> str:
        """Its name in Prometheus, the same by remote write and by Prometheus's OTLP receiver."""
        unit, _, per = self.unit.partition("/")
        suffix = _SUFFIXES.get(unit, "") + ("_per_second" if per == "s" else "")
        total = "_total" if self.kind is Kind.COUNTER else ""
        return f"{self.name.replace('.', '_')}{suffix}{total}"


def _counter(name: str, unit: str, words: str) -> Family:
    return Family(f"wiretrial.{name}", Kind.COUNTER, unit, words)


def _gauge(name: str, unit: str, words: str) -> Family:
    return Family(f"wiretrial.{name}", Kind.GAUGE, unit, words)


def _histogram(name: str, words: str) -> Family:
    return Family(f"wiretrial.{name}", Kind.HISTOGRAM, "s", words)


SENT: Final = _counter("messages.sent", "{message}", "Messages sent.")
OK: Final = _counter("messages.ok", "{message}", "Replies that were verified and right.")
FAILED: Final = _counter(
    "messages.failed", "{message}", "Messages that failed, by the class of the error."
)
IN_FLIGHT: Final = _gauge("messages.in_flight", "{message}", "Messages without a reply yet.")
WAITING: Final = _gauge(
    "messages.waiting", "{message}", "Messages that are due and found no free slot yet."
)
OPEN: Final = _gauge("connections.open", "{connection}", "Connections that stand.")
OPENED: Final = _counter("connections.opened", "{connection}", "Connections that were opened.")
REFUSED: Final = _counter(
    "connections.failed", "{connection}", "Attempts to connect that failed, by class."
)
CLOSED: Final = _counter("connections.closed", "{connection}", "Connections that ended, by class.")
BYTES_SENT: Final = _counter("network.sent", "By", "Bytes given to the kernel.")
BYTES_RECEIVED: Final = _counter("network.received", "By", "Bytes that came from the kernel.")
GENERATOR_CPU: Final = _counter(
    "generator.cpu", "s", "CPU time of the load generator, by mode: user or system."
)
GENERATOR_BUSY: Final = _gauge(
    "generator.busy", "1", "Share of the time in which the generator's busiest loop had work."
)
SERVER_CPU: Final = _counter(
    "server.cpu", "s", "CPU time of the server, where it runs on the machine of the laboratory."
)
MEASURING: Final = _gauge("measuring", "", "1 in the measured time; 0 while connecting or warm-up.")
AGENT_RATE: Final = _gauge(
    "agent.messages", "{message}/s", "Verified replies per second of one agent of a fleet."
)
AGENT_OPEN: Final = _gauge(
    "agent.connections.open", "{connection}", "Connections of one agent of a fleet."
)
AGENT_BUSY: Final = _gauge("agent.busy", "1", "Share of the time in which an agent was at work.")

RESPONSE_TIME: Final = _histogram(
    "response_time", "From the instant at which a message was due to its reply. Open loop only."
)
SERVICE_TIME: Final = _histogram("service_time", "From a message's first byte to its reply.")
CONNECT_TIME: Final = _histogram("connect_time", "Time that a connection took to stand.")
TIMES: Final[Mapping[str, Family]] = {
    "response_time": RESPONSE_TIME,
    "service_time": SERVICE_TIME,
    "connect_time": CONNECT_TIME,
}
"""By the names of the engine's histograms."""
RESPONSE_QUANTILE: Final = _gauge(
    "response_time.quantile", "s", "Quantile of the response time, of the last second."
)
SERVICE_QUANTILE: Final = _gauge(
    "service_time.quantile", "s", "Quantile of the service time, of the last second."
)
QUANTILES_OF: Final[Mapping[str, Family]] = {
    "response_time": RESPONSE_QUANTILE,
    "service_time": SERVICE_QUANTILE,
}
QUANTILES: Final = (0.5, 0.9, 0.99, 0.999)

BOUNDS_S: Final = tuple(float(f"{digit}e{power}") for power in range(-5, 2) for digit in (1, 2, 5))
"""Upper bounds of a histogram's buckets: 10 µs, 20 µs, 50 µs and so on up to 50 s."""

FAMILIES: Final = (
    *(SENT, OK, FAILED, IN_FLIGHT, WAITING, OPEN, OPENED, REFUSED, CLOSED),
    *(BYTES_SENT, BYTES_RECEIVED, GENERATOR_CPU, GENERATOR_BUSY, SERVER_CPU, MEASURING),
    *(AGENT_RATE, AGENT_OPEN, AGENT_BUSY, *TIMES.values(), *QUANTILES_OF.values()),
)


@dataclass(frozen=True)
class Value:
    """A counter or a gauge at an instant. None: it ends there."""

    family: Family
    labels: Labels
    value: float | None


@dataclass(frozen=True)
class Distribution:
    """A histogram at an instant, from the begin of its counting on."""

    family: Family
    labels: Labels
    counts: tuple[int, ...]
    """Of each bucket alone; the last has no upper bound."""
    sum_s: float
    ends: bool = False
    """It ends there."""


@dataclass(frozen=True)
class Batch:
    """All metrics of one trial at one instant."""

    at_ns: int
    """Unix time."""
    began_ns: int
    """When its counters were 0."""
    points: tuple[Value | Distribution, ...]
